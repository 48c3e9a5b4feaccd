"""In which order cases run: waits overlap, and sign-ins are spent as soon as there are some (no I/O here)."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Item = TypeVar("Item")
Wait = tuple[float, str]
Steps = Generator[Wait, None, None]
"""A case that waits: it yields the seconds and what it waits for."""

Opens = Callable[[int], float]
"""The moment (epoch seconds) from which so many sign-ins may be begun at once; a past one: they may now."""

WINDOW = "the window of sign-ins to open"


@dataclass(frozen=True)
class Planned(Generic[Item]):
    """A case that has not begun: it will begin ``sign_ins`` sign-ins, of which ``reuses`` may be ones that
    another case has left, and leave ``leaves`` itself. ``waits``: whether it is a generator. ``first``:
    whether others go on with what it signs in."""

    item: Item
    sign_ins: int = 0
    reuses: int = 0
    leaves: int = 0
    waits: bool = False
    first: bool = False

    def needs(self, left: int) -> int:
        """How many sign-ins must be begun for it, where so many have been left."""
        return self.sign_ins - min(self.reuses, left)

    def rank(self, leaving: bool) -> tuple[bool, bool, bool, bool]:
        """What waits is first; but what can use sign-ins that are left comes after what leaves them, if any
        case does (``leaving``)."""
        return (leaving and self.reuses > 0, not self.waits, self.leaves > 0, not self.first)


@dataclass(order=True)
class Due(Generic[Item]):
    """A case that goes on, or begins, at a moment, and what it waits for until then."""

    moment: float
    number: int
    item: Item = field(compare=False)
    why: str = field(compare=False, default="")


class Agenda(Generic[Item]):
    """What is still to run. Waiting cases come first, so that their waits overlap with everything else; then
    those that sign in, as the sooner a sign-in is begun, the sooner the window has room for another."""

    def __init__(self, planned: Iterable[Planned[Item]]) -> None:
        cases = list(planned)
        self._waiting = [case for case in cases if case.waits and not case.sign_ins]
        leaving = any(case.leaves for case in cases)
        self._signing = sorted((case for case in cases if case.sign_ins), key=lambda case: case.rank(leaving))
        self._others = [case for case in cases if not case.waits and not case.sign_ins][::-1]
        self._turn: Planned[Item] | None = None
        self._suspended: list[Due[Item]] = []
        self._number = 0

    def suspend(self, item: Item, moment: float, why: str) -> None:
        """Takes a case that waits until a moment (epoch seconds)."""
        heapq.heappush(self._suspended, self._due(item, moment, why))

    def next(self, now: float, opens: Opens, left: int = 0) -> Due[Item] | Item | None:
        """What comes next: a suspended case that is due, one to begin, or what can go on soonest. None at
        the end. ``left``: login sessions that cases have begun and not gone on with."""
        if self._suspended and self._suspended[0].moment <= now:
            return heapq.heappop(self._suspended)
        if self._waiting:
            return self._waiting.pop(0).item
        ready = self._ready(now, opens, left)
        if ready is not None:
            return ready.item
        if self._others:
            return self._others.pop().item
        return self._soonest(opens, left)

    def _ready(self, now: float, opens: Opens, left: int) -> Planned[Item] | None:
        """The first that the window has room for. Where it has room for none, it is kept for the first."""
        for planned in self._signing:
            needed = planned.needs(left)
            if needed == 0 or (self._turn in (None, planned) and opens(needed) <= now):
                self._begin(planned)
                return planned
        self._turn = next(iter(self._signing), None)
        return None

    def _soonest(self, opens: Opens, left: int) -> Due[Item] | None:
        if self._turn is not None:
            moment = opens(self._turn.needs(left))
            if not self._suspended or moment < self._suspended[0].moment:
                turn = self._turn
                self._begin(turn)
                return self._due(turn.item, moment, WINDOW)
        return heapq.heappop(self._suspended) if self._suspended else None

    def _begin(self, one: Planned[Item]) -> None:
        self._signing.remove(one)
        if self._turn is one:
            self._turn = None

    def _due(self, item: Item, moment: float, why: str) -> Due[Item]:
        self._number += 1
        return Due(moment, self._number, item, why)

    def __iter__(self) -> Iterator[Due[Item]]:
        return iter(sorted(self._suspended))

    @property
    def rest(self) -> list[Item]:
        """What has not been begun."""
        return [case.item for case in (*self._waiting, *self._signing, *reversed(self._others))]


def sign_ins_together(planned: Sequence[Planned[Item]]) -> int:
    """How many sign-ins the cases begin, where each goes on with those that are left."""
    begun = sum(case.sign_ins for case in planned)
    return begun - min(sum(case.leaves for case in planned), sum(case.reuses for case in planned))
