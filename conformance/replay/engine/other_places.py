"""Where else a difference shows: in the earlier response that says otherwise, or gave the token."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from conformance.replay.compare.baseline import SENT_TOKEN
from conformance.replay.compare.difference import Difference, OtherAnswer
from conformance.replay.compare.json_comparison import ADDRESSES
from conformance.replay.compare.outcome import ExchangeOutcome
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.replay.recording.plan import ReplayPlan
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.findings import endpoint_of

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
    elif difference.kind == "repetition" and pair.repeats and difference.place[-1] not in ADDRESSES:
        other = OtherAnswer(plan.number_of(pair.repeats - 1))
    if other is None or not 0 < other.number <= len(plan.order):
        return difference
    recorded = plan.store.exchange(plan.order[other.number - 1])
    path = TOKEN if difference.path == SENT_TOKEN else difference.path
    if other.record:
        path = next(_paths(recorded, other.record, str(difference.place[-1])), "")
    place = OtherAnswer(other.number, other.record, endpoint_of(recorded), path)
    return Difference(difference.kind, difference.place, difference.recorded, difference.replayed, place)


def _paths(recorded: Exchange, record: str, name: str) -> Iterator[str]:
    """Where a response shows a field of a record."""
    return _within(recorded.data, "data", record, name)


def _within(value: Json, path: str, record: str, name: str) -> Iterator[str]:
    if isinstance(value, dict):
        if str(value.get("bizId")) == record and name in value:
            yield f"{path}.{name}"
        for key, inner in value.items():
            yield from _within(inner, f"{path}.{key}", record, name)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _within(inner, f"{path}[{at}]", record, name)
