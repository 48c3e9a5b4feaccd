"""The single writer of a run's reports: every file of the contract, each replaced whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from conformance.errors import UsageError
from conformance.report.across.compare import since
from conformance.report.formats import badge, html, junit, sarif, summary
from conformance.report.model import evidence
from conformance.report.model.evidence import RunEvidence
from conformance.report.model.groups import filters_of
from conformance.report.model.marked import at
from conformance.report.model.redacted import redacted
from conformance.report.model.run import FindingEntry, Run
from conformance.report.model.severity import severity_of
from conformance.traffic.exchange import ABSENT
from conformance.traffic.redaction.redact import Secrets

Format = Callable[[Run, RunEvidence], str]
"""Makes the text of one report from a redacted run and the exchanges that its findings name."""

FORMATS: dict[str, Format] = {
    "results.json": lambda run, evidence: run.text(),
    "junit.xml": lambda run, evidence: junit.document(run),
    "summary.md": lambda run, evidence: summary.markdown(run),
    "report.html": html.report,
    "results.sarif": lambda run, evidence: sarif.document(run),
    "badge.json": lambda run, evidence: badge.shield(run),
}
"""Every report by the name of its file. A new format is a function and a row here."""


def write_all(
    run: Run,
    out: Path,
    *,
    exchanges: Path,
    secrets: Secrets | None = None,
    previous: Run | None = None,
    counted: RunEvidence | None = None,
    formats: Mapping[str, Format] = FORMATS,
) -> Run:
    """Writes every report of a run into ``out``, which is created where it is missing; returns the run as
    written.

    ``exchanges`` is the run's ``exchanges.jsonl``, already redacted; it may be missing or broken.
    ``secrets`` are replaced in the run before any report is made of it. ``previous`` is the run to compare
    with: by default the one whose reports stand in ``out``. ``counted``: what is known of ``exchanges``
    already, as ``evidence.read`` takes it.
    OSError: the folder cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    clean = run if secrets is None else redacted(run, secrets)
    found_exchanges = evidence.read(exchanges, _named_exchanges(clean), counted=counted)
    earlier = previous or _earlier_run(clean, out)
    clean = clean.model_copy(
        update={
            "timings": clean.timings or found_exchanges.timings,
            "findings": [_completed(finding, found_exchanges) for finding in clean.findings],
        }
    )
    if clean.since is None and earlier is not None:
        clean = clean.model_copy(update={"since": since(earlier, clean)})
    _write_each(clean, found_exchanges, out, formats=formats)
    return clean


def _named_exchanges(run: Run) -> set[int]:
    others = (finding.other.exchange for finding in run.findings if finding.other is not None)
    return {number for finding in run.findings for number in finding.exchanges}.union(others)


def _write_each(run: Run, exchanges: RunEvidence, out: Path, *, formats: Mapping[str, Format]) -> None:
    """Writes every file that can be written, also where another one cannot; raises that one's error last."""
    first_error: Exception | None = None
    for name, document in formats.items():
        try:
            replace(out / name, document(run, exchanges))
        except Exception as error:
            first_error = first_error or error
    if first_error is not None:
        raise first_error


def _completed(finding: FindingEntry, exchanges: RunEvidence) -> FindingEntry:
    """The finding with what its exchanges tell of it."""
    weighed = _weighed(_with_missing(finding, exchanges))
    filters = filters_of(weighed, exchanges.exchanges)
    return weighed.model_copy(update={"filters": filters}) if filters else weighed


def _with_missing(finding: FindingEntry, exchanges: RunEvidence) -> FindingEntry:
    """The finding, with whether anything stood at its place in the answer."""
    exchange = exchanges.exchanges.get(finding.exchanges[-1]) if finding.exchanges else None
    if exchange is None or not finding.path or exchange.response is None or finding.actual is not None:
        return finding
    if exchange.response.is_unknown:
        return finding
    return finding.model_copy(update={"missing": at(exchange, finding.path) is ABSENT})


def _weighed(finding: FindingEntry) -> FindingEntry:
    """The finding with its severity, where it is a FAIL or a WARN."""
    if finding.verdict not in ("fail", "warn"):
        return finding
    return finding.model_copy(update={"severity": severity_of(finding)})


def _earlier_run(run: Run, out: Path) -> Run | None:
    """The run whose reports stand in the folder, where it was one of the same target and kind."""
    try:
        earlier = Run.read(out)
    except UsageError:
        return None  # none, or of another version: there is nothing to compare with
    is_same = earlier.command == run.command and (
        earlier.target.profile == run.target.profile
        if run.target.profile
        else earlier.target.url == run.target.url
    )
    return earlier if is_same and earlier.exit_code in (0, 1) else None


def replace(path: Path, text: str) -> None:
    """Puts a text in a file's place in one step, so that a reader never sees half of it."""
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    os.replace(new, path)
