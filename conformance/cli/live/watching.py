"""``run --watch``: runs again when the portal restarts: what failed, then its endpoints, then the rest."""

from __future__ import annotations

import select
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from conformance.cli.layout import print_line
from conformance.errors import ExitCode, TargetRestarted, UsageError
from conformance.report.model.failures import failing_rules
from conformance.report.model.run import Run
from conformance.report.model.words import plural
from conformance.run.rerun import repeat_folder
from conformance.target.profile.model import Profile
from conformance.target.waiting import PAUSE_SECONDS, RestartWatch

ENDING = (ExitCode.INTERRUPTED, ExitCode.USAGE, ExitCode.INTERNAL_ERROR)
"""Exit codes of a run after which nothing is waited for."""

Runs = Callable[[Sequence[str], Path], int]
"""Runs the cases that decide some rules, by patterns of ``--only``, or all where there is none; the folder is
for the reports. Returns the exit code. TargetRestarted: the portal restarted meanwhile, and nothing is
reported."""


WHOLE = "the whole run"


@dataclass(frozen=True, slots=True)
class WatchStage:
    """A part of what is run again. ``only``: the patterns that select it; its reports go to ``out``;
    ``part``: what it is called where it is left out."""

    name: str
    only: Sequence[str]
    out: Path
    part: str = WHOLE


def watch(run: Runs, out: Path, *, restarted: Callable[[], None], show: Callable[[str], None]) -> int:
    """Runs all, and then again after each restart, until it is interrupted; the exit code of the last run.

    ``restarted`` returns when the portal has restarted. A round within which it restarts begins anew.
    """
    run_round = partial(run, (), out)
    while True:
        try:
            code = run_round()
        except TargetRestarted as restart:
            show(f"\n{restart} This round is dropped, and begins anew.")
            continue
        if code in ENDING:
            return code
        run_round = partial(_run_again, run, out, show)
        try:
            restarted()
        except KeyboardInterrupt:
            return code


def _run_again(run: Runs, out: Path, show: Callable[[str], None]) -> int:
    """Runs stage after stage, up to the first that fails; says which are left out then."""
    code, left = int(ExitCode.CONFORMANT), list(stages(out))
    while left and code == ExitCode.CONFORMANT:
        stage = left.pop(0)
        show(f"\nThe portal restarted: {stage.name}.")
        code = run(stage.only, stage.out)
    if left and code not in ENDING:
        parts = " and ".join(each.part for each in left)
        show(f"\nLeft out until this passes (exit code {code}): {parts}.")
    return code


def stages(out: Path) -> Iterator[WatchStage]:
    """What failed by the report of the last whole run, then its endpoints, then everything."""
    rules, endpoints = _failures(out)
    beside = repeat_folder(out)
    if rules:
        yield WatchStage(f"what failed runs again, {plural(len(rules), 'rule')}", rules, beside)
    if endpoints:
        whose = plural(len(endpoints), "endpoint")
        yield WatchStage(f"what failed passes; {whose} of it", endpoints, beside, "its endpoints")
    yield WatchStage(f"all of it passes; {WHOLE}" if rules else WHOLE, (), out)


def _failures(out: Path) -> tuple[list[str], list[str]]:
    try:
        last = Run.read(out)
    except UsageError:
        return [], []
    failing = failing_rules(last)
    rules = [row.id for row in last.requirements if row.id in failing]
    endpoints = {row.endpoint: None for row in last.findings if row.requirement in rules and row.endpoint}
    return rules, list(endpoints)


def wait_for_restart(profile: Profile) -> None:
    """Returns when the portal has restarted, or when somebody at a terminal presses Enter. KeyboardInterrupt:
    Ctrl-C."""
    portal = RestartWatch(profile)
    portal.begin()
    is_terminal = sys.stdin is not None and sys.stdin.isatty()
    hint = "Enter runs now, Ctrl-C ends" if is_terminal else "an interrupt ends"
    print_line("")
    print_line(f"Waiting for {profile.portal.url} to restart ({hint}) …")
    sys.stdout.flush()
    while not portal.has_restarted():
        if _is_asked(is_terminal=is_terminal):
            return


def _is_asked(*, is_terminal: bool) -> bool:
    waiting, _, _ = select.select([sys.stdin] if is_terminal else [], [], [], PAUSE_SECONDS)
    return bool(waiting) and bool(sys.stdin.readline())
