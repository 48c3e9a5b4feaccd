"""In which order cases run: waits overlap, and sign-ins are spent as soon as there are some (no I/O here)."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from functools import cache
from math import inf
from typing import Generic, TypeVar

Item = TypeVar("Item")
Wait = tuple[float, str]
Steps = Generator[Wait, None, None]
"""A case that waits: it yields the seconds and what it waits for."""

Opens = Callable[[int], float]
"""The moment (epoch seconds) from which so many sign-ins may be begun at once; a past one: they may now."""

Ready = Callable[[Item], float]
"""The moment (epoch seconds) from which a case can sign in without a wait for a code or a cooldown."""

WINDOW = "the window of sign-ins to open"


@dataclass(frozen=True)
class Planned(Generic[Item]):
    """A case that has not begun: it will begin ``sign_ins`` sign-ins, of which ``reuses`` may be ones that
    another case has left, and leave ``leaves`` itself. ``waits``: whether it is a generator. ``first``:
    whether others go on with what it signs in. ``priority``: the higher, the sooner it is to begin where time
    is short; 0 for all where it is not."""

    item: Item
    sign_ins: int = 0
    reuses: int = 0
    leaves: int = 0
    waits: bool = False
    first: bool = False
    priority: int = 0

    def needs(self, left: int) -> int:
        """How many sign-ins must be begun for it, where so many have been left."""
        return self.sign_ins - min(self.reuses, left)

    def rank(self, leaving: bool) -> tuple[bool, int, bool, bool, bool]:
        """What waits is first; but what can use sign-ins that are left comes after what leaves them, if any
        case does (``leaving``)."""
        after = leaving and self.reuses > 0
        return (after, -self.priority, not self.waits, self.leaves > 0, not self.first)


@dataclass(order=True)
class Due(Generic[Item]):
    """A case that goes on, or begins, at a moment, and what it waits for until then."""

    moment: float
    number: int
    item: Item = field(compare=False)
    why: str = field(compare=False, default="")


def at_once(item: object) -> float:
    """Ready time of a case that never waits for a code."""
    return -inf


class Agenda(Generic[Item]):
    """What is still to run. Waiting cases come first, so that their waits overlap with everything else; then
    those that sign in, as the sooner a sign-in is begun, the sooner the window has room for another.

    Where cases have a priority, time is short: that goes before all else, and what would wait within itself
    for a code is put off as long as others can go on."""

    def __init__(self, planned: Iterable[Planned[Item]]) -> None:
        cases = sorted(planned, key=lambda case: -case.priority)
        self.is_hurried = any(case.priority for case in cases)
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

    def put_off(self, item: Item) -> None:
        """Takes a case that begins anew, when others are done."""
        self._others.insert(0, Planned(item, priority=-1))

    def next(
        self, now: float, opens: Opens, left: int = 0, *, ready: Ready[Item] = at_once, end: float = inf
    ) -> Due[Item] | Item | None:
        """What comes next: a suspended case that is due, one to begin, or what can go on soonest. None at
        the end. ``left``: login sessions that cases have begun and not gone on with; ``end``: when the time
        is used up."""
        if self._suspended and self._suspended[0].moment <= now:
            return heapq.heappop(self._suspended)
        if self._waiting:
            return self._waiting.pop(0).item
        fitting = self._fitting(now, opens, left, end)
        chosen = self._chosen(fitting, now, ready) or self._put_off(fitting, ready)
        if chosen is not None:
            self._begin(chosen)
            return chosen.item
        return self._soonest(opens, left)

    def _fitting(self, now: float, opens: Opens, left: int, end: float) -> list[Planned[Item]]:
        """Sign-in cases for which the window has room. If it has room for none, it is reserved for the first
        case that fits before the end."""
        if self._turn is not None and opens(self._turn.needs(left)) <= now:
            self._turn = None

        @cache
        def has_room(needed: int) -> bool:
            return needed == 0 or (self._turn is None and opens(needed) <= now)

        fitting = [case for case in self._signing if has_room(case.needs(left))]
        if not fitting:
            rest = (case for case in self._signing if opens(case.needs(left)) < end)
            self._turn = next(rest, None)
        return fitting

    def _chosen(self, fitting: list[Planned[Item]], now: float, ready: Ready[Item]) -> Planned[Item] | None:
        """The first of them, and else one that signs nobody in; none that waits for a code."""
        signing = next((case for case in fitting if ready(case.item) <= now), None)
        other = next((case for case in reversed(self._others) if ready(case.item) <= now), None)
        first = [case for case in (signing, other) if case is not None]
        return max(first, key=lambda case: case.priority, default=None)

    def _put_off(self, fitting: list[Planned[Item]], ready: Ready[Item]) -> Planned[Item] | None:
        """Of those that wait for a code the one that waits least, unless a suspended one goes on sooner."""
        first = min([*fitting, *reversed(self._others)], key=lambda case: ready(case.item), default=None)
        is_later = first is not None and any(due.moment < ready(first.item) for due in self._suspended[:1])
        return None if is_later else first

    def _soonest(self, opens: Opens, left: int) -> Due[Item] | None:
        """What can go on soonest; at last what the window has no room for before the end."""
        first = self._turn or (None if self._suspended else next(iter(self._signing), None))
        if first is not None:
            moment = opens(first.needs(left))
            if not self._suspended or moment < self._suspended[0].moment:
                self._begin(first)
                return self._due(first.item, moment, WINDOW)
        return heapq.heappop(self._suspended) if self._suspended else None

    def _begin(self, case: Planned[Item]) -> None:
        if not case.sign_ins and self._others[-1] is case:
            self._others.pop()
        else:
            (self._signing if case.sign_ins else self._others).remove(case)
        if self._turn is case:
            self._turn = None

    def _due(self, item: Item, moment: float, why: str) -> Due[Item]:
        self._number += 1
        return Due(moment, self._number, item, why)
