"""Entries of the lists of sessions and sign-ins that others made, before the recording or the replay began:
the account's state, and another one at each portal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from conformance.replay.compare.difference import Difference
from conformance.replay.compare.order import content_key
from conformance.replay.compare.times.clocks import BEGAN, Clocks, epoch_of
from conformance.replay.recording.kinds import is_address
from conformance.traffic.exchange import Json, dig

GRAIN = 5.0
"""Seconds by which a sign-in may seem to be older than it is."""


def is_of_others(difference: Difference, bodies: tuple[Json, Json], began: Clocks) -> bool:
    """Whether a value differs, or is null on one side, in an entry that others made on either side; or
    entries stand in another order only as others signed in at other times. ``began`` is when the recording
    and the replay did, each on the clock of its portal."""
    place = difference.place
    if difference.kind == "order":
        old, new = (
            _newer_and_own(dig(body, place), moment) for body, moment in zip(bodies, began, strict=True)
        )
        return old == new and len(old[0]) == 1
    is_null = difference.kind == "type" and None in (difference.recorded, difference.replayed)
    at = next((number for number, step in enumerate(place) if isinstance(step, int)), None)
    if at is None or not (is_null or difference.kind == "value") or is_no_address(difference):
        return False
    entries = [dig(body, place[: at + 1]) for body in bodies]
    return any(_is_older(entry, moment) for entry, moment in zip(entries, began, strict=True))


def is_no_address(difference: Difference) -> bool:
    """Whether an address was recorded where another text is now: that is its form, and no other client's."""
    return is_address(difference.recorded) and isinstance(difference.replayed, str)


def _is_older(entry: Json, began: float) -> bool:
    """Whether an entry is of a sign-in before that; of the session that asks for the list none is."""
    return dig(entry, ["isCurrent"]) is not True and epoch_of(dig(entry, [BEGAN])) < began - GRAIN


def _newer_and_own(entries: Json, began: float) -> tuple[set[bool], list[str]]:
    """Whether each entry is newer than the one before it, or none is; and what the others do not make."""
    listed = entries if isinstance(entries, list) else []
    own = [content_key(entry) for entry in listed if not _is_older(entry, began)]
    return set(_newer(listed)), own


def _newer(entries: list[Json]) -> Iterator[bool]:
    moments = [epoch_of(dig(entry, [BEGAN])) for entry in entries]
    yield from (one < other for one, other in pairwise(moments) if one != other)
