"""Accepted differences of replays: rows with a reason and a last day, in a profile, a baseline or a file.

::

    [[accept]]
    endpoint = "GET /web/v1/system/roles"
    path = "data[*].roleName"
    kind = "value"
    reason = "the roles were renamed in release 7"
    expires = 2027-01-31

A row may hold the recorded value (``was``), the replayed one (``now``) or both: it accepts no others then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Self

from conformance.errors import UsageError
from conformance.report.across.toml_rows import (
    NO_REASON,
    RowFile,
    RowForm,
    RowKey,
    Scalar,
    TomlRow,
    document_of,
    is_short_scalar,
)
from conformance.report.model.marked import literal
from conformance.report.model.regressions import pattern_of
from conformance.report.model.run import OF_REPLAYS, Regression
from conformance.traffic.difference_kinds import DIFFERENCE_KINDS
from conformance.traffic.exchange import Json

Place = tuple[str, str, str]
"""The endpoint, the path with ``[*]`` for each index, and the kind of a difference."""
NEEDED = ("endpoint", "path", "kind", "reason")
FORM: RowForm = RowForm(
    (*NEEDED, "ticket"),
    NEEDED,
    unknown=lambda name: f"The keys are {', '.join(FORM.keys)}.",
    not_text="must be a text.",
    purpose="A row names a difference and says why it is accepted.",
    choices={"kind": DIFFERENCE_KINDS},
    scalars=("was", "now"),
)
WHOLE_BODY = "body"
"""The place of a difference that is no place within the body."""
UNSEEN, INSTEAD = "Accepted and not seen: ", " Seen there instead: "
"""What begins the sentence about a row that was not seen, and what follows it where other values were."""
BELOW_THE_ENVELOPE = "*"
"""In place of a path: all of a body but its code and whether it succeeded."""
MOST_VALUES = 5
"""Pairs of values that get rows of their own; a place with more of them gets one row without values."""

HEADER = """\
# Accepted differences of replays. A difference that is listed here does not fail a replay until its last day.
"""


@dataclass(frozen=True, slots=True)
class AcceptedDifference:
    """One row. ``path`` has ``[*]`` for each index; ``expires`` is the last day on which it holds. ``was`` is
    the recorded value and ``now`` the replayed one; without them a row accepts any."""

    endpoint: str
    path: str
    kind: str
    reason: str
    ticket: str = ""
    expires: date | None = None
    was: Scalar | None = None
    now: Scalar | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        return self.endpoint, self.path, self.kind

    @property
    def has_values(self) -> bool:
        return self.was is not None or self.now is not None

    @property
    def name(self) -> str:
        """The difference as sentences name it: ``GET /roles status status 200 → 404``."""
        sides = ("any" if value is None else literal(value) for value in (self.was, self.now))
        values = f" {' → '.join(sides)}" if self.has_values else ""
        return f"{self.endpoint} {self.path} {self.kind}{values}"

    @property
    def signature(self) -> str:
        return self.name

    @property
    def requirement(self) -> str:
        """What stands in the place of a rule's id."""
        return OF_REPLAYS

    def accepts(self, difference: Regression) -> bool:
        """Whether the row lists a difference at its place, by the values."""
        sides = ((self.was, difference.recorded), (self.now, difference.replayed))
        return all(value is None or _is_same(value, actual) for value, actual in sides)

    def row(self, table: str) -> TomlRow:
        return TomlRow(table, _own_key(self), FORM.values_of(self), FORM)


def _is_same(value: Scalar, actual: Json) -> bool:
    """Whether two values are one as JSON: ``true`` is no 1."""
    return isinstance(value, bool) == isinstance(actual, bool) and bool(value == actual)


@dataclass(frozen=True, slots=True)
class ComparedRows:
    """What a replay makes of rows. Those that fail it: ``stale`` ones, whose endpoint was compared and whose
    difference was not seen, and ``expired`` ones. The others: ``known`` ones, whose difference was seen, and
    ``undecided`` ones, whose place was not compared in all answers."""

    stale: tuple[AcceptedDifference, ...] = ()
    expired: tuple[AcceptedDifference, ...] = ()
    known: tuple[AcceptedDifference, ...] = ()
    undecided: tuple[AcceptedDifference, ...] = ()


@dataclass(frozen=True, slots=True)
class ComparedPlaces:
    """What a replay compared: the endpoints, none where it was cut short, and the places that differ, with
    the differences at each; those of drift have none. ``uncompared`` are the places of bodies, by endpoint,
    below which an answer shows nothing to compare; an empty one is the body as a whole."""

    endpoints: Set[str]
    places: Mapping[Place, Sequence[Regression]]
    uncompared: Set[tuple[str, str]] = frozenset()

    @classmethod
    def of(cls, endpoints: Set[str], differences: Iterable[Regression], drift: Iterable[Place]) -> Self:
        places: dict[Place, list[Regression]] = {place: [] for place in drift}
        uncompared: set[tuple[str, str]] = set()
        for each in differences:
            places.setdefault(key_of(each), []).append(each)
            uncompared.update((each.endpoint, path) for path in _uncompared_by(each))
        return cls(endpoints, places, uncompared)

    def is_seen(self, row: AcceptedDifference) -> bool:
        """Whether what a row lists was seen. Of a place that only drifts no values are known."""
        there = self.places.get(row.key)
        return there is not None and (not there or any(map(row.accepts, there)))

    def is_decided(self, row: AcceptedDifference) -> bool:
        """Whether the place of a row was compared in all answers of its endpoint."""
        if row.endpoint not in self.endpoints or row.key in self.places:
            return row.endpoint in self.endpoints
        if row.path == "status" or row.path.startswith("headers."):
            return True
        around = (path for endpoint, path in self.uncompared if endpoint == row.endpoint)
        return not any(_is_below(row.path, path) for path in around)

    def compared(self, rows: Sequence[AcceptedDifference], today: date | None = None) -> ComparedRows:
        expired = against_rows((), rows, today).expired
        valid = [row for row in rows if row not in expired]
        unseen = [row for row in valid if not self.is_seen(row)]
        return ComparedRows(
            stale=tuple(row for row in unseen if self.is_decided(row)),
            expired=expired,
            known=tuple(row for row in valid if row not in unseen),
            undecided=tuple(row for row in unseen if not self.is_decided(row)),
        )


