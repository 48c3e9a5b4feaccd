"""The ``replay`` command: reads its options, prints the regressions, returns the exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from conformance.errors import UsageError
from conformance.replay import ReplayOptions, replay
from conformance.replay.assembly import analysed
from conformance.replay.changes.sent import foreseen
from conformance.replay.differences import lines_of
from conformance.replay.load import rate_of, seconds_of
from conformance.replay.rebuild.values import ASKED_FOR_INSTEAD
from conformance.replay.recording.needs import refuse_lacking
from conformance.report.formats.closing import ended_lines
from conformance.report.formats.terminal import wants_colour
from conformance.report.model.run import Run
from conformance.report.model.visible import one_line
from conformance.report.model.words import listed
from conformance.rules.registry import rules_named_by
from conformance.target.profile.model import Profile

PRINTED = 50
"""How many differences are printed; the reports contain all."""


def run(profile: Profile, arguments: SimpleNamespace, *, print_line: Callable[[str], None] = print) -> int:
    """Replays; ``--dry-run`` only prints what would be sent. ``print_line`` prints a line of the result.
    Raises UsageError, CaptureError."""
    options = options_of(arguments)
    options.check(profile)
    if arguments.dry_run:
        for line in _foreseen(profile, arguments, options):
            print_line(line)
        return 0
    result = replay(arguments.files, profile, options, on_notice=_warn)
    show(result.run, options.out, form=arguments.format, print_line=print_line)
    return result.run.exit_code


def show(run: Run, out: Path, *, form: str, print_line: Callable[[str], None] = print) -> None:
    """Prints a replay that is over, in the form of ``--format``."""
    if form == "json":
        print(run.text(), end="")
        return
    for line in _lines(run, out):
        print_line(line)


def options_of(arguments: SimpleNamespace) -> ReplayOptions:
    """The options of the command line. Raises UsageError."""
    return ReplayOptions(
        out=arguments.out,
        impact=arguments.impact or "read-only",
        pace=arguments.pace,
        concurrency=arguments.concurrency,
        rate=rate_of(arguments.rate) if arguments.rate else None,
        ramp=seconds_of(arguments.ramp, "--ramp") if arguments.ramp else 0.0,
        repeat=arguments.repeat,
        duration=seconds_of(arguments.duration, "--duration") if arguments.duration else 0.0,
        latency=arguments.latency,
        only=arguments.only,
        skip=arguments.skip,
        recorded_host=arguments.recorded_host,
        accounts=dict(_account_for(text) for text in arguments.account),
        salvage=arguments.salvage,
        strict=arguments.strict,
        known=arguments.known,
        profile_name=str(arguments.profile or ""),
        own=rules_named_by(arguments.rules, arguments.profile),
        cache=not arguments.no_cache,
        resume=arguments.resume,
        fail_on=arguments.fail_on,
    )


def _warn(notice: str) -> None:
    begins = "\n" if sys.stderr.isatty() else ""  # below the line that says what goes on
    print(f"{begins}{notice}", file=sys.stderr, flush=True)


def _foreseen(profile: Profile, arguments: SimpleNamespace, options: ReplayOptions) -> Iterator[str]:
    with analysed(arguments.files, profile, options) as recording:
        refuse_lacking(recording.plan, recording.accounts)
        yield from foreseen(recording.plan, profile, recording.accounts)


def _account_for(text: str) -> tuple[str, str]:
    email, equals, name = text.partition("=")
    if not (email and equals and name):
        raise UsageError(
            f"--account {text}: write EMAIL=NAME, a recorded email and an account of the profile."
        )
    return email, name


def _lines(run: Run, out: Path) -> Iterator[str]:
    """What is compared with another record first, then the differences, and the verdict and what a reader
    must not miss last."""
    instead = [note for note in run.notes if ASKED_FOR_INSTEAD in note]
    yield from (one_line(note, 300) for note in instead)
    yield from _differences(run)
    others = run.model_copy(update={"notes": [note for note in run.notes if note not in instead]})
    yield from ended_lines(others, out, colour=wants_colour(sys.stdout), quiet=True)


def _differences(run: Run) -> Iterator[str]:
    """Those of one cause in one line, and last how many are drift."""
    groups = (run.model_extra or {})["replay"]["differences"]
    lines = list(lines_of([group for group in groups if group["meaning"] != "drift"]))
    yield from lines[:PRINTED]
    if len(lines) > PRINTED:
        yield f"and {len(lines) - PRINTED} more in the reports"
    yield from _drift([group for group in groups if group["meaning"] == "drift"])
    if groups:
        yield ""


def _drift(groups: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """How often state, time or data differ, and where first."""
    times = sum(group["times"] for group in groups)
    if not times:
        return
    counted = "1 difference is" if times == 1 else f"{times:,} differences are"
    places = dict.fromkeys(f"{group['endpoint']} {group['path'] or 'body'}" for group in groups)
    yield f"{counted} drift (state, time or data): {listed(places, 3)}."
