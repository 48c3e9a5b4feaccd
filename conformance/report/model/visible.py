"""Makes text from a target safe to show: control and invisible characters are written out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import msgspec

from conformance.traffic.clip import cut
from conformance.traffic.exchange import Json

_UNSEEN = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, but for tab and line feed
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"  # invisible letters
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f"  # zero width, separators, bidirectional overrides
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff"  # fillers, selectors, byte order mark, noncharacters
    "\ud800-\udfff"  # halves of a pair, which no encoding can carry
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"  # musical controls, tags
    "]"
)
_HALVES = re.compile("[\ud800-\udfff]")
_MARKS = re.compile(
    "([\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f]{4})[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\ufe20-\ufe2f]+"
)


def visible(text: str) -> str:
    """The text with every invisible character written out: ``␀`` for NUL, ``‹U+202E›`` for others.

    The result is legal in XML 1.0 and UTF-8, does not change the direction of the text around it, and has
    at most four marks on a letter. Tabs and line feeds stay.
    """
    if text.isascii() and text.isprintable():
        return text
    return _MARKS.sub(r"\1‹…›", _UNSEEN.sub(_written, text))


def one_line(text: str, limit: int = 300) -> str:
    """The visible text in one line of at most ``limit`` characters, with the whole length named where cut."""
    return visible(cut(text, limit)).replace("\t", "␉").replace("\n", "␊")


def encodable(text: str) -> str:
    """The text with halves of surrogate pairs written out, so that UTF-8 can carry it."""
    return text if text.isascii() else _HALVES.sub(_written, text)


def each_text(value: Json, change: Callable[[str], str]) -> Json:
    """The JSON value with ``change`` applied to every string in it, names included."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(str(name)): each_text(item, change) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [each_text(item, change) for item in value]
    return value


def json_text(value: Json) -> str:
    """A JSON value as a file holds it, of many lines; halves of surrogate pairs are written out."""
    try:
        return msgspec.json.format(msgspec.json.encode(value), indent=1).decode() + "\n"
    except (ValueError, OverflowError):  # what only Python's own encoder takes
        return json.dumps(each_text(value, encodable), indent=1, ensure_ascii=False) + "\n"


def _written(match: re.Match[str]) -> str:
    point = ord(match[0])
    if point < 0x20:
        return chr(0x2400 + point)
    return "␡" if point == 0x7F else f"‹U+{point:04X}›"
