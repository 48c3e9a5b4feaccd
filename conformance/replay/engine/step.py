"""A step of the replay: everything that was done for one recorded exchange, and where else it shows."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Protocol, TypeAlias

import msgspec
from msgspec.structs import replace

from conformance.replay.compare.baseline import SENT_TOKEN
from conformance.replay.compare.outcome import Difference, ExchangeOutcome, OtherAnswer, ReplayedExchange
from conformance.replay.rebuild.actions import Action, Received, Reply, Send
from conformance.replay.rebuild.rebuild import Rebuilt
from conformance.replay.recording.plan import ReplayPlan
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.findings import Finding, endpoint_of


class Attempt(msgspec.Struct, frozen=True, gc=False):
    """One request that was sent for a recorded exchange, and its response: ``live``, as it was logged.

    ``rebuilt`` is None where the request was not rebuilt for it, ``findings`` where it is not yet judged.
    """

    send: Send
    received: Received
    live: Exchange
    rebuilt: Rebuilt | None = None
    findings: Sequence[Finding] | None = None


class ReplayStep(msgspec.Struct, frozen=True, gc=False):
    """What became of the recorded exchange at ``position``.

    ``attempt`` is the last of its attempts, None where nothing was sent; ``pair`` is what was compared, and
    ``findings`` are the judge's.
    """

    position: int
    outcome: ExchangeOutcome
    attempt: Attempt | None = None
    pair: ReplayedExchange | None = None
    findings: Sequence[Finding] = ()


StepActions: TypeAlias = Generator[Action, Reply, ReplayStep]


class Stepper(Protocol):
    """Takes the steps of a replay: the machine, or what stands before it."""

    def step(self, position: int) -> StepActions: ...


TOKEN = "data.accessToken"


def with_other_places(outcome: ExchangeOutcome, pair: ReplayedExchange, plan: ReplayPlan) -> ExchangeOutcome:
    """The outcome, with the other places of its differences looked up in the recording."""
    differences = tuple(_with_other_place(each, pair, plan) for each in outcome.differences)
    return outcome if differences == outcome.differences else replace(outcome, differences=differences)


def _with_other_place(difference: Difference, pair: ReplayedExchange, plan: ReplayPlan) -> Difference:
    other = difference.other
    if difference.path == SENT_TOKEN:
        number = plan.taken_from(pair.recorded.request.bearer or "")
        other = None if number is None else OtherAnswer(number)
    if other is None or not 0 < other.number <= len(plan.order):
        return difference
    recorded = plan.store.exchange(plan.order[other.number - 1])
    path = TOKEN if difference.path == SENT_TOKEN else difference.path
    if other.record:
        path = next(_paths(recorded.data, "data", other.record, str(difference.place[-1])), "")
    place = OtherAnswer(other.number, other.record, endpoint_of(recorded), path)
    return Difference(difference.kind, difference.place, difference.recorded, difference.replayed, place)


def _paths(value: Json, path: str, record: str, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        if str(value.get("bizId")) == record and name in value:
            yield f"{path}.{name}"
        for key, inner in value.items():
            yield from _paths(inner, f"{path}.{key}", record, name)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _paths(inner, f"{path}[{at}]", record, name)
