"""The ``replay`` command: reads its options, prints the regressions, returns the exit code."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

from conformance.errors import UsageError
from conformance.replay import ReplayOptions, replay
from conformance.replay.differences import check_rows, lines_of
from conformance.replay.load.schedule import rate_of, seconds_of
from conformance.replay.recording.analysis import planned
from conformance.replay.recording.explain import explained, foreseen
from conformance.replay.recording.plan import ReplaySelection
from conformance.replay.recording.store import Store
from conformance.report.formats.closing import closing_block
from conformance.report.formats.terminal import summary_lines, wants_colour
from conformance.report.model.run import Run
from conformance.target.profile.model import Profile

PRINTED = 50
"""How many differences are printed; the reports contain all."""


def run(profile: Profile, arguments: SimpleNamespace) -> int:
    """Replays. ``--dry-run`` only prints what would be sent; ``--explain`` prints which response each
    dynamic value comes from. Raises UsageError, CaptureError."""
    options = options_of(arguments)
    options.check(profile)
    check_rows(options.accept, is_updated=options.accept_update)
    if arguments.dry_run or arguments.explain:
        print("\n".join(_previewed(profile, arguments, options)))
    if arguments.dry_run:
        return 0
    result = replay(arguments.files, profile, options, on_notice=_warn)
    show(result.run, options.out, form=arguments.format)
    return result.run.exit_code


def show(run: Run, out: Path, *, form: str) -> None:
    """Prints a replay that is over, in the form of ``--format``."""
    if form == "json":
        print(run.text(), end="")
        return
    for line in _lines(run, out):
        print(line)


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
        accounts=dict(_account_for(text) for text in arguments.account),
        learn=arguments.learn,
        noise=arguments.noise,
        salvage=arguments.salvage,
        strict=arguments.strict,
        baseline=arguments.baseline,
        baseline_update=arguments.baseline_update,
        baseline_prune=arguments.baseline_prune,
        profile_name=str(arguments.profile or ""),
        cache=not arguments.no_cache,
        resume=arguments.resume,
        fail_on=arguments.fail_on,
        accept=arguments.accept,
        accept_update=arguments.accept_update,
    )


def _warn(notice: str) -> None:
    print(notice, file=sys.stderr, flush=True)


def _previewed(profile: Profile, arguments: SimpleNamespace, options: ReplayOptions) -> Iterator[str]:
    """What would be sent, and where each correlated value comes from, as far as the user asks for it."""
    with Store(arguments.files, salvage=options.salvage) as store:
        plan = planned(store, ReplaySelection(options.only, options.skip, options.impact))
        if arguments.dry_run:
            yield from foreseen(plan, profile)
        if arguments.explain:
            yield from explained(plan)


def _account_for(text: str) -> tuple[str, str]:
    email, equals, name = text.partition("=")
    if not (email and equals and name):
        raise UsageError(
            f"--account {text}: write EMAIL=NAME, a recorded email and an account of the profile."
        )
    return email, name


def _lines(run: Run, out: Path) -> Iterator[str]:
    details = (run.model_extra or {})["replay"]
    groups = details["differences"]
    yield from summary_lines(run, colour=wants_colour(sys.stdout), quiet=True)
    shown = [group for group in groups if group["meaning"] != "drift"]
    yield from lines_of(shown[:PRINTED])
    if len(shown) > PRINTED:
        yield f"and {len(shown) - PRINTED} more in the reports"
    drift = sum(group["times"] for group in groups if group["meaning"] == "drift")
    if drift:
        yield f"{drift} differences are drift: state, time or data."
    yield from run.notes
    compared = f"{details['compared']} of {details['wanted']} exchanges compared"
    yield f"{len(run.regressions)} regressions; {compared}."
    yield from closing_block(run, out)
