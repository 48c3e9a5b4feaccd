"""Prints a run in the terminal: failures in full, and what the run waits for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from conformance.report.across.baseline_rows import UNEXPLAINED
from conformance.report.formats.finding_text import (
    at_other,
    contrast,
    expectation,
    own_message,
    seen,
    times_of,
)
from conformance.report.model.again import rerun_finding
from conformance.report.model.failures import RunFailures, failures_of, label_of, weighs
from conformance.report.model.gravity import groups_of
from conformance.report.model.groups import FindingGroup
from conformance.report.model.run import OF_REPLAYS, BaselineOutcome, FindingEntry, Run
from conformance.report.model.visible import one_line
from conformance.report.model.words import (
    NOTHING_TESTED,
    Tone,
    counted,
    duration,
    headline,
    left_untested,
    listed,
    plural,
    standing,
    untested,
)
from conformance.spec import REQUIREMENTS, near_ids
from conformance.verdicts.deviations import STATEMENTS

MOST_FAILURES = 30
MOST_WARNINGS = 10
MOST_REASONS = 5
MOST_KNOWN = 5
MOST_DEVIATIONS = 20
LONGEST_REASON = 160
"""Letters of the reason of untested rules: what is to be done stands at its end."""

COLOURS: dict[str, str] = {
    "fail": "31;1",
    "warn": "33",
    "open": "34",
    "untested": "2",
    "known": "2",
    "dim": "2",
    "bold": "1",
}
TONES: dict[Tone, str] = {"good": "32;1", "bad": "31;1", "grave": "33;1", "known": "33", "unsure": "33;1"}


@dataclass(frozen=True, slots=True)
class Pen:
    """Colours a text where colours are on."""

    colour: bool

    def __call__(self, kind: str, text: str) -> str:
        code = COLOURS.get(kind) or kind
        return f"\x1b[{code}m{text}\x1b[0m" if self.colour else text


class Screen(Protocol):
    """What may be a terminal."""

    def isatty(self) -> bool: ...


def wants_colour(stream: Screen, environment: Mapping[str, str] = os.environ) -> bool:
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return stream.isatty() and environment.get("TERM") != "dumb"


def summary_lines(run: Run, *, colour: bool, quiet: bool) -> list[str]:
    """The results of a run, line by line: failures and the verdict last, where a reader looks first.

    ``quiet`` leaves only the verdict and what blocks. Text from a target cannot move the cursor or colour
    anything: its control characters are written out.
    """
    pen, failures = Pen(colour), failures_of(run)
    lines = [*(() if quiet else _untested(run, pen)), *_since(run, pen)]
    groups = groups_of(run)
    warned = {finding.id for finding in failures.warnings}
    if not quiet:
        warnings = [group for group in groups if group.lead.id in warned]
        lines += _groups(run, warnings, MOST_WARNINGS, "more warning", pen)
    failing = [group for group in groups if group.lead.id not in warned]
    lines += [*_failures(run, failing, pen), *_baseline(run, failures, pen)]
    lines += _deviations(run, failures.unlisted, pen)
    head = headline(run)
    notes = [one_line(note, 300) for note in run.notes if note not in head.sentence]
    lines += ["", *notes] if notes else []
    lines += ["", f"{pen(TONES[head.tone], head.title)}  {one_line(head.sentence, 400)}"]
    lines += [f"{label:<10} {words}" for label, words in standing(run)]
    return lines[1:] if lines and not lines[0] else lines


def waiting(why: str, seconds: float) -> str:
    """The line that says what the run waits for, and until when."""
    until = datetime.now(UTC) + timedelta(seconds=seconds)
    return f"waiting {duration(seconds)} for {one_line(why, 120)}, until {until:%H:%M:%S} UTC"


def finding_lines(run: Run, finding: FindingEntry, *, pen: Pen) -> list[str]:
    """A finding: verdict, id, statement, what was seen where, what was expected, and how to reproduce it."""
    stated = STATEMENTS.get(finding.requirement, "")
    rule = next((row.statement for row in run.requirements if row.id == finding.requirement), stated)
    place = f" at {one_line(finding.path, 80)}" if finding.path else ""
    times = f", {times_of(finding)}" if finding.times > 1 else ""
    numbers = ", ".join(map(str, finding.exchanges[-6:])) or "none"
    noun = "exchange" if len(finding.exchanges) == 1 else "exchanges"
    message = own_message(finding, 300)
    verdict = pen(finding.verdict, label_of(finding))
    is_shown_by_any = run.command == "check" or finding.requirement in STATEMENTS
    again = "" if is_shown_by_any else f" · reproduce: {rerun_finding(run, finding)}"
    return [
        f"{verdict} {pen('bold', finding.requirement)}  {one_line(rule)}",
        f"     {one_line(finding.endpoint, 160)}",
        *([f"     {message}"] if message else []),
        f"     seen{place}: {seen(finding, 160)}{times}",
        f"     {contrast(finding)}: {expectation(finding.expected)[:300]}{at_other(finding)}",
        pen("dim", f"     {noun} {numbers} · id {finding.id}{again}"),
    ]


def _group_lines(run: Run, group: FindingGroup, pen: Pen) -> Iterator[str]:
    """Prints a finding in full, and names the findings of the same cause."""
    *lines, last = finding_lines(run, group.lead, pen=pen)
    yield from lines
    if group.elsewhere:
        others = dict.fromkeys(finding.endpoint for finding in group.elsewhere)
        others.pop(group.lead.endpoint, None)
        shown = f": {listed((one_line(name, 80) for name in others), 2)}" if others else ""
        count = len(group.elsewhere)
        yield f"     also in {plural(count, 'more place')}{shown} ({count + 1} findings in all)"
    if group.at_once:
        rules = dict.fromkeys(finding.requirement for finding in group.at_once)
        by = f", by the same filter: {group.filter}" if group.filter else ""
        yield f"     also contradicts {listed(rules, 8)}{by}"
    yield last


def _groups(run: Run, groups: Sequence[FindingGroup], most: int, noun: str, pen: Pen) -> Iterator[str]:
    for group in groups[:most]:
        yield from ("", *_group_lines(run, group, pen))
    if more := sum(len(group.findings) for group in groups[most:]):
        yield from ("", f"and {plural(more, noun)} in the report")


def _failures(run: Run, groups: Sequence[FindingGroup], pen: Pen) -> Iterator[str]:
    yield from _groups(run, groups, MOST_FAILURES, "more failure", pen)
    shown = {finding.requirement for finding in run.findings if weighs(run, finding)}
    for row in run.requirements:
        if row.verdict == "fail" and row.id not in shown:
            yield from ("", f"{pen('fail', 'FAIL')} {pen('bold', row.id)}  {one_line(row.statement, 300)}")
            yield f"     {one_line(row.reason or 'no finding is recorded', 300)}"


def _untested(run: Run, pen: Pen) -> Iterator[str]:
    """Untested rules by reason. A run that tested nothing has the reason in its verdict already."""
    inconclusive = run.ending.inconclusive not in ("", NOTHING_TESTED)
    is_tested = any(row.verdict != "untested" for row in run.requirements)
    if not is_tested and (run.ending.unreachable or inconclusive):
        return
    groups = untested(run)
    if not groups:
        return
    yield from ("", f"{pen('untested', 'UNTESTED')} {plural(left_untested(run), 'requirement')}")
    for group in groups[:MOST_REASONS]:
        head = f"     {len(group.requirements):>4}  "
        ids = f" ({listed((entry.id for entry in group.requirements), 3)})"
        yield f"{head}{one_line(group.reason, LONGEST_REASON)}{ids}"
    if len(groups) > MOST_REASONS:
        yield f"     and {plural(len(groups) - MOST_REASONS, 'more reason')} in the report"


def _baseline(run: Run, failures: RunFailures, pen: Pen) -> Iterator[str]:
    base = run.baseline
    if base is None:
        return
    yield from ("", f"Against {one_line(base.file, 120)}: {counted(base)}")
    for entry in base.known[:MOST_KNOWN]:
        yield f"     {pen('known', 'known')} {one_line(entry.signature, 160)}: {one_line(entry.reason, 120)}"
    if len(base.known) > MOST_KNOWN:
        yield f"     and {len(base.known) - MOST_KNOWN} more known in the report"
    for row in failures.outdated[:MOST_KNOWN]:
        label = pen("warn" if row.label == "stale" else "fail", row.label)
        yield f"     {label} {one_line(row.entry.signature, 160)}: {row.problem}"
    if len(failures.outdated) > MOST_KNOWN:
        yield f"     and {len(failures.outdated) - MOST_KNOWN} more rows that are out of date in the report"
    yield from _unknown_rules(base, run.own_ids, pen)
    unexplained = dict.fromkeys(entry.signature for entry in base.known if entry.reason in UNEXPLAINED)
    if unexplained:
        names = listed((one_line(name, 120) for name in unexplained), MOST_KNOWN)
        yield f"     without a reason of its own, write why it is accepted: {names}"


def _deviations(run: Run, rows: Sequence[FindingEntry], pen: Pen) -> Iterator[str]:
    """Lines on differences from descriptions, below those of the specification."""
    for row in rows[:MOST_DEVIATIONS]:
        yield from ("", *finding_lines(run, row, pen=pen))
    if len(rows) > MOST_DEVIATIONS:
        yield from ("", f"and {plural(len(rows) - MOST_DEVIATIONS, 'more place')} in the report")


def _unknown_rules(base: BaselineOutcome, own: Set[str], pen: Pen) -> Iterator[str]:
    """Baseline entries with an unknown rule id: mistyped, or of another version."""
    for entry in (*base.stale, *base.undecided):
        if entry.requirement not in {*REQUIREMENTS, *STATEMENTS, *own, OF_REPLAYS}:
            near = near_ids(entry.requirement)
            problem = "there is no such rule" + (f"; did you mean {near[0]}?" if near else "")
            yield f"     {pen('warn', 'unknown')} {one_line(entry.signature, 160)}: {problem}"


def _since(run: Run, pen: Pen) -> Iterator[str]:
    groups = run.since.groups if run.since else ()
    parts = [f"{len(names)} {words} ({listed(names, 5)})" for words, names in groups]
    if parts:
        yield from ("", pen("bold", f"Since the last run: {'; '.join(parts)}"))
