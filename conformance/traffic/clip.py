"""Shortens JSON values from a target to a bounded size."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from conformance.traffic.exchange import ABSENT, Json

TEXT = 4_000
ITEMS = 100
DEPTH = 16

_IS_CUT = re.compile(r"… \([\d,]+ characters\)\Z")


def cut(text: str, limit: int) -> str:
    """The text's beginning where it is longer than ``limit``, with its whole length named."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"


def clipped(value: Json, *, text: int = TEXT, items: int = ITEMS, depth: int = DEPTH) -> Json:
    """The value with long strings cut, long arrays and objects shortened and deep ones flattened.

    A string in its place says what was left out, so that the result is JSON. What is clipped already stays.
    """
    if value is ABSENT:
        return None
    if isinstance(value, str):
        return value if _IS_CUT.match(value, text) else cut(value, text)
    if isinstance(value, dict):
        return _object(value, text, items=items, depth=depth)
    if isinstance(value, list | tuple):
        return _array(value, text, items=items, depth=depth)
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 1_000:
        return f"… a number of {value.bit_length():,} bits"
    return value


def _object(value: dict[str, Json], text: int, *, items: int, depth: int) -> Json:
    if depth <= 0 and value:
        return f"… an object of {len(value):,}"
    items += "…" in value and len(value) == items + 1
    shown: dict[str, Json] = {
        cut(str(name), 200): clipped(item, text=text, items=items, depth=depth - 1)
        for name, item in islice(value.items(), items)
    }
    if len(value) > items:
        shown["…"] = f"… {len(value) - items:,} more"
    return shown


def _array(value: Sequence[Json], text: int, *, items: int, depth: int) -> Json:
    if depth <= 0 and value:
        return f"… an array of {len(value):,}"
    items += len(value) == items + 1 and _is_rest(value[-1])
    shown = [clipped(item, text=text, items=items, depth=depth - 1) for item in value[:items]]
    if len(value) > items:
        shown.append(f"… {len(value) - items:,} more")
    return shown


def _is_rest(item: Json) -> bool:
    """Whether an item says how many an array had beyond the ones before."""
    return isinstance(item, str) and item.startswith("… ") and item.endswith(" more")
