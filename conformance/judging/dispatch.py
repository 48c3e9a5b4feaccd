"""What a judge does with an answer: the checks and readings that may speak of it, by how much they see."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

from conformance.checks import registry
from conformance.checks.registry import Check, Kind, Predicate, Reading, Selection, Sight
from conformance.judging.cache import PARTS, Habit
from conformance.traffic.exchange import Exchange

Rows = tuple[tuple[tuple[Predicate, ...], tuple[Check, ...], tuple[Reading, ...]], ...]
"""Checks and readings, those together that select by the same predicates."""


@dataclass(frozen=True, eq=False, slots=True)
class Part:
    """What judges one part of an answer, and how it is seen."""

    look: Callable[[Exchange], bytes | None]
    rows: Rows
    habit: Habit = field(default_factory=Habit)


@dataclass(frozen=True, eq=False, slots=True)
class Duties:
    """What judges the answers of an operation that are of one kind and came one way."""

    surface: Rows
    parts: tuple[Part, ...]
    answer: Rows
    moment: Rows
    rest: Rows
    """Those of the answer, and of the moment."""


Way = tuple[str, Kind, bool, bool]
"""An operation, a kind of answer, whether through the ingress, and whether the request has a body."""


@lru_cache(maxsize=4096)
def duties_of(way: Way, *, steady: bool) -> Duties:
    """What judges the answers that come this way, by how much it sees of an exchange.

    ``steady``: checks that remember steadily need not see an answer again.
    """
    key, kind, ingress, body = way

    def meant(on: Selection) -> bool:
        shown = (ingress or not on.ingress) and (body or not on.body)
        return shown and key in on.keys and kind in on.kinds

    def sight(row: Check) -> Sight:
        return row.on.sight if not row.remembers or (steady and row.remembers == "steadily") else "moment"

    checks = [row for row in registry.CHECKS if meant(row.on)]
    readings = [row for row in registry.READINGS if meant(row.on)]

    def rows(wanted: Sight) -> Rows:
        judging = [row for row in checks if sight(row) == wanted]
        reading = [row for row in readings if row.on.sight == wanted]
        return tuple(
            (
                predicates,
                tuple(row for row in judging if row.on.predicates == predicates),
                tuple(row for row in reading if row.on.predicates == predicates),
            )
            for predicates in dict.fromkeys(
                [row.on.predicates for row in judging] + [row.on.predicates for row in reading]
            )
        )

    parts = [Part(look, rows(wanted)) for wanted, look in PARTS.items()]
    answer, moment = rows("answer"), rows("moment")
    return Duties(
        rows("surface"), tuple(part for part in parts if part.rows), answer, moment, answer + moment
    )