ENVELOPE = ("code", "success")
OF_A_SUCCESS = range(200, 300)


def _uncompared_by(difference: Regression) -> Iterator[str]:
    """The places below which nothing is compared where an answer has this difference: it was refused, has
    another body, or lacks what stood there."""
    path, kind = pattern_of(difference.path), difference.kind
    statuses = difference.recorded, difference.replayed
    if path in ENVELOPE or (kind == "status" and not all(each in OF_A_SUCCESS for each in statuses)):
        yield BELOW_THE_ENVELOPE
    elif kind in ("missing", "type") or (kind == "length" and not difference.replayed):
        yield path


def _is_below(path: str, around: str) -> bool:
    if around == BELOW_THE_ENVELOPE:
        return path not in ENVELOPE
    return not around or path.startswith((f"{around}.", f"{around}["))


def key_of(regression: Regression) -> Place:
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
    day = today or datetime.now(UTC).date()
    expired = tuple(row for row in rows if row.expires is not None and row.expires < day)
    valid: dict[Place, list[AcceptedDifference]] = {}
    for row in rows:
        if row not in expired:
            valid.setdefault(row.key, []).append(row)
    held: list[Regression] = []
    accepted: list[tuple[Regression, AcceptedDifference]] = []
    matched: set[RowKey] = set()
    for each in regressions:
        listing = [row for row in valid.get(key_of(each), ()) if row.accepts(each)]
        matched.update(map(_own_key, listing))
        if listing:
            accepted.append((each, max(reversed(listing), key=lambda row: row.has_values)))
        else:
            held.append(each)
    rest = {_own_key(row): row for same in valid.values() for row in same}
    unseen = tuple(row for key, row in rest.items() if key not in matched)
    return Acceptance(tuple(held), tuple(accepted), expired, unseen)


def _own_key(row: AcceptedDifference) -> RowKey:
    """Identity of a row: place and values."""
    return *row.key, literal(row.was), literal(row.now)


def updated(
    rows: Sequence[AcceptedDifference],
    regressions: Sequence[Regression],
    is_stable: Callable[[Regression], bool] = lambda difference: False,
) -> tuple[AcceptedDifference, ...]:
    """Rows with a new one for each unlisted difference; a new row holds the values if they are ``is_stable``.
    Existing reasons and days stay."""
    listing = {_own_key(row): row for row in rows}
    places: dict[Place, dict[RowKey, AcceptedDifference]] = {}
    for each in against_rows(regressions, rows, date.min).held:
        row = AcceptedDifference(*key_of(each), NO_REASON)
        if is_stable(each):
            row = replace(row, was=scalar_of(each.recorded), now=scalar_of(each.replayed))
        places.setdefault(row.key, {})[_own_key(row)] = row
    for key, new in places.items():
        if len(new) > MOST_VALUES or not all(row.has_values for row in new.values()):
            row = AcceptedDifference(*key, NO_REASON)
            new = {_own_key(row): row}
        listing |= new
    return tuple(listing[key] for key in sorted(listing))


def scalar_of(value: Json) -> Scalar | None:
    """A value as a row holds it; None where no row can."""
    return value if is_short_scalar(value) else None


def load(path: Path) -> tuple[AcceptedDifference, ...]:
    """The rows of a file. UsageError: it cannot be read, or a row says something that cannot be."""
    document = document_of(path, absent="there is no such file. --accept-update writes one.")
    return rows_of(document.get("accept", []), f"{path}: [[accept]]")


def rows_of(rows: Any, where: str) -> tuple[AcceptedDifference, ...]:
    """Rows from TOML tables. UsageError: one lacks something, or has a key that is none."""
    if not isinstance(rows, list):
        raise UsageError(
            f"{where}: it must be an array of tables. Begin each row with [[…]] in two brackets."
        )
    return tuple(_row(row, f"{where} number {number}") for number, row in enumerate(rows, 1))


def _row(row: Any, where: str) -> AcceptedDifference:
    return AcceptedDifference(**FORM.checked(row, where))


def place_of(row: Mapping[str, Any]) -> RowKey:
    """The difference that a row of a file names, with its values."""
    return _own_key(_row(row, ""))


def write(rows: Iterable[AcceptedDifference], path: Path) -> None:
    """Writes a file as ``load`` reads it; comments and order of its rows are kept. UsageError: it cannot be
    written."""
    file = RowFile(HEADER, lambda table, row: place_of(row), about={})
    file.write([row.row("accept") for row in rows], path)
