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
        if not isinstance(id, str) or updated is None or not has_offset(text):
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
    url: str
    value: int
    ahead: float

    def exchange(self) -> Exchange:
        return Exchange(n=self.n, started=self.started, request=Request(method="POST", url=self.url))


@check("MODEL-006", on=answers(*POSTED).enveloped().at_its_moment(), remembers=True)
def a_timestamp_is_of_its_answer(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Whatever the portal's clock says: a timestamp contradicts the ones before and after it, which agree."""
    value = exchange.at("timestamp")
    if not is_integer(value) or value not in MILLISECONDS:
        return
    latest = Stamp(
        exchange.n, exchange.started, exchange.request.url, int(value), value / 1000 - exchange.time
    )
    host = exchange.request.parts.netloc
    before: tuple[Stamp | None, Stamp | None] = memory.get(host) or (None, None)
    first, middle = before
    memory[host] = (middle, latest)
    if first is None or middle is None or abs(first.ahead - latest.ahead) > NEAR:
        return
    distance = abs(middle.ahead - latest.ahead)
    if distance <= NEAR:
        yield HELD
    elif distance > FAR:
        yield _out_of_line(first, middle, latest)
        memory[host] = (first, latest)


def _out_of_line(first: Stamp, middle: Stamp, latest: Stamp) -> Comparison:
    right = int(middle.value + (latest.ahead - middle.ahead) * 1000)
    message = (
        f"the timestamp {middle.value} lies {abs(middle.ahead - latest.ahead):.0f} seconds from the portal's "
        f"clock, as the answers before and after show it (exchanges {first.n} and {latest.n})"
    )
    return contradicts(middle.exchange(), "timestamp", f"about {right}", middle.value, message)
