"""Times of several answers: those of a record, and those of the answers themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import NamedTuple

from conformance.checks.envelope import MILLISECONDS
from conformance.checks.model.agreement import LAG, LISTED
from conformance.checks.model.places import place_of, viewer_of
from conformance.checks.records import DATED, has_offset, moment, portal_time, records
from conformance.checks.registry import Memory, answers, check, successes, with_data
from conformance.spec import OPERATIONS
from conformance.spec import endpoints as op
from conformance.traffic.exchange import NO_ENVELOPE, Exchange, Request
from conformance.traffic.facts import called, fact
from conformance.verdicts.comparisons import contradicts
from conformance.verdicts.findings import HELD, Comparison, OtherPlace, endpoint_of

PAGES_KEPT = 300
"""Of how many pages the times of their records are remembered."""

A_SECOND = timedelta(seconds=1)

UPDATED = (*DATED, *with_data("AccountPage", "Profile", "ChannelPage"), op.ACCOUNT, op.WORKSPACES_MINE)


def _times(exchange: Exchange, name: str) -> Mapping[str, str]:
    """A time of each record of an answer, as it is written, by id: the same object for repeated answers."""
    return {
        record["bizId"]: record[name]
        for _, record in records(exchange)[:LISTED]
        if isinstance(record.get("bizId"), str) and isinstance(record.get(name), str)
    }


@called
@fact
def updates(exchange: Exchange) -> Mapping[str, str]:
    return _times(exchange, "updatedAt")


@called
@fact
def creations(exchange: Exchange) -> Mapping[str, str]:
    return _times(exchange, "createdAt")


def _is_before(text: str, other: str) -> bool:
    """Whether a time is surely before another one, by a second at least."""
    early, late = moment(text), moment(other)
    if early is None or late is None or not has_offset(text) or not has_offset(other):
        return False
    return late - early >= A_SECOND


@check("MODEL-005", on=successes(*dict.fromkeys(UPDATED)).at_its_moment(), remembers=True)
def a_record_does_not_grow_older(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """At one place, and a minute after the later time was shown there: till then a replica may lag."""
    viewer, latest = viewer_of(exchange), updates(exchange)
    if viewer is None or not latest:
        return
    key = f"{viewer} {place_of(exchange)}"
    kept: tuple[Mapping[str, str], float, int] = memory.get(key) or ({}, exchange.time, 0)
    before, first, n = kept
    if before is latest or before == latest:
        yield HELD
        return
    both = before.keys() & latest.keys()
    older = [id for id in latest if id in both and _is_before(latest[id], before[id])]
    if not older:
        _keep(memory, key, (latest, exchange.time, exchange.n))
        if any(moment(latest[id]) is not None for id in both):
            yield HELD
    elif exchange.time > first + LAG:
        for id in older:
            expected = f"not before {before[id]}"
            yield _moved(exchange, id, "updatedAt", expected, (before[id], latest[id]), n)


def _moved(
    exchange: Exchange, id: str, name: str, expected: str, times: tuple[str, str], n: int
) -> Comparison:
    """A time of a record that another answer of the same place, exchange ``n``, showed otherwise."""
    path = next(path for path, record in records(exchange) if record.get("bizId") == id)
    before, now = times
    message = f"{now} is shown, after {before} was shown for this record"
    compared = contradicts(exchange, f"{path}.{name}", expected, now, message)
    return replace(compared, other=OtherPlace(n, endpoint_of(exchange), id, name))


def _keep(memory: Memory, key: str, value: object) -> None:
    memory.pop(key, None)
    memory[key] = value
    if len(memory) > PAGES_KEPT:
        del memory[next(iter(memory))]


GRANTED = frozenset({op.ACCOUNT, op.ACCOUNTS_QUERY})
"""Where a record may be one of a grant, which is made anew with each grant."""


@check(
    "MODEL-009",
    on=successes(*(key for key in dict.fromkeys(UPDATED) if key not in GRANTED)).at_its_moment(),
    remembers=True,
)
def the_time_of_creation_does_not_move(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """At one place, as another may show a day alone. What a write changed is no reason either."""
    latest = creations(exchange)
    if not latest:
        return
    key = f"{exchange.request.parts.netloc} {place_of(exchange)}"
    kept: tuple[Mapping[str, str], int] = memory.get(key) or ({}, 0)
    before, n = kept
    if before is not latest:
        for id in latest.keys() & before.keys():
            if _is_before(latest[id], before[id]) or _is_before(before[id], latest[id]):
                yield _moved(exchange, id, "createdAt", before[id], (before[id], latest[id]), n)
                return
        _keep(memory, key, (latest, exchange.n))
    if before:
        yield HELD


PAST = (
    "createdAt", "updatedAt", "acceptedAt", "loginTime", "lastActivityTime", "verifiedAt", "lastLoginAt",
    "passwordChangedAt",
)  # fmt: skip
"""Times of what has happened."""

SHOWN_AT = (
    *UPDATED,
    op.MFA,
    op.SESSIONS,
    op.SESSIONS_CONFIG,
    op.SESSIONS_HISTORY,
    op.INVITATIONS,
    op.OWN_INVITATIONS,
    op.FILE,
)

AHEAD_SECONDS, FAR_AHEAD_SECONDS = 600.0, 3600.0
"""Seconds by which two clocks of a portal may differ; and its clock from the sender's, where no timestamp
shows it."""


class Latest(NamedTuple):
    """A time that an answer shows, and its place."""

    text: str
    path: str


@called
@fact
def latest_of_the_past(exchange: Exchange) -> tuple[Latest, ...]:
    """The latest past timestamp of each notation; texts of one notation sort by time."""
    latest: dict[tuple[int, str], Latest] = {}
    for path, record in records(exchange):
        for name in PAST:
            text = record.get(name)
            if isinstance(text, str) and has_offset(text):
                written = len(text), text[-6:] if text[-1:] not in "Zz" else "Z"
                if written not in latest or text > latest[written].text:
                    latest[written] = Latest(text, f"{path}.{name}")
    return tuple(latest.values())


@check("MODEL-017", on=successes(*dict.fromkeys(SHOWN_AT)).at_its_moment())
def the_past_is_over(exchange: Exchange) -> Iterator[Comparison]:
    stamp, now = (exchange.envelope or NO_ENVELOPE).get("timestamp"), portal_time(exchange)
    shows_its_time = type(stamp) is int and stamp in MILLISECONDS
    latest = now + timedelta(seconds=AHEAD_SECONDS if shows_its_time else FAR_AHEAD_SECONDS)
    for text, path in latest_of_the_past(exchange):
        time = moment(text)
        if time is not None and time <= latest:
            yield HELD
        elif time is not None:
            yield contradicts(exchange, path, f"no time after {now.isoformat()}", text)


NEAR, FAR = 60.0, 300.0
"""Seconds by which the clocks of a portal's servers may differ; and those by which no two of them do."""

POSTED = tuple(row.key for row in OPERATIONS if row.method == "POST")
"""What no cache on the way answers."""


class Stamp(NamedTuple):
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
    operation = exchange.request.operation
    value = (exchange.envelope or NO_ENVELOPE).get("timestamp")
    if operation is None or type(value) is not int or value not in MILLISECONDS:
        return None
    ahead = value / 1000 - exchange.time
    return Stamp(exchange.n, exchange.started, operation.key, exchange.request.url, value, ahead)


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
