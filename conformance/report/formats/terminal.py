"""Prints a run in the terminal: failures in full, and what the run waits for."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

from conformance.report.across.toml_rows import NO_REASON
from conformance.report.formats.finding_text import expectation, seen
from conformance.report.model.again import rerun
from conformance.report.model.marked import literal
from conformance.report.model.run import FindingEntry, Run, VerdictName
from conformance.report.model.visible import one_line
from conformance.report.model.words import (
    Tone,
    counted,
    duration,
    headline,
    is_left_out,
    known_signatures,
    listed,
    numbers,
    plural,
    untested,
)

WIDEST = 100
MOST_FAILURES = 30
MOST_WARNINGS = 10
MOST_REASONS = 8
MOST_OPEN = 12

COLOURS: dict[str, str] = {
    "fail": "31;1",
    "warn": "33",
    "open": "34",
    "untested": "2",
    "known": "2",
    "dim": "2",
    "bold": "1",
}
TONES: dict[Tone, str] = {"good": "32;1", "bad": "31;1", "known": "33", "unsure": "33;1"}


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
    """Whether a stream is a terminal that shows colours, and NO_COLOR is not set."""
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
    pen = Pen(colour)
    lines: list[str] = []
    if not quiet:
        lines += [*_untested(run, pen), *_open(run, pen), *_warnings(run, pen)]
    lines += [*_failures(run, pen), *_baseline(run, pen), *_since(run, pen)]
    head = headline(run)
    notes = [one_line(note, 300) for note in run.notes if note not in head.sentence]
    lines += ["", *notes] if notes else []
    lines += ["", f"{pen(TONES[head.tone], head.title)}  {one_line(head.sentence, 400)}"]
    lines.append(f"{numbers(run)} · {run.summary.open} open · {duration(run.seconds)}")
    return lines[1:] if lines and not lines[0] else lines


def waiting(why: str, seconds: float, *, now: datetime | None = None) -> str:
    """The line that says what the run waits for, and until when."""
    until = (now or datetime.now(UTC)) + timedelta(seconds=seconds)
    return f"waiting {duration(seconds)} for {one_line(why, 120)}, until {until.astimezone(UTC):%H:%M:%S} UTC"


def finding_lines(run: Run, finding: FindingEntry, *, pen: Pen) -> list[str]:
    """A finding: verdict, id, statement, what was seen where, what was expected, and how to reproduce it."""
    rule = next((row.statement for row in run.requirements if row.id == finding.requirement), "")
    place = f" at {one_line(finding.path, 80)}" if finding.path else ""
    times = f", {finding.times:,} times" if finding.times > 1 else ""
    numbers = ", ".join(map(str, finding.exchanges[-6:])) or "none"
    noun = "exchange" if len(finding.exchanges) == 1 else "exchanges"
    says_more = not finding.message.startswith(f"{finding.path or 'the answer'}: expected ")
    verdict = pen(finding.verdict, finding.verdict.upper())
    return [
        f"{verdict} {pen('bold', finding.requirement)}  {one_line(rule)}",
        f"     {one_line(finding.endpoint, 160)}",
        *([f"     {one_line(finding.message, 300)}"] if says_more else []),
        f"     seen{place}: {seen(finding, 160)}{times}",
        f"     expected: {expectation(finding.expected)[:300]}",
        pen("dim", f"     {noun} {numbers}{_reproduced(run, finding)}"),
    ]


def _reproduced(run: Run, finding: FindingEntry) -> str:
    """How to see it again; a check of recorded traffic judges the same file alike."""
    return "" if run.command == "check" else f" · reproduce: {rerun(run, finding.requirement)}"


def _failures(run: Run, pen: Pen) -> Iterator[str]:
    weighed: Sequence[VerdictName] = ("fail", "warn") if run.strict else ("fail",)
    known_failures = known_signatures(run)
    new = [
        finding
        for finding in run.findings
        if finding.verdict in weighed and finding.signature not in known_failures
    ]
    for finding in new[:MOST_FAILURES]:
        yield ""
        yield from finding_lines(run, finding, pen=pen)
    if len(new) > MOST_FAILURES:
        yield ""
        yield f"and {len(new) - MOST_FAILURES} more failures in the report"
    shown = {finding.requirement for finding in run.findings if finding.verdict in weighed}
    for row in run.requirements:
        if row.verdict == "fail" and row.id not in shown:
            yield ""
            yield f"{pen('fail', 'FAIL')} {pen('bold', row.id)}  {one_line(row.statement, 300)}"
            yield f"     {one_line(row.reason or 'no finding is recorded', 300)}"


def _warnings(run: Run, pen: Pen) -> Iterator[str]:
    if run.strict:
        return
    known_failures = known_signatures(run)
    warnings = [
        finding
        for finding in run.findings
        if finding.verdict == "warn" and finding.signature not in known_failures
    ]
    for finding in warnings[:MOST_WARNINGS]:
        yield ""
        yield from finding_lines(run, finding, pen=pen)
    if len(warnings) > MOST_WARNINGS:
        yield f"and {len(warnings) - MOST_WARNINGS} more warnings in the report"


def _open(run: Run, pen: Pen) -> Iterator[str]:
    if not run.readings:
        return
    yield ""
    yield f"{pen('open', 'OPEN')} {plural(len(run.readings), 'reading')} where the specification is open"
    for reading in run.readings[:MOST_OPEN]:
        values = " and ".join(literal(value, 60) for value in reading.observed[:3])
        yield f"     {one_line(reading.key, 60)}: {values}"
    if len(run.readings) > MOST_OPEN:
        yield f"     and {len(run.readings) - MOST_OPEN} more in the report"


def _untested(run: Run, pen: Pen) -> Iterator[str]:
    groups = [group for group in untested(run) if not is_left_out(run, group.requirements[0])]
    if not groups:
        return
    yield ""
    count = sum(len(group.requirements) for group in groups)
    yield f"{pen('untested', 'UNTESTED')} {plural(count, 'requirement')}"
    for group in groups[:MOST_REASONS]:
        ids = listed((entry.id for entry in group.requirements), 3)
        yield from textwrap.wrap(
            f"{len(group.requirements):>4}  {one_line(group.reason, 200)} ({ids})",
            min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns),
            initial_indent="     ",
            subsequent_indent=" " * 11,
        )
    if len(groups) > MOST_REASONS:
        yield f"     and {len(groups) - MOST_REASONS} more reasons in the report"


def _baseline(run: Run, pen: Pen) -> Iterator[str]:
    base = run.baseline
    if base is None:
        return
    yield ""
    yield f"Against {one_line(base.file, 120)}: {counted(base)}"
    for entry in base.stale:
        problem = "in the baseline, but no longer fails; remove the entry"
        yield f"     {pen('warn', 'stale')} {one_line(entry.signature, 160)}: {problem}"
    for entry in base.expired:
        signature = one_line(entry.signature, 160)
        yield f"     {pen('fail', 'expired')} {signature}: accepted until {entry.expires}"
    unexplained = sum(entry.reason == NO_REASON for entry in base.known)
    if unexplained:
        yield f"     {plural(unexplained, 'entry')} without a reason: write why it is accepted"


def _since(run: Run, pen: Pen) -> Iterator[str]:
    since = run.since
    if since is None:
        return
    groups = (
        ("newly failing", since.newly_failing),
        ("fixed", since.fixed),
        ("with a changed reading", since.changed_readings),
    )
    parts = [f"{len(names)} {word} ({listed(names, 5)})" for word, names in groups if names]
    if parts:
        yield ""
        yield pen("bold", f"Since the last run: {'; '.join(parts)}")
