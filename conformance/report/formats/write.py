"""The single writer of a run's reports, redacted: each file is replaced whole or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from conformance.errors import ExitCode, UsageError
from conformance.report.across.compare import since
from conformance.report.formats import junit, sarif, summary
from conformance.report.formats.html.run_page import report
from conformance.report.formats.manifest import ENVELOPE, EXCHANGES, MANIFEST, statement_of
from conformance.report.model import evidence
from conformance.report.model.evidence import RunEvidence, undescribed_in_words
from conformance.report.model.groups import filters_of
from conformance.report.model.marked import at
from conformance.report.model.origins import origins_in
from conformance.report.model.run import FindingEntry, Run
from conformance.report.model.severity import severity_of
from conformance.report.model.visible import json_text, one_line
from conformance.report.model.words import Tone, headline, levels
from conformance.spec import BY_KEY, REQUIREMENTS
from conformance.traffic.exchange import ABSENT, Json
from conformance.traffic.redaction.context import names_a_value
from conformance.traffic.redaction.redact import Secrets
from conformance.traffic.replacing import write_report

Format = Callable[[Run, RunEvidence], str]
"""Makes the text of one report from a redacted run and the exchanges that its findings name."""

FORMATS: dict[str, Format] = {
    "results.json": lambda run, evidence: run.text(),
    "junit.xml": lambda run, evidence: junit.document(run),
    "summary.md": lambda run, evidence: summary.markdown(run),
    "report.html": report,
}
"""The reports that every command writes, by the name of the file."""

FURTHER: dict[str, tuple[str, Callable[[Run], str]]] = {
    "sarif": ("results.sarif", sarif.document),
    "badge": ("badge.json", lambda run: shield(run)),
}
"""File and text of the reports that ``--formats`` adds by these names. A new one is a function and a row."""

CASES = "cases.html"
"""The page of pytest-html, which ``run --formats cases`` adds."""
FURTHER_FILES = (CASES, *(file for file, _ in FURTHER.values()))
ATTESTED = (*FORMATS, *FURTHER_FILES, EXCHANGES)
"""The files whose digests the manifest has, as far as a folder has them."""

OURS = re.compile(r'"name": ?"portal-conformance"')
"""What ``results.json`` of a run begins with, whatever its version."""


def refuse_foreign_files(out: Path, *, force: bool) -> None:
    """UsageError: reports would replace files in ``out`` that no run of this tool wrote."""
    present = [name for name in (*FORMATS, *FURTHER_FILES, MANIFEST) if (out / name).exists()]
    if force or not present or _is_ours(out):
        return
    raise UsageError(
        f"--out {out}: it has {' and '.join(present)}, which portal-conformance did not write."
        f" Name another folder, or replace them with --force."
    )


def _is_ours(out: Path) -> bool:
    """Whether a folder has the results of a command of this tool."""
    with suppress(OSError), (out / "results.json").open(encoding="utf-8", errors="replace") as results:
        return OURS.search(results.read(1000)) is not None
    return False


def write_all(
    run: Run,
    out: Path,
    *,
    exchanges: Path,
    secrets: Secrets | None = None,
    counted: RunEvidence | None = None,
    formats: Mapping[str, Format] = FORMATS,
) -> Run:
    """Writes every report of a run into ``out``, which is created where it is missing; returns the run as
    written.

    ``exchanges`` is the run's ``exchanges.jsonl``, already redacted; it may be missing or broken.
    ``secrets`` are replaced in the run before any report is made of it. ``counted``: what is known of
    ``exchanges`` already, as ``evidence.read`` takes it. The run is compared with the one whose reports stand
    in ``out``.
    OSError: the folder cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    of_earlier = (*FURTHER_FILES, MANIFEST, ENVELOPE)  # and the next run may have none
    for name in of_earlier if _is_ours(out) else ():
        (out / name).unlink(missing_ok=True)
    clean = run if secrets is None else redacted(run, secrets)
    found_exchanges = evidence.read(exchanges, _named_exchanges(clean), counted=counted)
    earlier = _earlier_run(clean, out)
    clean = clean.model_copy(update={"timings": clean.timings or found_exchanges.timings})
    words = undescribed_in_words(clean)
    clean = clean.model_copy(
        update={
            "notes": [*clean.notes, words] if words and words not in clean.notes else clean.notes,
            "findings": [_completed(finding, found_exchanges) for finding in clean.findings],
            "deviations": [_with_missing(finding, found_exchanges) for finding in clean.deviations],
            "secrets": _origins(found_exchanges, secrets),
        }
    )
    if clean.since is None and earlier is not None:
        clean = clean.model_copy(update={"since": since(earlier, clean)})
    _write_each(clean, found_exchanges, out, formats=formats)
    write_report(out / MANIFEST, json_text(statement_of(clean, out, ATTESTED)))
    return clean


def write_further(out: Path, names: Collection[str]) -> None:
    """Writes the reports of these names beside ``results.json``, which is redacted, and the manifest anew:
    also for a page that stands there already. UsageError, OSError."""
    if names and (out / "results.json").exists():
        run = Run.read(out)
        for file, document in (FURTHER[name] for name in names if name in FURTHER):
            write_report(out / file, document(run))
        write_report(out / MANIFEST, json_text(statement_of(run, out, ATTESTED)))


def _named_exchanges(run: Run) -> set[int]:
    others = (finding.other.exchange for finding in run.findings if finding.other is not None)
    rows = (*run.findings, *run.deviations)
    return {number for finding in rows for number in finding.exchanges}.union(others)


