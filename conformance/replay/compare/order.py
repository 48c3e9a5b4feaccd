"""Which items of two lists are the same ones, whatever their order: by their identity, or their content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from conformance.replay.compare.clocks import BEGAN, Clocks, epoch_of
from conformance.replay.rebuild.correlation import Correlation
from conformance.replay.recording.kinds import ISO, is_counted, is_opaque, kind_of
from conformance.traffic.exchange import Json


def content_key(value: Json) -> str:
    """The content of an item without identities and times: equal for items that correspond."""
    return repr(_stable(value, ""))


def _stable(value: Json, name: str) -> Json:
    if isinstance(value, dict):
        return sorted((key, _stable(inner, key)) for key, inner in value.items())
    if isinstance(value, list):
        return [_stable(item, name) for item in value]
    is_text = isinstance(value, str)
    varies = kind_of(name) != "value" or (is_text and (is_opaque(value) or ISO.match(value) is not None))
    return type(value).__name__ if varies else value


def same_in_another_order(old: list[Json], new: list[Json]) -> bool:
    before, after = [content_key(item) for item in old], [content_key(item) for item in new]
    return before != after and sorted(before) == sorted(after)


def is_shifted(old: list[Json], new: list[Json]) -> bool:
    """Tells whether most items of a list moved to other positions and kept their order."""
    places = {content_key(item): at for at, item in enumerate(new)}
    moved = [(at, places[key]) for at, key in enumerate(map(content_key, old)) if places.get(key, at) != at]
    in_order = all(first[1] < second[1] for first, second in pairwise(moved))
    return in_order and 2 * len(moved) >= len(old) > 1


def names(items: list[Json]) -> list[Json]:
    return [_name(item) for item in items[:20]]


def _name(item: Json) -> Json:
    if not isinstance(item, dict):
        return item
    named = [value for key, value in item.items() if key.endswith(NAMING) and isinstance(value, str)]
    return next((value for value in named if not is_opaque(value)), named[0] if named else item)


NAMING = ("Name", "Email", "Code", "code", "bizId")
"""The ends of the names of fields that name a record; an id does so where nothing else does."""


OWN_IDS = ("bizId", "sessionId", "id")
"""The fields that hold the id of the record itself."""

LISTED_ONCE = "mfaMethod"
"""The coded field of a record without an id that no other record of its list has alike (MFA-007)."""

Key = tuple[str, str]
"""A field that identifies a record, and its value."""


def places_by_identity(old: Sequence[Json], new: Sequence[Json], correlation: Correlation) -> dict[int, int]:
    """Maps places in the recorded list to live places of the same record: with equal id or email, or with the
    paired id."""
    there = _places(new)
    places: dict[int, int] = {}
    matched: set[int] = set()
    for (name, value), at in _places(old).items():
        paired = value if value in correlation.doubtful else correlation.live.get(value, value)
        place = there.get((name, paired), there.get((name, value)))
        if place is not None and place not in matched and at not in places:
            places[at] = place
            matched.add(place)
    return places


def places_of_own_sessions(old: Sequence[Json], new: Sequence[Json], began: Clocks) -> dict[int, int]:
    """Maps places of the caller's sessions: the session that sends the request, and sessions begun during
    recording and replay, if equally many. Other sessions may be anybody's."""
    current, current_now = _current(old), _current(new)
    recorded, live = (
        [
            at
            for _, at in sorted(
                (epoch_of(session.get(BEGAN)), at)
                for at, session in enumerate(sessions)
                if isinstance(session, dict) and epoch_of(session.get(BEGAN)) >= since
            )
        ]
        for sessions, since in ((old, began.recorded), (new, began.live))
    )
    places = dict(zip(recorded, live, strict=True)) if len(recorded) == len(live) else {}
    if len(current) == len(current_now) == 1 and places.get(current[0]) != current_now[0]:
        places = {current[0]: current_now[0]}
    return places


def is_doubtful(old: Mapping[str, Json], new: Mapping[str, Json], correlation: Correlation) -> bool:
    """Whether two records may be of different people or things: an email differs, or without one a name."""
    shared = [
        (name, value, other)
        for name, value in old.items()
        if isinstance(value, str) and isinstance(other := new.get(name), str)
    ]
    emails = [(value, other) for _, value, other in shared if "@" in value]
    named = [(value, other) for name, value, other in shared if name.endswith(("Name", "Code"))]
    return any(
        value.lower() != other.lower() and correlation.live.get(value) != other
        for value, other in emails or named
    )


def _places(items: Sequence[Json]) -> dict[Key, int]:
    """By what identifies a record of a list, its place; what stands there twice identifies none."""
    keys = [(key, at) for at, item in enumerate(items) if isinstance(item, dict) for key in _keys_of(item)]
    times = Counter(key for key, _ in keys)
    return {key: at for key, at in keys if times[key] == 1}


def _keys_of(item: Mapping[str, Json]) -> Iterator[Key]:
    for name, value in item.items():
        if name == LISTED_ONCE and isinstance(value, dict) and isinstance(value.get("code"), str):
            yield name, value["code"]
        elif isinstance(value, str):
            is_id = name in OWN_IDS and (is_opaque(value) or not is_counted(value))
            if is_id or ("@" in value and name.lower().endswith("email")):
                yield name, value


def _current(sessions: Sequence[Json]) -> list[int]:
    listed = enumerate(sessions)
    return [at for at, each in listed if isinstance(each, dict) and each.get("isCurrent") is True]
