"""In which line of a profile a key stands."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

Place = tuple[str | int, ...]
"""A table or key of a profile: its names from the outside in, and numbers within lists."""


LINE = re.compile(r"[^\n]*\n|[^\n]+")


class PlacedError(ValueError):
    """What a validator of a whole table has found, and at which place of the table."""

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(message)
        self.place = place


class Positions:
    """The places of a profile's text, by the name of its file."""

    def __init__(self, name: str, text: str) -> None:
        self._name, self._text = name, text

    def of(self, place: Sequence[str | int]) -> str:
        """``portal.toml:12``, the line of a place or of the nearest table around it; the name alone where
        nothing of it stands in the text. Parts that are no keys are left out."""
        nearest: Place = ()
        for part in place:
            if (*nearest, part) in self._lines:
                nearest = (*nearest, part)
        return f"{self._name}:{self._lines[nearest]}" if nearest else self._name

    @cached_property
    def _lines(self) -> dict[Place, int]:
        lines: dict[Place, int] = {}
        numbers: dict[Place, int] = {}
        table: Place = ()
        for number, statement in _statements(self._text):
            if statement.lstrip().startswith("["):
                table = _numbered(_head(tomllib.loads(statement)), numbers)
                for depth in range(len(table), 0, -1):
                    lines.setdefault(table[:depth], number)
            else:
                for place in _places(tomllib.loads(statement), table):
                    lines.setdefault(place, number)
        return lines


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """The number of its first line, and each statement: as many lines as are TOML together."""
    lines, start = LINE.findall(text), 0
    for end in range(1, len(lines) + 1):
        statement = "".join(lines[start:end])
        try:
            tomllib.loads(statement)
        except tomllib.TOMLDecodeError:
            continue
        yield start + 1, statement
        start = end


def _head(tables: dict[str, Any]) -> Place:
    """The names in a table's head; the last is 0 for a row of an array of tables."""
    place: Place = ()
    value: Any = tables
    while value:
        key = 0 if isinstance(value, list) else next(iter(value))
        place, value = (*place, key), value[key]
    return place


def _numbered(head: Place, numbers: dict[Place, int]) -> Place:
    place: Place = ()
    for index, part in enumerate(head):
        if part == 0:
            is_new = index == len(head) - 1
            numbers[place] = numbers.get(place, -1) + is_new
            part = numbers[place]
        elif place in numbers:
            place = (*place, numbers[place])
        place = (*place, part)
    return place


def _places(value: Any, place: Place) -> Iterator[Place]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*place, key)
        yield from _places(inner, (*place, key))
