"""Accepted differences of replays: rows with a reason and a last day, in a profile, a baseline or a file.

::

    [[accept]]
    endpoint = "GET /web/v1/system/roles"
    path = "data[*].roleName"
    kind = "value"
    reason = "the roles were renamed in release 7"
    expires = 2027-01-31
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from conformance.errors import UsageError
from conformance.report.across.toml_rows import (
    NO_REASON,
    RowFile,
    RowForm,
    RowKey,
    RowValues,
    TomlRow,
    document_of,
)
from conformance.report.model.regressions import pattern_of
from conformance.report.model.run import OF_REPLAYS, BaselineEntry, Regression
from conformance.traffic.difference_kinds import DIFFERENCE_KINDS

NEEDED = ("endpoint", "path", "kind", "reason")
FORM: RowForm = RowForm(
    (*NEEDED, "ticket"),
    NEEDED,
    unknown=lambda name: f"The keys are {', '.join(FORM.keys)}.",
    not_text="must be a text.",
    purpose="A row names a difference and says why it is accepted.",
    choices={"kind": DIFFERENCE_KINDS},
)
WHOLE_BODY = "body"
"""The place of a difference that is no place within the body."""

HEADER = """\
# Accepted differences of replays. A difference that is listed here does not fail a replay until its last day.
"""


@dataclass(frozen=True, slots=True)
class AcceptedDifference:
    """One row. ``path`` has ``[*]`` for each index; ``expires`` is the last day on which it holds."""

    endpoint: str
    path: str
    kind: str
    reason: str
    ticket: str = ""
    expires: date | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        return self.endpoint, self.path, self.kind

    def record(self) -> BaselineEntry:
        """The row of a baseline as ``results.json`` holds it."""
        return BaselineEntry(
            signature=f"{self.endpoint} {self.path} {self.kind}",
            requirement=OF_REPLAYS,
            endpoint=self.endpoint,
            reason=self.reason,
            ticket=self.ticket,
            expires=self.expires.isoformat() if self.expires else "",
        )

    def row(self, table: str) -> TomlRow:
        """The row, to write into a table."""
        values: RowValues = {
            "endpoint": self.endpoint,
            "path": self.path,
            "kind": self.kind,
            "reason": self.reason,
            "ticket": self.ticket,
            "expires": self.expires,
        }
        return TomlRow(table, self.key, values, FORM)


@dataclass(frozen=True, slots=True)
class ComparedRows:
    """What a replay makes of rows. Those that fail it: ``stale`` ones, whose endpoint was compared and whose
    difference was not seen, and ``expired`` ones. The others: ``known`` ones, whose difference was seen, and
    ``undecided`` ones, whose endpoint was not compared."""

    stale: tuple[AcceptedDifference, ...] = ()
    expired: tuple[AcceptedDifference, ...] = ()
    known: tuple[AcceptedDifference, ...] = ()
    undecided: tuple[AcceptedDifference, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparedPlaces:
    """What a replay compared: the endpoints, none where it was cut short, and the places that differ."""

    endpoints: Set[str]
    places: Set[tuple[str, str, str]]

    def compared(self, rows: Sequence[AcceptedDifference], today: date | None = None) -> ComparedRows:
        expired = against_rows((), rows, today).expired
        valid = [row for row in rows if row not in expired]
        unseen = [row for row in valid if row.key not in self.places]
        return ComparedRows(
            stale=tuple(row for row in unseen if row.endpoint in self.endpoints),
            expired=expired,
            known=tuple(row for row in valid if row.key in self.places),
            undecided=tuple(row for row in unseen if row.endpoint not in self.endpoints),
        )


def key_of(regression: Regression) -> tuple[str, str, str]:
    """The place of a difference, as a row names it."""
    return regression.endpoint, pattern_of(regression.path) or WHOLE_BODY, regression.kind


@dataclass(frozen=True, slots=True)
class Acceptance:
    """What rows make of differences: ``held`` are those that no valid row lists, ``accepted`` the others;
    ``expired`` are rows whose day has passed and ``unseen`` those that list nothing that was seen."""

    held: tuple[Regression, ...]
    accepted: tuple[tuple[Regression, AcceptedDifference], ...] = ()
    expired: tuple[AcceptedDifference, ...] = ()
    unseen: tuple[AcceptedDifference, ...] = ()


def against_rows(
    regressions: Sequence[Regression], rows: Sequence[AcceptedDifference], today: date | None = None
) -> Acceptance:
    """Sets differences against the rows that accept them."""
    day = today or datetime.now(UTC).date()
    expired = tuple(row for row in rows if row.expires is not None and row.expires < day)
    valid = {row.key: row for row in rows if row not in expired}
    accepted = tuple((each, valid[key_of(each)]) for each in regressions if key_of(each) in valid)
    places = {key_of(each) for each in regressions}
    return Acceptance(
        tuple(each for each in regressions if key_of(each) not in valid),
        accepted,
        expired,
        tuple(row for row in valid.values() if row.key not in places),
    )


def updated(
    rows: Sequence[AcceptedDifference], regressions: Iterable[Regression]
) -> tuple[AcceptedDifference, ...]:
    """The rows, with one for each difference that none of them lists. Reasons and days stay as they are."""
    known = {row.key: row for row in rows}
    for each in regressions:
        known.setdefault(key_of(each), AcceptedDifference(*key_of(each), NO_REASON))
    return tuple(known[key] for key in sorted(known))


def load(path: Path) -> tuple[AcceptedDifference, ...]:
    """The rows of a file. UsageError: it cannot be read, or a row says something that cannot be."""
    document = document_of(path, absent="there is no such file. --accept-update writes one.")
    return rows_of(document.get("accept", []), f"{path}: [[accept]]")


def rows_of(rows: Any, where: str) -> tuple[AcceptedDifference, ...]:
    """Rows from TOML tables. UsageError: one lacks something, or has a key that is none."""
    if not isinstance(rows, list):
        raise UsageError(f"{where}: rows stand in an array of tables.")
    return tuple(_row(row, f"{where} number {number}") for number, row in enumerate(rows, 1))


def _row(row: Any, where: str) -> AcceptedDifference:
    return AcceptedDifference(**FORM.checked(row, where))


def place_of(row: Mapping[str, Any]) -> RowKey:
    """The difference that a row of a file names."""
    return row["endpoint"], row["path"], row["kind"]


def write(rows: Iterable[AcceptedDifference], path: Path) -> None:
    """Writes a file as ``load`` reads it; comments and order of its rows are kept. UsageError: it cannot be
    written."""
    file = RowFile(HEADER, lambda table, row: place_of(row), about={})
    file.write([row.row("accept") for row in rows], path)
