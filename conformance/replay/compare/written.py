"""State that the recording itself writes: what an earlier replay of it left at the target shows there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from conformance.replay.compare.order import content_key
from conformance.replay.compare.outcome import Difference, ReplayedExchange
from conformance.replay.recording.kinds import magnitude
from conformance.spec import BY_KEY
from conformance.spec import endpoints as op
from conformance.traffic.exchange import Json, dig
from conformance.traffic.values import is_number

LISTINGS: Mapping[str, str] = {
    op.INVITATIONS: op.INVITE,
    op.OWN_INVITATIONS: op.INVITE,
    op.CHANNELS_QUERY: op.CHANNEL_CREATE,
    op.CHANNEL_TYPES_QUERY: op.CHANNEL_TYPE_CREATE,
    op.CURRENCY_GRANTS: op.CURRENCY_GRANT,
}
"""The listings, and the operation that makes each of them longer."""

_PASSWORDS = (op.PASSWORD_CHANGE, op.PASSWORD_RESET, op.PASSWORD_INIT)
_UPDATES = (op.PROFILE_UPDATE, op.ACCOUNT_UPDATE)

OWNERS = {op.OWN_INVITATIONS: "inviteeEmail"}
"""Listings of what is the caller's own, and the field that says whose an entry is."""

FIELDS: Mapping[tuple[str, str], tuple[str, ...]] = {
    (op.SESSIONS_CONFIG, "passwordChangedAt"): _PASSWORDS,
    (op.SESSIONS_CONFIG, "lastLoginAt"): (),
    (op.SESSIONS_CONFIG, "lastLoginIp"): (),
    (op.BACKUP_CODES, "remainingCount"): (op.BACKUP_CODES_GENERATE,),
    (op.BACKUP_CODES, "totalGenerated"): (op.BACKUP_CODES_GENERATE,),
    (op.PROFILE, "updatedAt"): _UPDATES,
    (op.ACCOUNT, "updatedAt"): _UPDATES,
    (op.ACCOUNTS_QUERY, "updatedAt"): _UPDATES,
}
"""Fields that show that something was written, and the operations that write it; none: each sign-in does."""

NEAR_SECONDS = 400 * 86_400.0
"""How far from its response a time may be that counts as one: longer than a year's certificate."""

RANGE_SECONDS = 3600.0
"""From when on a range of days that ends now is another one."""

MEASURES = frozenset({"amount", "feeAmount", "totalAmount", "fileSize"})
"""Numbers that the document describes as something else than a time."""

COUNTS = frozenset({"totalRecords", "totalElements", "totalPages", "hasNext", "empty"})


def is_leftover(operation: str, difference: Difference, written: Collection[str]) -> bool:
    """Whether a field differs as it does once the recording was replayed before."""
    is_null = difference.recorded is None or difference.replayed is None
    if not difference.place or not (difference.kind == "value" or (difference.kind == "type" and is_null)):
        return False
    name = str(difference.place[-1])
    if name in COUNTS and LISTINGS.get(operation) in written:
        return _is_of_more(name, difference)
    writers = FIELDS.get((operation, name))
    return writers is not None and (not writers or not set(writers).isdisjoint(written))


def _is_of_more(name: str, difference: Difference) -> bool:
    """Whether a listing says that it has more records than it had: what is left makes none of them go."""
    if name == "empty":
        return difference.replayed is False
    if isinstance(difference.replayed, bool):
        return difference.replayed
    numbers = (difference.recorded, difference.replayed)
    return not all(map(is_number, numbers)) or bool(difference.replayed > difference.recorded)


def changed_by(pair: ReplayedExchange) -> Iterator[str]:
    """The recorded ids of the records that a request changes: those that it names, and that of its answer."""
    operation = BY_KEY.get(pair.operation)
    if (
        operation is None
        or operation.impact == "read-only"
        or not (pair.recorded.success and pair.live.success)
    ):
        return
    sent, answered = pair.recorded.sent, dig(pair.recorded_body, ["data", "bizId"])
    for name, value in sent.items() if isinstance(sent, dict) else ():
        if name.endswith(("bizId", "BizId")) and isinstance(value, str):
            yield value
    if isinstance(answered, str):
        yield answered


def makes_a_record(pair: ReplayedExchange) -> bool:
    """Whether a request makes a record: that is the replay's own, whatever other records it names."""
    return pair.operation in LISTINGS.values()


def has_moved_range(operation: str, moments: tuple[float, float]) -> bool:
    """Whether a listing of a range of time that ends now shows another range than it did when recorded."""
    return operation == op.TRANSFER_ORDERS and abs(moments[1] - moments[0]) > RANGE_SECONDS


def is_moving_time(difference: Difference, moments: tuple[float, float]) -> bool:
    """Whether both numbers are epoch times near the moments of their responses, whatever the field's name.

    ``moments`` are those of the recorded and of the live response, in epoch seconds.
    """
    numbers = (difference.recorded, difference.replayed)
    if difference.kind != "value" or not all(is_number(number) for number in numbers):
        return False
    if difference.place[-1:] and difference.place[-1] in MEASURES:
        return False
    units = {magnitude(number) for number in numbers}
    if len(units) != 1 or units == {"a number"}:
        return False
    unit = 1000.0 if units == {"milliseconds"} else 1.0
    return all(
        abs(number / unit - moment) < NEAR_SECONDS for number, moment in zip(numbers, moments, strict=True)
    )


def without_leftovers(old: Json, new: Json) -> Json:
    """The live body without the items of a listing that the recorded one has not; unchanged where a recorded
    item has no counterpart."""
    if isinstance(old, list) and isinstance(new, list):
        return _matched(old, new) if len(new) > len(old) else new
    if isinstance(old, dict) and isinstance(new, dict):
        return {
            name: without_leftovers(old[name], value) if name in old else value for name, value in new.items()
        }
    return new


def names_a_record(sent: Json) -> bool:
    """Whether a listing is asked for one record: what an earlier replay left does not show there."""
    return isinstance(sent, dict) and isinstance(sent.get("bizId"), str)


def shows_others(operation: str, old: Json, new: Json, email: str | None) -> bool:
    """Whether a list of the caller's own records shows those of somebody else: no replay left them."""
    name = OWNERS.get(operation)
    if name is None or email is None or len(_owners(old, name)) > 1:
        return False
    return not _owners(new, name) <= {email.lower()}


def _owners(body: Json, name: str) -> set[str]:
    data = dig(body, ["data"])
    values = (dig(item, [name]) for item in data) if isinstance(data, list) else ()
    return {value.lower() for value in values if isinstance(value, str)}


def _matched(old: list[Json], new: list[Json]) -> list[Json]:
    """The live items that correspond to the recorded ones, in their live order."""
    wanted = [content_key(item) for item in old]
    matched: list[Json] = []
    for item in new:
        key = content_key(item)
        if key in wanted:
            wanted.remove(key)
            matched.append(item)
    return new if wanted else matched
