"""The same record shows the same values wherever it is read.

Two answers that differ prove nothing: somebody may have changed the record in between. A bracket does: the
record is read at one place, then at another with another value, then at the first again with the first one.
Shortly after a change not even a bracket counts, while caches and replicas may still lag.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from conformance.checks.envelope import is_mask
from conformance.checks.model.places import OF_SESSIONS, WRITES, Visit, viewer_of, visit_of
from conformance.checks.records import are_alike, has_offset, moment, records
from conformance.checks.registry import Memory, answers, check
from conformance.spec.endpoints import (
    ACCOUNT,
    ACCOUNTS_QUERY,
    CHANNEL_TYPES_QUERY,
    CHANNELS_QUERY,
    INVITATIONS,
    OWN_INVITATIONS,
    PROFILE,
    ROLE,
    ROLES,
    TRANSFER_ORDERS,
    WORKSPACES_CURRENT,
    WORKSPACES_MINE,
)
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.values import is_integer
from conformance.verdicts.comparisons import contradicts
from conformance.verdicts.findings import HELD, Comparison, Contradiction

RECORDS_KEPT, PLACES_KEPT = 2_000, 4
"""How many records are remembered for each kind, and at how many places each."""

LAG = 60.0
"""Seconds after a change in which caches and replicas may still show what was before."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of record, with the endpoints that show it and the fields that the document names."""

    name: str
    reads: tuple[str, ...]
    fields: tuple[str, ...]

    @property
    def article(self) -> str:
        return f"{'an' if self.name[0] in 'aeiou' else 'a'} {self.name}"


def _kind(name: str, *reads: str, fields: str) -> Kind:
    return Kind(name, reads, tuple(fields.split()))


KINDS = {
    "AGREE-001": _kind(
        "account",
        PROFILE,
        ACCOUNTS_QUERY,
        ACCOUNT,
        fields="institutionBizId accountEmail accountPhone accountName accountRemark accountPortal "
        "accountStatus defaultLanguage defaultTimezone defaultCountry createdAt updatedAt",
    ),
    "AGREE-002": _kind(
        "role", ROLES, ROLE, fields="workspaceBizId roleName roleType description createdAt updatedAt"
    ),
    "AGREE-003": _kind(
        "workspace",
        WORKSPACES_CURRENT,
        WORKSPACES_MINE,
        fields="institutionBizId entityBizId workspaceName workspaceTimezone workspaceStatus workspaceKind "
        "createdAt updatedAt",
    ),
    "AGREE-004": _kind(
        "invitation",
        OWN_INVITATIONS,
        INVITATIONS,
        fields="workspaceBizId workspaceName inviterBizId inviterName inviteeEmail inviteeAccountBizId "
        "inviteeAccountName invitationStatus message expiresAt acceptedAt createdAt",
    ),
    "AGREE-005": _kind(
        "notification channel",
        CHANNELS_QUERY,
        fields="institutionBizId channelName channelRemark channelHost channelCategory channelStatus "
        "createdBy updatedBy createdAt updatedAt",
    ),
    "AGREE-006": _kind(
        "channel type",
        CHANNEL_TYPES_QUERY,
        fields="typeCode typeValue typeName typeDescription typeStatus displayOrder enabled "
        "createdAt updatedAt",
    ),
    "AGREE-007": _kind(
        "transfer order",
        TRANSFER_ORDERS,
        fields="fromWalletId toWalletId currency amount feeAmount totalAmount status statusName "
        "failureReason remark createdAt completedAt",
    ),
}
"""By the requirement that its values agree. What moves by itself, and what differs by place, is left out."""

CHANGED_AT = frozenset({"createdAt", "updatedAt", "acceptedAt", "completedAt"})
"""Times of a record's changes."""

Values = tuple[Json, ...]


@dataclass(slots=True)
class Sighting:
    """What a place showed of a record, from the first visit to the last one, without a change."""

    values: Values
    first: Visit
    last: Visit


@dataclass(slots=True)
class Sightings:
    """What the places showed of one record to one viewer since the last write of anybody."""

    writes: int
    changed: float = 0.0
    """When a place was found to show something else than before, although no write was observed."""
    places: list[Sighting] = field(default_factory=list)

    def at(self, visit: Visit) -> Sighting | None:
        return next((one for one in self.places if one.last.is_of_the_same_place(visit)), None)

    def note(self, values: Values, visit: Visit) -> Sighting | None:
        """Keeps what a place shows. The sighting before, where the place still shows the same."""
        before = self.at(visit)
        if before is None:
            self.places = [*self.places[-PLACES_KEPT + 1 :], Sighting(values, visit, visit)]
        elif before.values == values:
            before.last = visit
            return before
        else:
            self.changed = visit.began
            before.values, before.first, before.last = values, visit, visit
        return None


@dataclass(slots=True)
class Writes:
    """The writes of anybody: how many there were, and the end of the last one that may show for a while."""

    number: int = 0
    ended: float = 0.0


