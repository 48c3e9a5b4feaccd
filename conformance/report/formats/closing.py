"""What a command prints of a finished run, and its last lines: changes, the report, and the exit code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from conformance.errors import ExitCode
from conformance.report.formats.terminal import summary_lines
from conformance.report.model.failures import FAILING, failures_of
from conformance.report.model.run import OF_REPLAYS, Run
from conformance.report.model.visible import one_line
from conformance.report.model.words import (
    HALTED,
    changes_in_words,
    coverage,
    headline,
    listed,
    plural,
    regressed_in_words,
)

REPORT = "report.html"
MOST_NAMED = 8
"""Rules that fail a run and are named in a single line."""


def ended_lines(run: Run, out: Path, *, colour: bool, quiet: bool = False) -> Iterator[str]:
    """The results of a run, and below them errors of the suite, what was not restored, and the last lines.
    ``quiet``: of the results only the verdict and what blocks."""
    yield from summary_lines(run, colour=colour, quiet=quiet)
    for place, error in run.ending.errors.items():
        yield f"Error of the suite in {place}: {one_line(error, 600)}"
    for rule, error in run.ending.broken_rules.items():
        yield f"Your rule {rule} raised an error and decided nothing there: {one_line(error, 600)}"
    for left in run.ending.left_behind:
        yield f"Not restored: {one_line(left, 600)}."
    if run.ending.cleanup:
        yield f"To restore it: {run.ending.cleanup}"
    yield from closing_block(run, out)


def closing_block(run: Run, out: Path) -> Iterator[str]:
    """Lines on changes, report and exit code, below the verdict."""
    if changes_in_words(run):
        yield f"changes    {changes_in_words(run)}"
    yield f"report     {out / REPORT}"
    yield f"exit code  {run.exit_code}: {exit_reason(run)}"


def verdict_line(run: Run, out: Path) -> str:
    """The whole result in a line, for ``--quiet``."""
    head = headline(run)
    parts = [
        f"{head.title}: {one_line(head.sentence, 300)}",
        coverage(run),
        *_named(run),
        *_outdated(run),
        str(out / REPORT),
        f"exit code {run.exit_code}" + (f": {exit_reason(run)}" if ExitCode.FAILED in run.codes else ""),
        *([f"to restore the target: {run.ending.cleanup}"] if run.ending.cleanup else []),
    ]
    return " · ".join(parts)


def _outdated(run: Run) -> Iterator[str]:
    """Stale and expired baseline entries that fail the run."""
    for label, same in groupby(failures_of(run).outdated, key=attrgetter("label")):
        entries = (row.entry for row in same)
        rules = dict.fromkeys(
            entry.signature if entry.requirement in ("", OF_REPLAYS) else entry.requirement
            for entry in entries
        )
        yield f"{label}: {listed((one_line(rule, 80) for rule in rules), MOST_NAMED)}"


def _named(run: Run) -> Iterator[str]:
    """The rules that fail the run, the gravest first."""
    blockers = failures_of(run).blockers
    if blockers:
        yield listed((blocker.requirement.id for blocker in blockers), MOST_NAMED)


def exit_reason(run: Run) -> str:
    reason, *others = [(code, _reason(run, code)) for code in run.codes]
    return reason[1] + "".join(f"; also exit code {code}: {words}" for code, words in others)


def _reason(run: Run, code: int) -> str:
    if code == ExitCode.USAGE and run.ending.broken_rules and not run.ending.unusable:
        return f"{plural(len(run.ending.broken_rules), 'rule')} of your own raised an error"
    if code == ExitCode.FAILED:
        return ", ".join(_failures(run))
    if code == ExitCode.CONFORMANT:
        reason = "nothing failed" if not run.summary.fail else "every failure is in the baseline"
        return f"{reason}; {NONE_OF_YOURS}" if run.scope.bundled else reason
    reason = HALTED[code][1].partition(".")[0]
    return reason[:1].lower() + reason[1:]


NONE_OF_YOURS = "no portal of yours was judged, only the bundled one"


def _failures(run: Run) -> Iterator[str]:
    if run.regressions:
        yield regressed_in_words(run)
    failures = failures_of(run)
    blockers = [blocker.requirement.verdict for blocker in failures.blockers if not blocker.is_own]
    own = len(failures.blockers) - len(blockers)
    if "fail" in blockers:
        new = " beyond what the baseline lists" if run.baseline is not None and run.baseline.known else ""
        yield f"the specification is contradicted{new}"
    if "warn" in blockers:
        yield f"--fail-on {run.fails_on} weighs {FAILING[run.fails_on].words}"
    if own:
        yield f"{plural(own, 'rule')} of your own violated"
    if failures.deviating:
        yield f"answers differ from your description in {plural(len(failures.deviating), 'place')}"
    if run.ending.too_slow:
        yield f"{plural(len(run.ending.too_slow), 'limit')} on latency exceeded"
    for label, count in Counter(row.label for row in failures.outdated).items():
        yield f"{plural(count, f'{label} entry')} in the baseline"
