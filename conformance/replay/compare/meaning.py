"""What a difference means: a contradiction, a breaking change, a permitted change, or drift."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from conformance.replay.compare.clocks import ENDS
from conformance.replay.compare.json_comparison import STAYING
from conformance.replay.compare.outcome import (
    Difference,
    Meaning,
    MeaningOfDifference,
    ReplayedExchange,
    breaking,
    drift,
)
from conformance.replay.compare.rules import GAPS, RULES, gap_of_value
from conformance.replay.rebuild.correlation import Correlation
from conformance.replay.recording.kinds import record_of
from conformance.replay.recording.plan import area_of
from conformance.replay.recording.turns import OWN_AREAS
from conformance.replay.recording.values import leaves
from conformance.spec.endpoints import PUBLIC_KEY, WORKSPACES_CURRENT, WORKSPACES_MINE
from conformance.traffic.exchange import dig

GRAVEST_FIRST = tuple(Meaning)

PEOPLE = frozenset(
    [
        "accountName",
        "accountPhone",
        "accountEmail",
        "accountRemark",
        "defaultLanguage",
        "defaultTimezone",
        "defaultCountry",
        "inviterName",
        "inviteeEmail",
        "inviteeAccountName",
    ]
)
"""Fields that say who somebody is."""

STAND_IN = "another account stands for the recorded one"
ANOTHER_RECORD = "a record of [records] is asked for in place of the recorded one, and this is its own"
NOTHING_THERE = frozenset({400, 403, 404})
"""Statuses by which a portal says that the caller has no such record, or may not see it."""


@dataclass(frozen=True, slots=True)
class Meanings:
    """Decides the meaning of what contradicts nothing. ``stand_ins`` are the accounts that stand for other
    people than those who were recorded. ``taken_from`` gives the number of the exchange whose response first
    showed an id or a token that a recorded request sent; None of any other text."""

    stand_ins: frozenset[str] = frozenset()
    taken_from: Callable[[str], int | None] = lambda text: None
    correlation: Correlation = field(default_factory=lambda: Correlation(used=()))
    changed_instead: set[tuple[str | None, str]] = field(default_factory=set)
    """By kind and id, the records of which one was changed in place of another."""

    def note_change_instead(self, pair: ReplayedExchange, recorded: str) -> None:
        """Notes that a request changed a record in place of a recorded one: then both show other values."""
        kind, replaced = record_of("bizId", pair.operation), self.correlation.replaced
        live = replaced.get(recorded) or replaced.get((kind or "", recorded))
        if live is not None:
            self.changed_instead.update({(kind, recorded), (kind, live)})

    def contradicted(
        self, pair: ReplayedExchange, requirement: str, *, is_stated: bool
    ) -> MeaningOfDifference:
        """The meaning of a difference that a requirement speaks against. What is only shown binds nobody."""
        if is_stated:
            return MeaningOfDifference(Meaning.CONTRADICTION, requirement, requirement)
        if pair.operation == PUBLIC_KEY:
            return MeaningOfDifference(Meaning.PERMITTED, GAPS["N2"], requirement)
        basis = f"the specification shows or implies it, and does not state it ({requirement})"
        return MeaningOfDifference(Meaning.BREAKING, basis, requirement)

    def of(self, pair: ReplayedExchange, difference: Difference) -> MeaningOfDifference:
        """The meaning of a difference, by the first rule that speaks of it."""
        decided = (rule(pair, difference) for rule in RULES)
        meaning = next((each for each in decided if each is not None), None)
        is_open = meaning is None or meaning.meaning is Meaning.BREAKING
        if is_open and _is_value_of_data(difference) and self._is_of_another(pair, difference):
            return drift(ANOTHER_RECORD)
        if self._lacks_what_is_taken(pair, difference):
            return breaking("a recorded request takes an id or a token from here, and it is gone")
        if meaning is not None and not is_open:
            return meaning
        if self.stand_ins and difference.place and difference.place[-1] in PEOPLE:
            return drift(f"{STAND_IN}, and is another person")
        if pair.account in self.stand_ins and _is_of_own_account(pair, difference):
            return drift(f"{STAND_IN}, and this is its own")
        return meaning or breaking(gap_of_value(pair))

    def _is_of_another(self, pair: ReplayedExchange, difference: Difference) -> bool:
        """Tells whether a value belongs to a substitute for the recorded record, or to either record of a
        pair whose substitute a request changed."""
        if pair.shows_another:
            return not self._is_inconsistent(pair, difference)
        if not self.changed_instead:
            return False
        kind = record_of("bizId", pair.operation)
        ids = (
            dig(body, (*difference.place[:end], "bizId"))
            for end in range(len(difference.place))
            for body in (pair.recorded_body, pair.live_body)
        )
        return any((kind, str(id)) in self.changed_instead for id in ids)

    def _is_inconsistent(self, pair: ReplayedExchange, difference: Difference) -> bool:
        """Whether another record shows one id or one time in two ways where the recorded one does not. The
        entries of its lists may correspond otherwise each time."""
        if difference.kind == "value" and difference.place[-1] in (*STAYING, ENDS):
            return True
        if any(isinstance(step, int) for step in difference.place):
            return False
        id = str(difference.recorded)
        kind = record_of(str(difference.place[-1]), pair.operation)
        return id in self.correlation.replaced or (kind or "", id) in self.correlation.replaced

    def _lacks_what_is_taken(self, pair: ReplayedExchange, difference: Difference) -> bool:
        """Whether nothing stands any more where the recorded client took an id or a token from. A public key
        may be found elsewhere in its response."""
        is_gone = difference.kind in ("missing", "type") and difference.replayed in (None, {}, [])
        if not is_gone or pair.operation == PUBLIC_KEY:
            return False
        return any(self.taken_from(text) == pair.number for _, text in leaves(difference.recorded, ""))


def _is_of_own_account(pair: ReplayedExchange, difference: Difference) -> bool:
    """Whether a difference says only that the caller has other records, factors or settings of its own."""
    area = area_of(pair.recorded.request.path)
    is_own = area in OWN_AREAS or pair.operation in (WORKSPACES_MINE, WORKSPACES_CURRENT)
    if difference.kind in ("status", "code"):
        return is_own and area != "auth" and pair.live.status in NOTHING_THERE
    return is_own and _is_value(difference)


def _is_value(difference: Difference) -> bool:
    """Tells whether a difference concerns a value or a length, not the form. Null in place of a list changes
    the form."""
    values = (difference.recorded, difference.replayed)
    is_null = None in values and not any(isinstance(value, list) for value in values)
    return difference.kind in ("value", "length") or (difference.kind == "type" and is_null)


def _is_value_of_data(difference: Difference) -> bool:
    return difference.place[:1] == ("data",) and _is_value(difference)
