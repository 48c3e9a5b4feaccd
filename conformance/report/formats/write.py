"""The single writer of a run's reports: every file of the contract, each replaced whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from conformance.errors import UsageError
from conformance.report.across.compare import since
from conformance.report.formats import badge, ctrf, html, junit, summary
from conformance.report.model import evidence
from conformance.report.model.marked import at
from conformance.report.model.run import FindingEntry, Run, Since
from conformance.traffic.exchange import ABSENT

FILES = ("results.json", "junit.xml", "summary.md", "report.html", "ctrf.json", "badge.json", "badge.svg")


def write_all(
    run: Run, out: Path, *, exchanges: Path, redact: Callable[[str], str] = str, previous: Run | None = None
) -> Run:
    """Writes every report of a run into ``out``, made where it is missing; gives the run as written.

    ``exchanges`` is the run's ``exchanges.jsonl``, without its secrets; it may be missing or broken.
    ``redact`` takes the secrets out of a text; it is applied to every text of the run before anything
    is made from it. ``previous`` is the run to tell changes from: by default the one whose
    reports stand in ``out``.
    OSError: the folder cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    clean = run.changed(redact)
    found = evidence.read(exchanges, {number for finding in clean.findings for number in finding.exchanges})
    clean = clean.model_copy(
        update={
            "timings": clean.timings or found.timings,
            "findings": [_told_missing(finding, found) for finding in clean.findings],
            "since": clean.since or _since(clean, previous or _run_before(clean, out)),
        }
    )
    _write_each(clean, found, out)
    return clean


def _write_each(run: Run, found: evidence.Evidence, out: Path) -> None:
    """Every file that can be made is written, also where another one cannot; that one's error comes last."""
    makers: list[tuple[str, Callable[[], str]]] = [
        ("results.json", run.text),
        ("junit.xml", lambda: junit.document(run)),
        ("summary.md", lambda: summary.markdown(run)),
        ("report.html", lambda: html.report(run, found)),
        ("ctrf.json", lambda: ctrf.document(run)),
        ("badge.json", lambda: badge.shield(run)),
        ("badge.svg", lambda: badge.drawing(run)),
    ]
    failed: Exception | None = None
    for name, make in makers:
        try:
            replace(out / name, make())
        except Exception as error:
            failed = failed or error
    if failed is not None:
        raise failed


def _told_missing(finding: FindingEntry, found: evidence.Evidence) -> FindingEntry:
    """The finding, with whether anything stood at its place in the answer."""
    exchange = found.exchanges.get(finding.exchanges[-1]) if finding.exchanges else None
    if exchange is None or not finding.path or exchange.response is None or finding.actual is not None:
        return finding
    return finding.model_copy(update={"missing": at(exchange, finding.path) is ABSENT})


def _since(run: Run, previous: Run | None) -> Since | None:
    return None if previous is None else since(previous, run)


def _run_before(run: Run, out: Path) -> Run | None:
    """The run whose reports stand in the folder, where it was one of the same target and kind."""
    try:
        before = Run.read(out)
    except UsageError:
        return None  # none, or of another version: there is nothing to tell changes from
    same = before.command == run.command and (
        before.target.profile == run.target.profile
        if run.target.profile
        else before.target.url == run.target.url
    )
    return before if same and before.exit_code in (0, 1) else None


def replace(path: Path, text: str) -> None:
    """Puts a text in a file's place in one step, so that a reader never sees half of it."""
    new = path.with_name(f".{path.name}.new")
    new.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    os.replace(new, path)
