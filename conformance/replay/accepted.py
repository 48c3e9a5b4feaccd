"""Differences that rows of a baseline accept, the rows that a replay decides, and values that stay equal."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import date
from typing import Self

from conformance.judging.fields import fields_along
from conformance.replay.compare.outcome import COMPARED, OutcomeTally
from conformance.report.across.baseline import Baseline, ComparedRows
from conformance.report.across.baseline_rows import BaselineRow
from conformance.report.model.regressions import Place, pattern_of, place_of
from conformance.report.model.run import Regression
from conformance.report.model.words import plural
from conformance.spec import BY_KEY
from conformance.spec.resources import Constant, Enumeration
from conformance.traffic.exchange import Json, steps

BELOW_THE_ENVELOPE = "*"
"""In place of a path: all of a body but its code and whether it succeeded."""
ENVELOPE = ("code", "success")
OF_A_SUCCESS = range(200, 300)


@dataclass(frozen=True)
class Acceptance:
    """What rows make of differences: ``held`` are those that no valid row lists."""

    held: Sequence[Regression]
    accepted: Sequence[tuple[Regression, BaselineRow]] = ()

    def notes(self) -> Iterator[str]:
        if not self.accepted:
            return
        places = len({row.place for _, row in self.accepted})
        accepted = plural(len(self.accepted), "difference")
        held = {_number(each) for each in self.held}
        count = len({_number(each) for each, _ in self.accepted} - held)
        beside = f" Of {plural(count, 'regressed exchange')} nothing else is held against the target."
        yield f"Accepted by a row: {accepted} at {plural(places, 'place')}.{beside if count else ''}"


def _number(difference: Regression) -> int:
    return int((difference.model_extra or {}).get("recorded_exchange", difference.exchange))


def acceptance_of(weighty: Sequence[Regression], baseline: Baseline | None, today: date) -> Acceptance:
    """What the rows of a baseline make of the differences that count against the target. Of several rows one
    that names the values decides."""
    places = {} if baseline is None else baseline.by_place(today)
    held: list[Regression] = []
    accepted: list[tuple[Regression, BaselineRow]] = []
    for each in weighty:
        rows = [row for row in places.get(place_of(each), ()) if row.accepts(each)]
        if rows:
            accepted.append((each, max(reversed(rows), key=lambda row: row.has_values)))
        else:
            held.append(each)
    return Acceptance(held, accepted)


@dataclass(frozen=True, slots=True)
class ComparedPlaces:
    """What a replay compared: the endpoints, none where it was cut short, and the places that differ, with
    the differences at each; those of drift have none. ``uncompared`` are the places of bodies, by endpoint,
    below which an answer shows nothing to compare; an empty one is the body as a whole."""

    endpoints: Set[str]
    places: Mapping[Place, Sequence[Regression]]
    uncompared: Set[tuple[str, str]] = frozenset()

    @classmethod
    def of(
        cls,
        tally: OutcomeTally,
        differences: Sequence[Regression],
        drift: Collection[Place],
        *,
        is_complete: bool,
    ) -> Self:
        """The places of a replay; one that is not complete says nothing of what it did not see."""
        counted = tally.endpoints.items() if is_complete else ()
        endpoints = {endpoint for endpoint, counts in counted if counts and COMPARED.issuperset(counts)}
        places: dict[Place, list[Regression]] = {place: [] for place in drift}
        uncompared: set[tuple[str, str]] = set()
        for each in differences:
            places.setdefault(place_of(each), []).append(each)
            uncompared.update((each.endpoint, path) for path in _uncompared_by(each))
        return cls(endpoints, places, uncompared)

    def within(self, baseline: Baseline) -> Baseline:
        """The baseline with its rows that the replay shows and decides."""
        rows = [row for row in baseline.rows if row.kind]
        shown = frozenset(row.key for row in rows if self._is_shown(row))
        decided = frozenset(row.key for row in rows if self._is_decided(row))
        return replace(baseline, compared=ComparedRows(shown, decided))

    def _is_shown(self, row: BaselineRow) -> bool:
        """Whether what a row lists is there. Of a place that only drifts no values are known."""
        there = self.places.get(row.place)
        return there is not None and (not there or any(map(row.accepts, there)))

    def _is_decided(self, row: BaselineRow) -> bool:
        """Whether the place of a row was compared in all answers of its endpoint."""
        if row.endpoint not in self.endpoints or row.place in self.places:
            return row.endpoint in self.endpoints
        if row.path == "status" or row.path.startswith("headers."):
            return True
        around = (path for endpoint, path in self.uncompared if endpoint == row.endpoint)
        return not any(_is_below(row.path, path) for path in around)


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


CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
"""What a code of an error or of an enumeration looks like."""
LARGEST = 2**31
SYMBOL, NUMBER = "code", "value"
"""The fields of an enumeration or a constant that do not change."""


def has_stable_values(difference: Regression) -> bool:
    """Whether both values are a status, a code, a boolean, or the symbol or number of an enumeration."""
    values = difference.recorded, difference.replayed
    if difference.kind in ("status", "code"):
        return all(map(_is_number if difference.kind == "status" else _is_code, values))
    if difference.kind != "value":
        return False
    if all(isinstance(value, bool) for value in values):
        return True
    name = _name_in_enumeration(difference.endpoint, difference.path)
    if name == SYMBOL:
        return all(map(_is_code, values))
    return name == NUMBER and all(map(_is_number, values))


def _is_code(value: Json) -> bool:
    return isinstance(value, str) and CODE.fullmatch(value) is not None


def _is_number(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST


def _name_in_enumeration(endpoint: str, path: str) -> str:
    """The last name of a path that ends within an enumeration or a constant; empty of any other."""
    place = steps(path)
    way = fields_along(BY_KEY.get(endpoint), place)
    is_coded = bool(way) and issubclass(way[-1][0], Enumeration | Constant)
    return str(place[-1]) if is_coded else ""