def _origins(exchanges: RunEvidence, secrets: Secrets | None) -> dict[str, str]:
    """The origins of the secrets that the exchanges of findings hold."""
    if secrets is None or not secrets.origins:
        return {}
    text = "".join(msgspec.json.encode(each).decode() for each in exchanges.exchanges.values())
    named = origins_in(text, secrets.origins)
    return {placeholder: one_line(secrets.redact(origin)) for placeholder, origin in named.items()}


def _write_each(run: Run, exchanges: RunEvidence, out: Path, *, formats: Mapping[str, Format]) -> None:
    """Writes every file that can be written, also where another one cannot; raises that one's error last."""
    first_error: Exception | None = None
    for name, document in formats.items():
        try:
            write_report(out / name, document(run, exchanges))
        except Exception as error:
            first_error = first_error or error
    if first_error is not None:
        raise first_error


MOVES = re.compile(
    r"(portal-conformance compare ).+?(?= --known)|<!--cases-->| <a href=\"cases.html\">[^<]*</a>\."
)
"""Where a page names the folder that it was written to, which may have been moved since, or a page beside."""


def written_otherwise(run: Run, folder: Path) -> Iterator[str]:
    """The reports of a folder that a run and its exchanges do not make so, as sentences."""
    found = evidence.read(folder / EXCHANGES, _named_exchanges(run))
    completed = [_completed(finding, found) for finding in run.findings]
    if (run.timings, run.findings) != (found.timings, completed):
        yield "results.json: its timings, or the gravity of its findings, are not those of the exchanges."
    for name, document in FORMATS.items():
        if (folder / name).is_file():
            text = (folder / name).read_text(encoding="utf-8", errors="replace")
            if MOVES.sub("", text) != MOVES.sub("", document(run, found)):
                yield f"{name}: it is not what results.json and the exchanges make."


def _completed(finding: FindingEntry, exchanges: RunEvidence) -> FindingEntry:
    weighed = _with_missing(finding, exchanges)
    if finding.verdict in ("fail", "warn"):
        weighed = weighed.model_copy(update={"severity": severity_of(weighed)})
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


def _earlier_run(run: Run, out: Path) -> Run | None:
    """The previous run in this folder, if target and command are equal."""
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


LABEL = "portal conformance"
COLOURS: dict[Tone, str] = {
    "good": "#2e7d4f",
    "bad": "#b3372e",
    "grave": "#8a6100",
    "known": "#8a6100",
    "unsure": "#5f646b",
}


def words(run: Run) -> str:
    """``must 271/274`` where the run came to a verdict, else its headline."""
    head = headline(run)
    counts = " · ".join(f"{level} {held}/{of}" for level, held, of in levels(run))
    if head.title == "Selection":
        counts = f"selection: {counts}"
    elif head.tone == "unsure":
        counts = head.title.lower()
    return f"bundled portal: {counts}" if run.scope.bundled else counts


def shield(run: Run) -> str:
    """The JSON that a shields endpoint badge is made from."""
    head = headline(run)
    badge = {
        "schemaVersion": 1,
        "label": LABEL,
        "message": words(run),
        "color": COLOURS[head.tone].lstrip("#"),
        "isError": head.tone == "bad" or run.exit_code == ExitCode.FAILED,
    }
    return json.dumps(badge, ensure_ascii=False) + "\n"


REGISTRY_TEXTS = frozenset(
    {text for row in REQUIREMENTS.values() for text in (row.id, row.section, row.statement, row.reading)}
    | BY_KEY.keys()
)
"""What every report says of a requirement, whatever the target answered."""

VALUES = frozenset({"expected", "actual", "recorded", "replayed", "observed", "pinned"})
"""The fields of a run that hold JSON from the target's answers."""

ENUMERATED = frozenset(
    {"verdict", "level", "fault_class", "impact", "command", "kind", "version", "severity", "fail_on"}
)
"""The fields of a run that hold words of the suite's own."""


def redacted(run: Run, secrets: Secrets) -> Run:
    """The run with every secret in its texts, names and values replaced."""
    whole = run.dump()
    clean = _Cleaner(secrets, run).clean(whole)
    return run if clean == whole else Run.model_validate(clean)


class _Cleaner:
    """Replaces secrets in the parts of a run; most texts stand in several places, and are read once."""

    def __init__(self, secrets: Secrets, run: Run) -> None:
        self._secrets = secrets
        self._kept = REGISTRY_TEXTS | {case for row in run.requirements for case in row.cases}
        self._text = cache(lambda text: text if text in self._kept else secrets.redact(text))
        self._name = cache(secrets.redact_name)

    def clean(self, value: Json, name: str = "", place: str = "") -> Json:
        """The value of a field; ``place`` is where in an answer a finding or regression is."""
        if name in ENUMERATED:
            return value
        if name in VALUES:
            return self._secrets.redact_json(value, is_named=names_a_value(place))
        if isinstance(value, str):
            is_named = names_a_value(place)
            return (
                self._secrets.redact_json(value, is_named=is_named)
                if name == "message"
                else self._text(value)
            )
        if isinstance(value, dict):
            return self._object(value)
        if isinstance(value, list):
            return [self.clean(item, name, place) for item in value]
        return value

    def _object(self, value: dict[str, Any]) -> Json:
        path = value.get("path")
        place = path.rpartition(".")[2].partition("[")[0] if isinstance(path, str) else ""
        return {
            self._name(key): item if item is None or item is False else self.clean(item, key, place)
            for key, item in value.items()
        }
