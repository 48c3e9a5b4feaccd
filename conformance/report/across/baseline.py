"""Known failures, kept in a file beside the code that runs the suite: only what is not in it fails a run.

::

    [[known]]
    requirement = "ENV-008"
    endpoint = "POST /web/v1/system/auth/login/initiate"
    signature = "ENV-008 POST /web/v1/system/auth/login/initiate data"
    reason = "the error handler fills data; fixed in the next release"
    ticket = "PORTAL-123"
    expires = 2027-01-31
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from conformance.errors import ExitCode, UsageError
from conformance.report.across.accepted import AcceptedDifference, ComparedRows, key_of, place_of, rows_of
from conformance.report.across.toml_rows import NO_REASON, RowFile, RowForm, RowKey, TomlRow, document_of
from conformance.report.model.run import BaselineEntry, BaselineOutcome, FindingEntry, RequirementEntry, Run
from conformance.spec import BY_KEY, present_id, present_signature

TABLES = ("known", "gone", "regression")
FORM: RowForm = RowForm(
    ("requirement", "endpoint", "signature", "reason", "ticket"),
    ("requirement", "signature", "reason"),
    unknown=lambda name: f"{_nearest(name, FORM.keys)}The keys are {', '.join(FORM.keys)}.",
    not_text="must be text in quotes.",
    purpose="An entry names what fails and says why that is accepted.",
)
HEADER = """\
# Known failures. A failure that is listed here does not fail a run. An entry whose failure is gone, or whose
# day has passed, fails it until the entry is removed.
"""
ABOUT_GONE = "# No longer seen, and no longer accepted; kept for their reasons, in case they come back.\n"
CUT_SHORT = frozenset(
    {
        ExitCode.INTERRUPTED,
        ExitCode.INTERNAL_ERROR,
        ExitCode.USAGE,
        ExitCode.INCONCLUSIVE,
        ExitCode.UNREACHABLE,
    }
)
"""Exit codes of runs that say nothing of a failure that they did not see."""


@dataclass(frozen=True, slots=True)
class KnownFailure:
    """One entry. ``expires`` is the last day on which it holds."""

    requirement: str
    signature: str
    reason: str
    endpoint: str = ""
    ticket: str = ""
    expires: date | None = None

    @property
    def place(self) -> str:
        """The endpoint; where the entry has none, that of its signature."""
        return self.endpoint or " ".join(self.signature.split()[1:3])

    def is_expired(self, today: date) -> bool:
        return self.expires is not None and self.expires < today

    def row(self, table: str) -> TomlRow:
        return TomlRow(table, (self.signature,), FORM.values_of(self), FORM)


@dataclass(frozen=True, slots=True)
class Baseline:
    """``gone`` are entries that an update took out: they accept nothing, and keep their reason."""

    file: str
    entries: tuple[KnownFailure, ...] = ()
    gone: tuple[KnownFailure, ...] = ()
    regressions: tuple[AcceptedDifference, ...] = ()
    """Differences of replays that are accepted."""
    compared: ComparedRows = field(default_factory=ComparedRows)
    """What the replay that is compared makes of them."""

    @property
    def signatures(self) -> frozenset[str]:
        return frozenset(entry.signature for entry in self.entries)


BaselineRow = KnownFailure | AcceptedDifference


@dataclass(frozen=True, slots=True)
class BaselineResult:
    """``new`` are findings that no entry lists, ``known`` the rows whose failure was seen, ``stale`` those
    that were decided at their endpoint and whose failure was not seen, ``expired`` those whose day has
    passed, ``undecided`` those that the run did not decide there; ``differences`` are the places of
    regressions that no row lists."""

    file: str
    new: tuple[FindingEntry, ...] = ()
    known: tuple[BaselineRow, ...] = ()
    stale: tuple[BaselineRow, ...] = ()
    expired: tuple[BaselineRow, ...] = ()
    undecided: tuple[BaselineRow, ...] = ()
    differences: tuple[AcceptedDifference, ...] = ()

    @property
    def stale_failures(self) -> list[KnownFailure]:
        return [row for row in self.stale if isinstance(row, KnownFailure)]

    def record(self) -> BaselineOutcome:
        """The result as ``results.json`` holds it."""
        new: list[BaselineRow] = [known_of(finding, reason="") for finding in self.new]
        return BaselineOutcome(
            file=self.file,
            new=list(map(_record, [*new, *self.differences])),
            known=list(map(_record, self.known)),
            stale=list(map(_record, self.stale)),
            undecided=list(map(_record, self.undecided)),
            expired=list(map(_record, self.expired)),
        )


def _record(row: BaselineRow) -> BaselineEntry:
    return BaselineEntry(
        signature=row.signature,
        requirement=row.requirement,
        endpoint=row.endpoint,
        reason=row.reason,
        ticket=row.ticket,
        expires=row.expires.isoformat() if row.expires else "",
    )


def load(path: Path) -> Baseline:
    """The baseline of a file. UsageError: it cannot be read, or an entry says something that cannot be."""
    update = f"`--baseline {shlex.quote(str(path))} --baseline-update` writes one from a run."
    document = document_of(path, absent=f"there is no such baseline. {update}")
    for name in document:
        if name not in TABLES:
            raise UsageError(
                f'{path}: there is no key "{name}". {_nearest(name, TABLES)}Entries stand under [[known]].'
            )
    failures, gone = (_entries(path, name, document.get(name, [])) for name in TABLES[:2])
    regressions = rows_of(document.get("regression", []), f"{path}: [[regression]]")
    return Baseline(str(path), failures, gone, regressions)


def compare(run: Run, baseline: Baseline, today: date) -> BaselineResult:
    """Sets a run's FAILs (WARNs as well where strict) against the known ones.

    An entry whose requirement this run did not decide at its endpoint is neither known to hold nor stale: it
    stays.
    """
    current = {finding.signature for finding in run.findings if finding.verdict in ("fail", "warn")}
    decided = {entry.id: entry for entry in run.requirements if entry.verdict != "untested"}
    expired = [entry for entry in baseline.entries if entry.is_expired(today)]
    valid = [entry for entry in baseline.entries if entry not in expired]
    listed = listed_today(baseline, today)
    gone = [entry for entry in valid if entry.signature not in current]
    complete, rows = run.exit_code not in CUT_SHORT, baseline.compared
    stale = [entry for entry in gone if complete and _is_decided(run, entry, decided.get(entry.requirement))]
    undecided = [entry for entry in gone if entry not in stale]
    return BaselineResult(
        file=baseline.file,
        new=tuple(
            finding
            for finding in run.findings
            if finding.verdict in run.weighed and finding.signature not in listed
        ),
        known=(*(entry for entry in valid if entry.signature in current), *rows.known),
        stale=(*stale, *(rows.stale if complete else ())),
        expired=(*expired, *rows.expired),
        undecided=(*undecided, *rows.undecided, *(() if complete else rows.stale)),
        differences=tuple(
            AcceptedDifference(*key, reason="") for key in dict.fromkeys(map(key_of, run.regressions))
        ),
    )


def _is_decided(run: Run, entry: KnownFailure, rule: RequirementEntry | None) -> bool:
    """Whether a run decided an entry's rule at its endpoint. Of a selection that is what its checks decided
    there, and rules of no other endpoint: what it sends to sign in shows little of the rest."""
    if rule is None:
        return False
    is_part = run.command == "run" and bool(run.scope.selection)
    if entry.place not in BY_KEY:
        return not is_part
    if run.scope.called and entry.place not in run.scope.called:
        return False
    is_there = rule.id in run.scope.decided.get(entry.place, ()) or rule.operations == [entry.place]
    return is_there or not is_part


def listed_today(baseline: Baseline | None, today: date) -> frozenset[str]:
    """The signatures of the failures that a baseline accepts on this day."""
    entries = () if baseline is None else baseline.entries
    return frozenset(entry.signature for entry in entries if not entry.is_expired(today))


def initial_baseline(path: Path | None, *, is_updated: bool, is_pruned: bool = False) -> Baseline | None:
    """The baseline to compare a run with, empty where there is no file yet. UsageError: as ``load``."""
    if path is None:
        if is_pruned:
            raise UsageError("--baseline-prune needs --baseline FILE, the file to remove entries from.")
        if is_updated:
            raise UsageError("--baseline-update needs --baseline FILE, the file to write failures to.")
        return None
    return load(path) if path.exists() or not is_updated else Baseline(str(path))


def known_of(finding: FindingEntry, reason: str = NO_REASON) -> KnownFailure:
    return KnownFailure(finding.requirement, finding.signature, reason, finding.endpoint)


def write(baseline: Baseline, path: Path) -> None:
    """Writes the file as ``load`` reads it; comments and order of the entries in it are kept. UsageError: it
    cannot be written."""
    rows = [entry.row("known") for entry in baseline.entries]
    rows += [row.row("regression") for row in baseline.regressions]
    rows += [entry.row("gone") for entry in baseline.gone]
    RowFile(HEADER, _row_key, about={"gone": ABOUT_GONE}).write(rows, path)


def _row_key(table: str, row: Mapping[str, Any]) -> RowKey:
    return place_of(row) if table == "regression" else (present_signature(row["signature"]),)


def entry_text(finding: FindingEntry) -> str:
    """An entry to paste, with the reason left to say."""
    return known_of(finding).row("known").text


def _entries(path: Path, table: str, rows: Any) -> tuple[KnownFailure, ...]:
    if not isinstance(rows, list):
        raise UsageError(f"{path}: entries stand under [[{table}]], with two brackets.")
    entries = tuple(_entry(f"{path}: [[{table}]] number {number}", row) for number, row in enumerate(rows, 1))
    _no_repeats(path, entries)
    return entries


def _entry(where: str, row: Any) -> KnownFailure:
    values = FORM.checked(row, where)
    present = {
        "requirement": present_id(values["requirement"]),
        "signature": present_signature(values["signature"]),
    }
    return KnownFailure(**{**values, **present})


def _nearest(name: str, names: Sequence[str]) -> str:
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    return f'Did you mean "{near[0]}"? ' if near else ""


def _no_repeats(path: Path, entries: Sequence[KnownFailure]) -> None:
    signatures: set[str] = set()
    for entry in entries:
        if entry.signature in signatures:
            raise UsageError(f'{path}: two entries have the signature "{entry.signature}". Keep one.')
        signatures.add(entry.signature)
