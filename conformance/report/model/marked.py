"""A JSON body as lines of text, with the place of a finding marked and never left out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal

from conformance.report.model.visible import visible
from conformance.traffic.clip import cut
from conformance.traffic.exchange import ABSENT, Exchange, Json, dig, steps

Step = str | int
Kind = Literal["", "seen", "missing", "expected", "more"]


@dataclass(frozen=True, slots=True)
class BodyLine:
    """One line: its indent in levels, the name before the colon, the value as text, and what it is.

    ``kind`` is ``seen`` on the marked place, ``missing`` where the marked name is not there,
    ``expected`` where an expected value stands in its place, ``more`` for what was left out.
    """

    indent: int
    name: str
    text: str
    kind: Kind = ""


@dataclass(frozen=True, slots=True)
class BodyBounds:
    """The most that is shown: characters of a string, items of an array, names of an object, levels."""

    text: int
    items: int
    names: int
    depth: int


BOUNDS = (
    BodyBounds(300, 20, 80, 12),
    BodyBounds(160, 4, 40, 6),
    BodyBounds(80, 1, 24, 4),
    BodyBounds(40, 0, 10, 2),
)
"""From generous to terse: the first that fits is taken."""

MOST_LINES = 90
MOST_MARKED = 24
"""Lines of the marked place where only what stands beside it is shown with it."""


def marked(value: Json, path: Sequence[Step] = (), *, most: int = MOST_LINES) -> list[BodyLine]:
    """The value as about ``most`` lines, with the place at ``path`` marked."""
    return _around_the_mark(_fitting(value, path, most), most)


def around(value: Json, path: Sequence[Step], *, beside: int = 3) -> list[BodyLine]:
    """Only what stands beside the marked place: at most ``beside`` lines before and after it."""
    lines, at = list[BodyLine](), list[int]()
    for first in range(1, len(BOUNDS)):
        lines = _fitting(value, path, 1_000, BOUNDS[first:])
        at = [number for number, line in enumerate(lines) if line.kind in ("seen", "missing")]
        if len(at) <= MOST_MARKED:
            break
    if not at:
        return lines[: 2 * beside]
    if len(at) <= MOST_MARKED:
        return lines[max(0, at[0] - beside) : at[-1] + 1 + beside]
    more = BodyLine(0, "", f"… {len(at) - MOST_MARKED:,} lines more", "more")
    return [*lines[at[0] : at[0] + MOST_MARKED], more]


def _fitting(
    value: Json, path: Sequence[Step], most: int, choices: Sequence[BodyBounds] = BOUNDS
) -> list[BodyLine]:
    """Lines by the most generous bounds that yield at most ``most`` lines, else by the tersest bounds."""
    for bounds in choices[:-1]:
        lines = list(islice(_lines(value, list(path), bounds), most + 1))
        if len(lines) <= most:
            return lines
    return list(_lines(value, list(path), choices[-1]))


def literal(value: Json, limit: int = 300) -> str:
    """A value in one line of JSON, visible and cut; ``nothing`` where there is none."""
    if value is ABSENT:
        return "nothing"
    if isinstance(value, str):
        return visible(json.dumps(cut(value, limit), ensure_ascii=False))
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = str(value)
    return visible(cut(text, limit))


def _lines(
    value: Json, path: list[Step], bounds: BodyBounds, *, name: str = "", indent: int = 0, on_way: bool = True
) -> Iterator[BodyLine]:
    """The lines of a value; those of the marked place, the whole of it, are ``seen``."""
    is_place = on_way and not path and indent > 0
    shown = bounds.depth > 0 or (on_way and path)
    lines: Iterator[BodyLine]
    if isinstance(value, dict | list) and value and shown:
        lines = _members(value, path, bounds, name=name, indent=indent, on_way=on_way)
    else:
        lines = iter((BodyLine(indent, name, _scalar(value, bounds, wide=on_way and not path)),))
    for line in lines:
        yield replace(line, kind="seen") if is_place else line


def _scalar(value: Json, bounds: BodyBounds, *, wide: bool) -> str:
    if isinstance(value, dict | list) and value:
        return f"{{… {len(value):,}}}" if isinstance(value, dict) else f"[… {len(value):,}]"
    return literal(value, 1_000 if wide else bounds.text)


def _members(
    value: dict[str, Json] | list[Json],
    path: list[Step],
    bounds: BodyBounds,
    *,
    name: str,
    indent: int,
    on_way: bool,
) -> Iterator[BodyLine]:
    """The lines of an object or array: its first members and the one on the way to the marked place, and how
    many are left out between."""
    is_object = isinstance(value, dict)
    keys: list[Any] = list(value) if is_object else list(range(len(value)))
    wanted = path[0] if on_way and path and (is_object or isinstance(path[0], int)) else None
    marked_at = keys.index(wanted) if wanted in keys else None
    deeper = replace(bounds, depth=bounds.depth - 1)
    most = bounds.names if is_object else bounds.items
    shown = {*range(min(most, len(keys))), len(keys), len(keys) if marked_at is None else marked_at}
    yield BodyLine(indent, name, "{" if is_object else "[")
    after = 0
    for at in sorted(shown):
        if at > after:
            yield BodyLine(indent + 1, "", f"… {at - after:,} more", "more")
        for key in keys[at : at + 1]:
            here = at == marked_at
            label = _name(key) if is_object else f"[{at}]" if here else ""
            rest = path[1:] if here else []
            yield from _lines(value[key], rest, deeper, name=label, indent=indent + 1, on_way=here)
        after = at + 1
    if wanted is not None and marked_at is None:
        label = _name(str(wanted)) if is_object else f"[{wanted}]"
        yield BodyLine(indent + 1, label, "missing", "missing")
    yield BodyLine(indent, "", "}" if is_object else "]")


def _name(key: str) -> str:
    """A name as it stands where it is a plain word, else in quotes."""
    return key if key.isidentifier() and key.isascii() and len(key) < 120 else literal(key, 120)


def _around_the_mark(lines: list[BodyLine], most: int) -> list[BodyLine]:
    if len(lines) <= most:
        return lines
    at = next((number for number, line in enumerate(lines) if line.kind in ("seen", "missing")), 0)
    start = max(0, min(at - most // 2, len(lines) - most))
    shown = lines[start : start + most]
    if start:
        shown.insert(0, BodyLine(0, "", f"… {start:,} lines before", "more"))
    if start + most < len(lines):
        shown.append(BodyLine(0, "", f"… {len(lines) - start - most:,} lines after", "more"))
    return shown


def place(path: str) -> Sequence[Step]:
    """The keys and indexes of a finding's place in a body; none where it is elsewhere, or a name that
    a target chose makes it unreadable."""
    if path == "status" or path.startswith("headers."):
        return []
    try:
        return steps(path)
    except ValueError:
        return []


def at(exchange: Exchange, path: str) -> Json:
    """What stands at a finding's place, or ABSENT."""
    if path == "status" or path.startswith("headers."):
        return exchange.at(path)
    return dig(exchange.envelope, place(path))
