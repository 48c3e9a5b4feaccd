"""The outcome of each recorded exchange: it ends in exactly one state."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from conformance.replay.compare.difference import Difference, MeaningOfDifference


class State(StrEnum):
    SAME = "same"
    REGRESSED = "regressed"
    CHANGED = "changed"
    """It differs, and the specification permits that or asks for it: new fields, a repaired fault."""
    NOT_COMPARABLE = "not comparable"
    NOT_REPLAYABLE = "not replayable"
    SKIPPED = "skipped"
    """An earlier response lacked a value that it needs."""
    UNWANTED = "unwanted"
    """Excluded by the user (--only, --skip, --impact); it may have been sent for what others need of it."""


NO_RESPONSE = "no response came"
"""How the reason begins of an exchange that is not comparable, as its request got no answer."""

COMPARED = frozenset({State.SAME, State.REGRESSED, State.CHANGED})


class ExchangeOutcome(msgspec.Struct, frozen=True, gc=False):
    """``number`` is the exchange's place in the replay, from 1; ``line`` that of the live one in the log.

    ``root`` is the exchange whose response lacked a value that this one needs.
    """

    number: int
    state: State
    endpoint: str
    reason: str = ""
    differences: tuple[Difference, ...] = ()
    line: int | None = None
    root: int | None = None
    requirements: tuple[tuple[str, str], ...] = ()
    """The requirements that the live response contradicts, by place."""
    meanings: tuple[MeaningOfDifference, ...] = ()
    """What each of the differences means, in their order."""
    is_stable: bool = False
    """Whether an equal response to an equal request will be the same too, in the correlation's generation."""


@dataclass
class OutcomeTally:
    """Counts every state, and keeps the outcomes that are not plainly the same."""

    endpoints: defaultdict[str, Counter[State]] = field(default_factory=lambda: defaultdict(Counter))
    """How many ended in which state, by endpoint, in the order of the replay."""
    kept: list[ExchangeOutcome] = field(default_factory=list)
    roots: Counter[int] = field(default_factory=Counter)

    def add(self, outcome: ExchangeOutcome) -> None:
        self.endpoints[outcome.endpoint][outcome.state] += 1
        if outcome.root is not None:
            self.roots[outcome.root] += 1
        if outcome.state is not State.SAME:
            self.kept.append(outcome)

    def add_all(self, other: OutcomeTally) -> None:
        """Adds what another replay of the same recording counted and kept."""
        for endpoint, counts in other.endpoints.items():
            self.endpoints[endpoint] += counts
        self.kept += other.kept
        self.roots += other.roots

    @property
    def counts(self) -> Counter[State]:
        """How many ended in which state, of all endpoints."""
        return sum(self.endpoints.values(), Counter())

    @property
    def compared(self) -> int:
        return sum(self.counts[state] for state in COMPARED)

    @property
    def silent(self) -> int:
        """How many requests got no answer."""
        return sum(outcome.reason.startswith(NO_RESPONSE) for outcome in self.kept)

    @property
    def wanted(self) -> int:
        """How many exchanges were to be compared."""
        return self.counts.total() - self.counts[State.UNWANTED]

    @property
    def share(self) -> float:
        return self.compared / self.wanted if self.wanted else 0.0
