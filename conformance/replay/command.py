"""``replay`` for the command line: options in, sentences and an exit code out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from conformance.errors import UsageError
from conformance.replay import Options, Replayed, replay
from conformance.replay.recording.analysis import planned
from conformance.replay.recording.explain import explained, foreseen
from conformance.replay.recording.plan import Choice
from conformance.replay.recording.store import Store
from conformance.report.formats.terminal import summary_lines, wants_colour
from conformance.target.profile.model import Profile

SHOWN = 50
"""How many regressions are printed; the reports hold all."""


def run(profile: Profile, given: argparse.Namespace) -> int:
    """Replays, or with ``--dry-run`` says what would be sent; ``--explain`` says what is handed over from
    which answer to which request. Raises UsageError, CaptureError."""
    options = Options(
        out=given.out,
        impact=given.impact or "read-only",
        pace=given.pace,
        concurrency=given.concurrency,
        only=given.only,
        skip=given.skip,
        accounts=dict(_stands_for(text) for text in given.account),
        learn=given.learn,
        noise=given.noise,
        salvage=given.salvage,
        strict=given.strict,
        baseline=given.baseline,
        baseline_update=given.baseline_update,
        profile_name=str(given.profile or ""),
    )
    if given.dry_run or given.explain:
        with Store(given.files, salvage=options.salvage) as store:
            plan = planned(store, Choice(options.only, options.skip, options.impact))
            told = (
                foreseen(plan, profile) if given.dry_run else (),
                explained(plan) if given.explain else (),
            )
            print("\n".join(line for lines in told for line in lines))
    if given.dry_run:
        return 0
    replayed = replay(given.files, profile, options)
    if given.format == "json":
        print(replayed.run.text(), end="")
    else:
        for line in _lines(replayed):
            print(line)
    return replayed.run.exit_code


def _stands_for(text: str) -> tuple[str, str]:
    email, equals, name = text.partition("=")
    if not (email and equals and name):
        raise UsageError(
            f"--account {text}: write EMAIL=NAME, a recorded email and an account of the profile."
        )
    return email, name


def _lines(replayed: Replayed) -> Iterator[str]:
    run = replayed.run
    yield from summary_lines(run, colour=wants_colour(sys.stdout), quiet=True)
    for one in run.regressions[:SHOWN]:
        recorded, now = (json.dumps(value, ensure_ascii=False)[:80] for value in (one.recorded, one.replayed))
        place = f"{one.endpoint}  {one.path or 'body'} {one.kind}"
        yield f"REGRESSED {place}: {recorded} is {now} (exchange {one.exchange})"
    if len(run.regressions) > SHOWN:
        yield f"and {len(run.regressions) - SHOWN} more in the reports"
    yield from replayed.notes
    compared = f"{replayed.tally.compared} of {replayed.tally.wanted} exchanges compared"
    yield f"{len(run.regressions)} regressions; {compared}."
