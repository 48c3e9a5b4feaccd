"""State that the recording itself writes: what an earlier replay of it left at the target shows there."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from conformance.replay.compare.difference import Difference
from conformance.replay.compare.order import content_key
from conformance.replay.recording.kinds import magnitude
from conformance.spec.endpoints import (
    ACCOUNT,
    ACCOUNT_UPDATE,
    ACCOUNTS_QUERY,
    BACKUP_CODES,
    BACKUP_CODES_GENERATE,
    CHANNEL_CREATE,
    CHANNEL_TYPE_CREATE,
    CHANNEL_TYPES_QUERY,
    CHANNELS_QUERY,
    CURRENCY_GRANT,
    CURRENCY_GRANTS,
    INVITATIONS,
    INVITE,
    OWN_INVITATIONS,
    PASSWORD_CHANGE,
    PASSWORD_INIT,
    PASSWORD_RESET,
    PROFILE,
    PROFILE_UPDATE,
    SESSIONS_CONFIG,
)
from conformance.traffic.exchange import Json
from conformance.traffic.values import is_number

LISTINGS: Mapping[str, str] = {
    INVITATIONS: INVITE,
    OWN_INVITATIONS: INVITE,
    CHANNELS_QUERY: CHANNEL_CREATE,
    CHANNEL_TYPES_QUERY: CHANNEL_TYPE_CREATE,
    CURRENCY_GRANTS: CURRENCY_GRANT,
}
"""The listings, and the operation that makes each of them longer."""

_PASSWORDS = (PASSWORD_CHANGE, PASSWORD_RESET, PASSWORD_INIT)
_UPDATES = (PROFILE_UPDATE, ACCOUNT_UPDATE)

FIELDS: Mapping[tuple[str, str], tuple[str, ...]] = {
    (SESSIONS_CONFIG, "passwordChangedAt"): _PASSWORDS,
    (SESSIONS_CONFIG, "lastLoginAt"): (),
    (SESSIONS_CONFIG, "lastLoginIp"): (),
    (BACKUP_CODES, "remainingCount"): (BACKUP_CODES_GENERATE,),
    (BACKUP_CODES, "totalGenerated"): (BACKUP_CODES_GENERATE,),
    (PROFILE, "updatedAt"): _UPDATES,
    (ACCOUNT, "updatedAt"): _UPDATES,
    (ACCOUNTS_QUERY, "updatedAt"): _UPDATES,
}
"""Fields that show that something was written, and the operations that write it; none: each sign-in does."""

NEAR_SECONDS = 400 * 86_400.0
"""How far from its response a time may be that counts as one: longer than a year's certificate."""

COUNTS = frozenset({"totalRecords", "totalElements", "totalPages", "hasNext", "empty"})


def is_left(operation: str, difference: Difference, written: Collection[str]) -> bool:
    """Whether a field differs as it does once the recording was replayed before."""
    if not difference.place:
        return False
    name = str(difference.place[-1])
    if name in COUNTS and LISTINGS.get(operation) in written:
        return difference.kind == "value"
    writers = FIELDS.get((operation, name))
    return writers is not None and (not writers or not set(writers).isdisjoint(written))


def is_moving_time(difference: Difference, moments: tuple[float, float]) -> bool:
    """Whether both numbers are epoch times near the moments of their responses, whatever the field's name.

    ``moments`` are those of the recorded and of the live response, in epoch seconds.
    """
    numbers = (difference.recorded, difference.replayed)
    if difference.kind != "value" or not all(is_number(number) for number in numbers):
        return False
    units = {magnitude(number) for number in numbers}
    if len(units) != 1 or units == {"a number"}:
        return False
    unit = 1000.0 if units == {"milliseconds"} else 1.0
    return all(
        abs(number / unit - moment) < NEAR_SECONDS for number, moment in zip(numbers, moments, strict=True)
    )


def without_left(old: Json, new: Json) -> Json:
    """The live body without the items of a listing that the recorded one has not; unchanged where a recorded
    item has no counterpart."""
    if isinstance(old, list) and isinstance(new, list):
        return _matched(old, new) if len(new) > len(old) else new
    if isinstance(old, dict) and isinstance(new, dict):
        return {name: without_left(old[name], value) if name in old else value for name, value in new.items()}
    return new


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
