"""The same record shows the same values wherever it is read.

Two answers that differ prove nothing: somebody may have changed the record in between. A bracket does: the
record is read at one place, then at another with another value, then at the first again with the first one.
Shortly after a change not even a bracket counts, while caches and replicas may still lag.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeGuard

from conformance.checks.envelope import is_mask
from conformance.checks.model.places import OF_SESSIONS, WRITES, Visit, place_of, viewer_of, visit_of
from conformance.checks.records import any_moment, are_alike, folded, has_offset, moment, records
from conformance.checks.registry import Memory, answers, check, key_of
from conformance.spec import endpoints as op
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.facts import called, fact
from conformance.traffic.values import is_integer, is_number
from conformance.verdicts.comparisons import contradicts
from conformance.verdicts.findings import HELD, Comparison, Contradiction, OtherPlace, endpoint_of

VIEWERS_KEPT, PLACES_KEPT, LISTED = 30, 12, 100
"""Of how many viewers it is remembered what they were shown, at how many places of a kind each, and how many
records of a place."""

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
        op.PROFILE,
        op.ACCOUNTS_QUERY,
        op.ACCOUNT,
        fields="institutionBizId accountEmail accountPhone accountName accountRemark accountPortal "
        "accountStatus defaultLanguage defaultTimezone defaultCountry createdAt updatedAt",
    ),
    "AGREE-002": _kind(
        "role",
        op.ROLES,
        op.ROLE,
        fields="workspaceBizId roleName roleType description permissionCodes createdAt updatedAt",
    ),
    "AGREE-003": _kind(
        "workspace",
        op.WORKSPACES_CURRENT,
        op.WORKSPACES_MINE,
        fields="institutionBizId entityBizId workspaceName workspaceTimezone workspaceStatus workspaceKind "
        "createdAt updatedAt",
    ),
    "AGREE-004": _kind(
        "invitation",
        op.OWN_INVITATIONS,
        op.INVITATIONS,
        fields="workspaceBizId workspaceName inviterBizId inviterName inviteeEmail inviteeAccountBizId "
        "inviteeAccountName invitationStatus message expiresAt acceptedAt createdAt",
    ),
    "AGREE-005": _kind(
        "notification channel",
        op.CHANNELS_QUERY,
        fields="institutionBizId channelName channelRemark channelHost channelCategory channelStatus "
        "emailConfig createdBy updatedBy createdAt updatedAt",
    ),
    "AGREE-006": _kind(
        "channel type",
        op.CHANNEL_TYPES_QUERY,
        fields="typeCode typeValue typeName typeDescription typeStatus displayOrder enabled "
        "createdAt updatedAt",
    ),
    "AGREE-007": _kind(
        "transfer order",
        op.TRANSFER_ORDERS,
        fields="fromWalletId toWalletId currency amount feeAmount totalAmount status statusName "
        "failureReason remark createdAt completedAt",
    ),
}
"""By the requirement that its values agree. What moves by itself, and what differs by place, is left out."""

FIELDS = {key: kind.fields for kind in KINDS.values() for key in kind.reads}

CHANGED_AT = frozenset({"createdAt", "updatedAt", "acceptedAt", "completedAt"})

Shown = Mapping[str, tuple[Json, ...]]
"""The values of the records of a place by their ids, in the order of their kind's fields."""


@called
@fact
def shown_by(exchange: Exchange) -> Shown:
    """What an answer shows of its records: the same object for answers that repeat each other."""
    fields = FIELDS[key_of(exchange)]
    return {
        record["bizId"]: tuple(map(record.get, fields))
        for _, record in records(exchange)[:LISTED]
        if isinstance(record.get("bizId"), str)
    }


class Sighting:
    """What a place showed, from the first visit to the last one, without a change."""

    __slots__ = ("agreed", "first", "last", "shown")

    def __init__(self, shown: Shown, visit: Visit) -> None:
        self.shown, self.first, self.last = shown, visit, visit
        self.agreed: list[Shown] = []
        """What other places showed, and agreed."""


