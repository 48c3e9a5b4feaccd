"""The annotations of a run on the page of a CI job: each rule that fails it, and each warning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.report.formats.finding_text import values
from conformance.report.model.again import rerun, rerun_finding
from conformance.report.model.regressions import of_one_refusal, places
from conformance.report.model.run import FindingEntry, Run
from conformance.report.model.visible import one_line
from conformance.report.model.words import (
    BUNDLED,
    blocking,
    headline,
    known_signatures,
    other_failures,
    outdated,
    plural,
)

MOST = 10
"""Annotations of a level that the page of a job shows; what is beyond is in the reports."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """One message of a CI job: its level, ``error`` or ``warning``, its title and its text."""

    level: str
    title: str
    text: str


def annotations_of(run: Run) -> Iterator[Annotation]:
    """What fails the run as errors, then its warnings, each level bounded. A run that judged no portal of the
    user's is a warning: its green verdict says nothing of the job's portal."""
    errors = [*_outdated(run), *_failures(run), *_regressions(run)]
    errors += [Annotation("error", one.title, one_line(one.sentence, 600)) for one in other_failures(run)]
    if run.exit_code > 1:
        head = headline(run)
        errors.insert(0, Annotation("error", head.title, one_line(head.sentence, 400)))
    yield from errors[:MOST]
    bundled = [Annotation("warning", "No portal of yours was judged", BUNDLED)] if run.scope.bundled else []
    yield from [*bundled, *_warnings(run)][:MOST]


def _outdated(run: Run) -> Iterator[Annotation]:
    """The entries of the baseline that fail the run themselves, in one annotation."""
    rows = outdated(run)
    if rows:
        text = " ".join(f"{row.label.capitalize()}: {row.sentence}" for row in rows)
        yield Annotation("error", "Baseline out of date", one_line(text, 900))


def _failures(run: Run) -> Iterator[Annotation]:
    for blocker in blocking(run):
        row, findings = blocker.requirement, blocker.findings
        where = _where(findings[0]) if findings else row.reason or "no finding is recorded"
        more = f", and {plural(len(findings) - 1, 'further place')}" if len(findings) > 1 else ""
        command = rerun_finding(run, findings[0]) if findings else rerun(run, row.id)
        text = f"{row.statement} {where}{more}. Reproduce: {command}"
        yield Annotation("error", f"{row.verdict.upper()} {row.id}", one_line(text, 900))


def _regressions(run: Run) -> Iterator[Annotation]:
    for same in of_one_refusal(places(run)):
        where = " and ".join(place.path or "the answer" for place in same)
        text = f"{same[0].endpoint} at {where}: {plural(len(same[0].exchanges), 'answer')}"
        kinds = " and ".join(dict.fromkeys(place.kind for place in same))
        yield Annotation("error", f"Regression: {kinds}", one_line(text, 600))


def _warnings(run: Run) -> Iterator[Annotation]:
    if run.strict:
        return
    accepted = known_signatures(run)
    rows = {row.id: row for row in run.requirements}
    first = {
        finding.requirement: finding
        for finding in reversed(run.findings)
        if finding.verdict == "warn" and finding.signature not in accepted
    }
    for name, finding in reversed(first.items()):
        statement = rows[name].statement if name in rows else ""
        yield Annotation("warning", f"WARN {name}", one_line(f"{statement} {_where(finding)}", 900))


def _where(finding: FindingEntry) -> str:
    return f"{finding.endpoint} at {finding.path or 'the answer'}: {values(finding)}"
