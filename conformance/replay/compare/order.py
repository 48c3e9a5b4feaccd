"""Whether two lists hold the same in another order: items are told by what they say, not by ids or times."""

from __future__ import annotations

from conformance.replay.compare.kinds import ISO, is_opaque, kind_of
from conformance.traffic.exchange import Json


def fingerprint(value: Json) -> str:
    """What an item says, but for identities and times: the same for items that correspond."""
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
    before, after = [fingerprint(item) for item in old], [fingerprint(item) for item in new]
    return before != after and sorted(before) == sorted(after)


def names(items: list[Json]) -> list[Json]:
    """Items of a list by what a reader knows them by."""
    return [_name(item) for item in items[:20]]


def _name(item: Json) -> Json:
    if not isinstance(item, dict):
        return item
    named = (value for key, value in item.items() if key.endswith(("Name", "Email", "Code", "code", "bizId")))
    return next((value for value in named if isinstance(value, str)), item)
