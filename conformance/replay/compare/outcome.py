"""A recorded exchange beside the live one, their differences with what each means, and the outcome."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import StrEnum

import msgspec

from conformance.replay.recording.plan import UNREPEATED
from conformance.traffic.difference_kinds import DifferenceKind
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.verdicts.findings import endpoint_of

Kind = DifferenceKind
Steps = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class OtherAnswer:
    """Where an earlier response shows the same otherwise: the number of its exchange, the recorded id of the
    record there, and once they are looked up the endpoint and the path."""

    number: int
    record: str = ""
    endpoint: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the responses differ. ``place`` is empty for the body as a whole. ``other``: the place
    of another response with which the live one disagrees; either may be wrong."""

    kind: Kind
    place: Steps
    recorded: Json
    replayed: Json
    other: OtherAnswer | None = None

    @property
    def path(self) -> str:
        """As reports write it: ``data.items[0].bizId``, ``status``, ``headers.content-type``."""
        text = ""
        for step in self.place:
            text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
        return text

    def within(self, *steps: str | int) -> Difference:
        return Difference(self.kind, (*steps, *self.place), self.recorded, self.replayed, self.other)


class Meaning(StrEnum):
    """The four kinds of difference, the gravest first."""

    CONTRADICTION = "contradiction"
    """The replayed response contradicts the specification where the recorded one does not."""
    BREAKING = "breaking"
    """The exchange alone contradicts nothing, and a client of the recorded portal may not work any more."""
    PERMITTED = "permitted"
    """The specification leaves it open, and a tolerant client does not care."""
    DRIFT = "drift"
    """State, time or data."""


@dataclass(frozen=True, slots=True)
class MeaningOfDifference:
    """``basis`` is the requirement that is contradicted, or the sentence or gap that permits it."""

    meaning: Meaning
    basis: str
    requirement: str = ""
    """The requirement that states or shows it otherwise."""


def permitted(basis: str) -> MeaningOfDifference:
    return MeaningOfDifference(Meaning.PERMITTED, basis)


def breaking(basis: str) -> MeaningOfDifference:
    return MeaningOfDifference(Meaning.BREAKING, basis)


def drift(basis: str) -> MeaningOfDifference:
    return MeaningOfDifference(Meaning.DRIFT, basis)


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


class ReplayedExchange(msgspec.Struct, frozen=True):
    """``number`` is the exchange's place in the replay, from 1."""

    number: int
    recorded: Exchange
    live: Exchange
    idle_seconds: float = 0.0
    """How long the client waited before it when it was recorded, where the replay did not wait."""
    unsourced: tuple[str, ...] = ()
    """Ids in the request that neither a response nor the profile contains."""
    made_up: tuple[str, ...] = ()
    """The kinds of redacted secrets in the request in whose place a made-up one was sent."""
    omitted_change: str | None = None
    """A change that was recorded before it, may show in it, and is not replayed."""

    shows_another: bool = False
    """Whether it asks for a record of the profile in place of a recorded one."""

    account: str | None = None
    """The profile's account that it was sent for."""

    email: str | None = None

    repeats: int = UNREPEATED
    """The number of the reads that repeat one another, where it is one of them (``repeats_of``)."""

    @property
    def endpoint(self) -> str:
        return endpoint_of(self.recorded)

    @property
    def operation(self) -> str:
        operation = self.recorded.request.operation
        return operation.key if operation else self.recorded.request.path

    @property
    def recorded_body(self) -> Json:
        return _body(self.recorded)

    @property
    def live_body(self) -> Json:
        return _body(self.live)


def _body(exchange: Exchange) -> Json:
    response = exchange.response
    return None if response is None or response.body is ABSENT else response.body
