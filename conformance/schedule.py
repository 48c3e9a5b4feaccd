"""In which order cases run: waits overlap, and sign-ins are spent where there are some left (no I/O here)."""

from __future__ import annotations

import heapq
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Item = TypeVar("Item")
Wait = tuple[float, str]
Steps = Generator[Wait, None, None]
"""A case that waits: it yields the seconds and what it waits for."""


@dataclass(order=True)
class Due(Generic[Item]):
    """A suspended case: when it goes on, and what it waits for."""

    moment: float
    number: int
    item: Item = field(compare=False)
    why: str = field(compare=False, default="")


class Agenda(Generic[Item]):
    """What is still to run. Waiting cases come first, so that their waits overlap with everything else."""

    def __init__(self, waiting: Iterable[Item], others: Iterable[tuple[Item, int]]) -> None:
        self._first = list(reversed(list(waiting)))
        self._others = list(others)
        self._suspended: list[Due[Item]] = []
        self._number = 0

    def suspend(self, item: Item, moment: float, why: str) -> None:
        """Takes a case that waits until a moment (epoch seconds)."""
        self._number += 1
        heapq.heappush(self._suspended, Due(moment, self._number, item, why))

    def next(self, now: float, sign_ins_left: int) -> Due[Item] | Item | None:
        """What comes next: a suspended case that is due, a waiting one to begin, one that the sign-ins left
        allow, the first of the others, or the suspended one that is due soonest. None at the end."""
        if self._suspended and self._suspended[0].moment <= now:
            return heapq.heappop(self._suspended)
        if self._first:
            return self._first.pop()
        for index, (item, sign_ins) in enumerate(self._others):
            if sign_ins <= max(sign_ins_left, 0):
                del self._others[index]
                return item
        if self._others and not (self._suspended and self._suspended[0].moment <= now + 5):
            return self._others.pop(0)[0]
        return (
            heapq.heappop(self._suspended)
            if self._suspended
            else (self._others.pop(0)[0] if self._others else None)
        )

    def __iter__(self) -> Iterator[Due[Item]]:
        return iter(sorted(self._suspended))

    @property
    def rest(self) -> list[Item]:
        """What has not been begun."""
        return [*reversed(self._first), *(item for item, _ in self._others)]
