"""What differs between two JSON values, place by place, in place of two long texts beside each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, zip_longest

from conformance.report.model.marked import literal
from conformance.traffic.exchange import ABSENT, Json

MOST_PLACES = 12
"""Places that are shown of two values."""

SHORT_CHARACTERS = 80
"""Characters of a value that is shown whole, and of one side of a place."""


@dataclass(frozen=True, slots=True)
class PlaceDifference:
    """One place with both values, as JSON; a side is empty where the place is missing there."""

    path: str
    old: str
    new: str

    @property
    def text(self) -> str:
        where = f"{self.path}: " if self.path else ""
        if not self.old:
            return f"{where}new {self.new}"
        return f"{where}no longer {self.old}" if not self.new else f"{where}{self.old} is now {self.new}"


def differences_in(old: Json, new: Json) -> list[PlaceDifference]:
    """Differing places of two objects or lists, at most ``MOST_PLACES``; none if one of them is neither,
    or both are short enough to be read side by side."""
    if not (isinstance(old, dict) and isinstance(new, dict)) and not (
        isinstance(old, list) and isinstance(new, list)
    ):
        return []
    if len(literal(old)) <= SHORT_CHARACTERS and len(literal(new)) <= SHORT_CHARACTERS:
        return []
    return list(islice(_differing(old, new, ""), MOST_PLACES))


def _differing(old: Json, new: Json, path: str) -> Iterator[PlaceDifference]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in dict.fromkeys([*old, *new]):
            place = f"{path}.{name}" if path else name
            yield from _differing(old.get(name, ABSENT), new.get(name, ABSENT), place)
    elif isinstance(old, list) and isinstance(new, list):
        for at, (before, after) in enumerate(zip_longest(old, new, fillvalue=ABSENT)):
            yield from _differing(before, after, f"{path}[{at}]")
    elif old != new or type(old) is not type(new):
        yield PlaceDifference(path, _side(old), _side(new))


def _side(value: Json) -> str:
    return "" if value is ABSENT else literal(value, SHORT_CHARACTERS)
