"""Long lists in slices, so that what is wrong with very many items is never held at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from conformance.traffic.exchange import Json

SLICE = 500
"""Items of a list that are validated together."""


@dataclass(frozen=True)
class Slice:
    """The data with one of its lists cut: ``path`` leads to the list, ``first`` is where the slice begins."""

    data: Json
    path: tuple[str, ...] = ()
    first: int = 0

    def in_whole(self, location: tuple[str | int, ...]) -> tuple[str | int, ...]:
        """A location in this slice as a location in the whole data."""
        at = next((at for at, step in enumerate(location) if isinstance(step, int)), None)
        if at is None or tuple(step for step in location[:at] if step in self.path) != self.path:
            return location
        return (*location[:at], int(location[at]) + self.first, *location[at + 1 :])


def slices_of(data: Json) -> Iterator[Slice]:
    """The data in slices, if it is a long list or holds some; else the data as it is."""
    if _is_long(data):
        for first in range(0, len(data), SLICE):
            yield Slice(data[first : first + SLICE], first=first)
        return
    if not isinstance(data, dict) or not any(map(_is_long, data.values())):
        yield Slice(data)
        return
    short = {name: value[:SLICE] if _is_long(value) else value for name, value in data.items()}
    yield Slice(short)
    for name, value in data.items():
        for first in range(SLICE, len(value) if _is_long(value) else 0, SLICE):
            yield Slice({**short, name: value[first : first + SLICE]}, (name,), first)


def _is_long(value: Json) -> bool:
    return isinstance(value, list) and len(value) > SLICE
