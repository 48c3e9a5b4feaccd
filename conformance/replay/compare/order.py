"""Whether two lists contain the same items in another order, by their content without ids and times."""

from __future__ import annotations

from itertools import pairwise

from conformance.replay.recording.kinds import ISO, is_opaque, kind_of
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
    """Whether most items of a list are there at other positions, in their order, and others beside them."""
    places = {content_key(item): at for at, item in enumerate(new)}
    moved = [(at, places[key]) for at, key in enumerate(map(content_key, old)) if places.get(key, at) != at]
    in_order = all(first[1] < second[1] for first, second in pairwise(moved))
    return in_order and 2 * len(moved) >= len(old) > 1


def names(items: list[Json]) -> list[Json]:
    """Items of a list, each by its name where it has one."""
    return [_name(item) for item in items[:20]]


def _name(item: Json) -> Json:
    if not isinstance(item, dict):
        return item
    named = [value for key, value in item.items() if key.endswith(NAMING) and isinstance(value, str)]
    return next((value for value in named if not is_opaque(value)), named[0] if named else item)


NAMING = ("Name", "Email", "Code", "code", "bizId")
"""The ends of the names of fields that name a record; an id does so where nothing else does."""
