"""Times of several answers: those of a record, and those of the answers themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.checks.envelope import MILLISECONDS
from conformance.checks.model.agreement import LAG, RECORDS_KEPT
from conformance.checks.model.places import viewer_of
from conformance.checks.records import DATED, has_offset, moment, records
from conformance.checks.registry import Memory, answers, check, successes, with_data
from conformance.spec import OPERATIONS
from conformance.spec.endpoints import ACCOUNT, WORKSPACES_MINE
from conformance.traffic.exchange import Exchange, Json, Request
from conformance.traffic.values import is_integer
from conformance.verdicts.comparisons import contradicts
from conformance.verdicts.findings import HELD, Comparison

UPDATED = (*DATED, *with_data("AccountPage", "Profile", "ChannelPage"), ACCOUNT, WORKSPACES_MINE)


@check("MODEL-005", on=successes(*dict.fromkeys(UPDATED)).at_its_moment(), remembers=True)
def a_record_does_not_grow_older(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """At one endpoint, and a minute after the later time was shown there: till then a replica may lag."""
    operation, viewer, held = exchange.request.operation, viewer_of(exchange), False
    if operation is None or viewer is None:
        return
    for path, record in records(exchange):
        id, text = record.get("bizId"), record.get("updatedAt")
        updated = moment(text)
        if not isinstance(id, str) or not isinstance(text, str) or updated is None or not has_offset(text):
            continue
        key = f"{operation.key} {viewer} {id}"
        latest, shown, first = memory.get(key) or (updated, text, exchange.time)
        if updated > latest or key not in memory:
            _keep(memory, key, (updated, text, exchange.time))
        elif (latest - updated).total_seconds() < 1:
            held = True
        elif exchange.time > first + LAG:
            message = f"{text} is shown, after {shown} was shown for this record"
            yield contradicts(exchange, f"{path}.updatedAt", f"not before {shown}", text, message)
    if held:
        yield HELD


def _keep(memory: Memory, key: str, value: Json) -> None:
    memory.pop(key, None)
    memory[key] = value
    if len(memory) > RECORDS_KEPT:
        del memory[next(iter(memory))]


NEAR, FAR = 60.0, 300.0
"""Seconds by which the clocks of a portal's servers may differ; and those by which no two of them do."""

POSTED = tuple(row.key for row in OPERATIONS if row.method == "POST")
"""What no cache on the way answers."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """The timestamp of one answer, and how far it lies from the sender's clock."""

    n: int
    started: str
    key: str
    url: str
    value: int
    ahead: float

    def distance(self, other: Stamp) -> float:
        return abs(self.ahead - other.ahead)

    def exchange(self) -> Exchange:
        return Exchange(n=self.n, started=self.started, request=Request(method="POST", url=self.url))


def _stamp_of(exchange: Exchange) -> Stamp | None:
    operation, value = exchange.request.operation, exchange.at("timestamp")
    if operation is None or not is_integer(value) or value not in MILLISECONDS:
        return None
    ahead = value / 1000 - exchange.time
    return Stamp(exchange.n, exchange.started, operation.key, exchange.request.url, int(value), ahead)


@check("MODEL-006", on=answers(*POSTED).enveloped().at_its_moment(), remembers=True)
def a_timestamp_is_of_its_answer(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Whatever the portal's clock says: one endpoint's timestamps contradict those of others before and after
    them, which agree. Where those of two endpoints differ from before, the clock was set."""
    latest, host = _stamp_of(exchange), exchange.request.parts.netloc
    if latest is None:
        return
    steady, odd = memory.get(host) or (None, None)
    memory[host] = (latest, None)
    if steady is None:
        return
    if steady.distance(latest) <= NEAR:
        if odd is None:
            yield HELD
        elif odd.key != latest.key:
            yield _out_of_line(steady, odd, latest)
    elif steady.distance(latest) > FAR and steady.key != latest.key == (odd or latest).key:
        memory[host] = (steady, odd or latest)


def _out_of_line(before: Stamp, odd: Stamp, after: Stamp) -> Comparison:
    right = int(odd.value + (after.ahead - odd.ahead) * 1000)
    message = (
        f"the timestamp {odd.value} lies {odd.distance(after):.0f} seconds from the portal's clock, as other "
        f"answers before and after show it (exchanges {before.n} and {after.n})"
    )
    return contradicts(odd.exchange(), "timestamp", f"about {right}", odd.value, message)