def _agreement_rule(requirement: str, kind: Kind) -> None:
    selected = answers(*kind.reads, *WRITES).at_its_moment()

    @check(requirement, on=selected, remembers=True)
    def a_record_shows_the_same_everywhere(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
        operation = exchange.request.operation
        if operation is None or operation.key not in kind.reads:
            _note_write(memory, exchange)
        elif exchange.success and (viewer := viewer_of(exchange)) is not None:
            visit = visit_of(exchange, operation.key)
            compared = list(_compared(kind, exchange, visit, memory, viewer))
            yield from (one for one in compared if one is not HELD)
            if HELD in compared:
                yield HELD


def _note_write(memory: Memory, exchange: Exchange) -> None:
    writes = memory.pop("writes", None) or Writes()
    writes.number += 1
    operation = exchange.request.operation
    if operation is not None and operation.key not in OF_SESSIONS:
        writes.ended = exchange.time + exchange.elapsed_ms / 1000
    memory["writes"] = writes


def _compared(
    kind: Kind, exchange: Exchange, visit: Visit, memory: Memory, viewer: str
) -> Iterator[Comparison]:
    """Every record of an answer beside what other places showed of it meanwhile."""
    writes = memory.get("writes") or Writes()
    for path, record in records(exchange):
        id = record.get("bizId")
        if not isinstance(id, str):
            continue
        values = tuple(map(record.get, kind.fields))
        sightings = _sightings(memory, f"{viewer} {id}", writes.number)
        before = sightings.note(values, visit)
        if before is None:
            continue
        for other in sightings.places:
            if _is_bracketed(other.last, before.first, visit):
                settled = max(writes.ended, sightings.changed) + LAG <= other.last.began
                yield from _beside(kind, exchange, path, before, other, is_settled=settled)
        before.first = visit


def _sightings(memory: Memory, key: str, writes: int) -> Sightings:
    sightings = memory.get(key)
    if not isinstance(sightings, Sightings) or sightings.writes != writes:
        sightings = memory[key] = Sightings(writes)
        if len(memory) > RECORDS_KEPT:
            del memory[next(name for name in memory if name != "writes")]
    return sightings


def _is_bracketed(middle: Visit, first: Visit, last: Visit) -> bool:
    """Whether one visit took place between two others, by number and by the clock."""
    in_order = first.n < middle.n < last.n
    return in_order and first.ended <= middle.began and middle.ended <= last.began


def _beside(
    kind: Kind, exchange: Exchange, path: str, here: Sighting, there: Sighting, *, is_settled: bool
) -> Iterator[Comparison]:
    """The values of two places: what holds, or the fields in which they contradict each other."""
    different = [
        (name, one, other)
        for name, one, other in zip(kind.fields, here.values, there.values, strict=True)
        if one != other and are_different(one, other)
    ]
    if not different:
        yield HELD
    elif is_settled and not _has_just_changed(kind, here) and not _has_just_changed(kind, there):
        for name, one, other in different:
            yield _contradiction(kind, exchange, f"{path}.{name}", (one, other), (here.first, there.last))


def _contradiction(
    kind: Kind, exchange: Exchange, path: str, values: tuple[Json, Json], visits: tuple[Visit, Visit]
) -> Contradiction:
    first, between = visits
    message = (
        f"{kind.article} shows another value at {between.key} (exchange {between.n}), which was read between "
        f"two answers here that are alike (exchanges {first.n} and {exchange.n}), without a write in between"
    )
    found = contradicts(exchange, path, values[1], values[0], message)
    return replace(found, also=(first.exchange(), between.exchange()))


def _has_just_changed(kind: Kind, sighting: Sighting) -> bool:
    """Whether a record is so young, or was changed so lately, that another place may not show it yet."""
    times = [
        found
        for name, value in zip(kind.fields, sighting.values, strict=True)
        if name in CHANGED_AT and (found := moment(value)) is not None
    ]
    return any(sighting.last.portal_time - found.timestamp() < LAG for found in times)


def are_different(one: Json, other: Json) -> bool:
    """Whether two values of one field surely mean different things.

    What is null, empty, masked, cut, or of another form at one of the places says nothing.
    """
    if isinstance(one, str) and isinstance(other, str):
        return _are_different_texts(one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        values = one.get("value"), other.get("value")
        return all(map(is_integer, values)) and values[0] != values[1]
    if isinstance(one, bool) or isinstance(other, bool):
        return isinstance(one, bool) and isinstance(other, bool) and one is not other
    return isinstance(one, int | float) and isinstance(other, int | float) and one != other


def _are_different_texts(one: str, other: str) -> bool:
    if not one.strip() or not other.strip() or _is_masked(one) or _is_masked(other) or are_alike(one, other):
        return False
    early, late = moment(one), moment(other)
    if early is not None and late is not None:
        return has_offset(one) and has_offset(other) and abs((late - early).total_seconds()) >= 1
    if early is not None or late is not None:
        return False
    return not (_is_part(one, other) or _is_part(other, one))


def _is_masked(text: str) -> bool:
    return is_mask(text) or any(letter in text for letter in "*•●…") or "..." in text


def _is_part(one: str, other: str) -> bool:
    """Whether a text is the beginning of another one, or a number's end without its country."""
    number, longer = _digits(one), _digits(other)
    return other.startswith(one) or (len(number) >= 5 and longer.endswith(number.lstrip("0")))


def _digits(text: str) -> str:
    """The digits of what is a telephone number; empty where it has letters."""
    return "" if any(letter.isalpha() for letter in text) else "".join(filter(str.isdigit, text))


for _requirement, _described in KINDS.items():
    _agreement_rule(_requirement, _described)