class View:
    """What the places of a kind showed to one viewer since the last write of anybody."""

    __slots__ = ("changed", "places", "writes")

    def __init__(self, writes: int) -> None:
        self.writes = writes
        self.changed = 0.0
        """When a place was found to show something else than before, although no write was observed."""
        self.places: dict[tuple[str, int], Sighting] = {}

    def note(self, exchange: Exchange, visit: Visit) -> Sighting | None:
        """Keeps what a place shows. The sighting before, where the place still shows the same."""
        place, shown = place_of(exchange), shown_by(exchange)
        before = self.places.get(place)
        if before is not None and (before.shown is shown or before.shown == shown):
            before.last = visit
            return before
        if before is not None:
            self.changed = visit.began
        elif len(self.places) >= PLACES_KEPT:
            del self.places[next(iter(self.places))]
        self.places[place] = Sighting(shown, visit)
        return None


class Writes:
    """Writes of all callers: count, and end of the last write whose effect may be delayed."""

    __slots__ = ("ended", "number")

    def __init__(self) -> None:
        self.number, self.ended = 0, 0.0


def _agreement_rule(requirement: str, kind: Kind) -> None:
    selected = answers(*kind.reads, *WRITES).at_its_moment()

    @check(requirement, on=selected, remembers=True)
    def a_record_shows_the_same_everywhere(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
        writes = memory.get("writes")
        if writes is None:
            writes = memory["writes"] = Writes()
        if key_of(exchange) not in kind.reads:
            _note_write(writes, exchange)
        elif exchange.success and (viewer := viewer_of(exchange)) is not None:
            view = _view_of(memory, viewer, writes.number)
            visit = visit_of(exchange)
            before = view.note(exchange, visit)
            if before is not None:
                yield from _bracketed(kind, exchange, view, before, writes)


def _note_write(writes: Writes, exchange: Exchange) -> None:
    writes.number += 1
    if key_of(exchange) not in OF_SESSIONS:
        writes.ended = exchange.time + exchange.elapsed_ms / 1000


def _view_of(memory: Memory, viewer: str, writes: int) -> View:
    view = memory.get(viewer)
    if view is None or view.writes != writes:
        memory.pop(viewer, None)
        view = memory[viewer] = View(writes)
        if len(memory) > VIEWERS_KEPT:
            del memory[next(name for name in memory if name != "writes")]
    return view


def _bracketed(
    kind: Kind, exchange: Exchange, view: View, before: Sighting, writes: Writes
) -> Iterator[Comparison]:
    """What other places showed between two visits of this one, beside what it showed both times."""
    first, before.first = before.first, before.last
    for other in view.places.values():
        if not _is_between(other.last, first, before.last):
            continue
        if any(shown is other.shown for shown in before.agreed):
            yield HELD
            continue
        settled = max(writes.ended, view.changed) + LAG <= other.last.began
        compared = list(_compared(kind, exchange, before, other, first=first, is_settled=settled))
        if compared == [HELD]:
            before.agreed = [*before.agreed[-PLACES_KEPT:], other.shown]
        yield from compared


def _is_between(middle: Visit, first: Visit, last: Visit) -> bool:
    """Whether one visit took place between two others, by number and by the clock."""
    in_order = first.n < middle.n < last.n
    return in_order and first.ended <= middle.began and middle.ended <= last.began


def _compared(
    kind: Kind, exchange: Exchange, here: Sighting, there: Sighting, *, first: Visit, is_settled: bool
) -> Iterator[Comparison]:
    """The records that both places show: the fields that contradict each other, or that all agree."""
    shared = here.shown.keys() & there.shown.keys()
    different = [id for id in here.shown if id in shared and here.shown[id] != there.shown[id]]
    agree = bool(shared)
    for id in different:
        values = here.shown[id], there.shown[id]
        is_known = is_settled and not any(_has_just_changed(kind, row, there.last) for row in values)
        path = next(path for path, record in records(exchange) if record.get("bizId") == id)
        for name, value, other in zip(kind.fields, *values, strict=True):
            is_other = are_different(value, other)
            are_mixed = type(value) is not type(other) and None not in (value, other)
            agree = agree and not is_other
            if is_known if is_other else are_mixed:
                odd = _contradiction(kind, exchange, f"{path}.{name}", (value, other), (first, there.last))
                place = OtherPlace(there.last.n, endpoint_of(there.last.exchange()), id, name)
                yield replace(odd, other=place, is_of_types=not is_other)
    if agree:
        yield HELD


def _contradiction(
    kind: Kind, exchange: Exchange, path: str, values: tuple[Json, Json], visits: tuple[Visit, Visit]
) -> Contradiction:
    first, between = visits
    place = endpoint_of(between.exchange())
    message = (
        f"{kind.article} shows another value at {place} (exchange {between.n}), which was read between two "
        f"answers here that are alike (exchanges {first.n} and {exchange.n}), without a write in between"
    )
    odd = contradicts(exchange, path, values[1], values[0], message)
    return replace(odd, also=(first.exchange(), between.exchange()))


def _has_just_changed(kind: Kind, values: tuple[Json, ...], visit: Visit) -> bool:
    """Whether a record is so young, or was changed so lately, that another place may not show it yet."""
    times = [
        changed_at
        for name, value in zip(kind.fields, values, strict=True)
        if name in CHANGED_AT and (changed_at := moment(value)) is not None
    ]
    return any(visit.portal_time - changed_at.timestamp() < LAG for changed_at in times)


def are_different(value: Json, other: Json) -> bool:
    """Whether two values of one field surely mean different things.

    What is null, empty, masked, cut, or of another form at one of the places says nothing.
    """
    if isinstance(value, str) and isinstance(other, str):
        return _are_different_texts(value, other)
    if isinstance(value, dict) and isinstance(other, dict):
        return _are_different_objects(value, other)
    if isinstance(value, list) and isinstance(other, list):
        texts = all(isinstance(text, str) and text for text in (*value, *other))
        return texts and set(map(folded, value)) != set(map(folded, other))
    if isinstance(value, str) or isinstance(other, str):
        return _are_different_times(value, other)
    are_flags = isinstance(value, bool) and isinstance(other, bool)
    return (are_flags or (is_number(value) and is_number(other))) and value != other


SECRET = "password"
"""A field of an object that may be masked in another way each time, and not in one answer alone."""


def _are_different_objects(first: dict[str, Json], second: dict[str, Json]) -> bool:
    """Coded fields by value and code; other objects by the fields that both have."""
    values = first.get("value"), second.get("value")
    if any(value is not None for value in values):
        is_other = values[0] != values[1] or are_different(first.get("code"), second.get("code"))
        return all(map(is_integer, values)) and is_other
    shared = (first.keys() & second.keys()) - {SECRET}
    if any(are_different(first[name], second[name]) for name in shared):
        return True
    secret, other = first.get(SECRET), second.get(SECRET)
    return _is_shown(secret) and _is_shown(other) and _is_masked(secret) is not _is_masked(other)


def _is_shown(value: Json) -> TypeGuard[str]:
    return isinstance(value, str) and bool(value.strip())


def _are_different_texts(text: str, other: str) -> bool:
    if not (text.strip() and other.strip()) or any(map(_is_masked, (text, other))) or are_alike(text, other):
        return False
    if moment(text) is not None or moment(other) is not None:
        return _are_different_times(text, other)
    return not (_is_part(text, other) or _is_part(other, text))


def _are_different_times(value: Json, other: Json) -> bool:
    """Whether two values, of which one may be a number, are times of surely different moments."""
    early, late = any_moment(value), any_moment(other)
    are_zoned = all(has_offset(time) for time in (value, other) if isinstance(time, str))
    return early is not None and late is not None and are_zoned and abs((late - early).total_seconds()) >= 1


def _is_masked(text: str) -> bool:
    return is_mask(text) or any(letter in text for letter in "*•●…") or "..." in text


def _is_part(text: str, other: str) -> bool:
    """Whether a text is the beginning of another one, or a number's end without its country."""
    number, longer = _digits(text), _digits(other)
    return other.startswith(text) or (len(number) >= 5 and longer.endswith(number.lstrip("0")))


def _digits(text: str) -> str:
    """The digits of what is a telephone number; empty where it has letters."""
    return "" if any(letter.isalpha() for letter in text) else "".join(filter(str.isdigit, text))


for _requirement, _described in KINDS.items():
    _agreement_rule(_requirement, _described)
