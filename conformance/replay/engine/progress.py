"""How far a replay is: which exchanges have ended, which sessions wait for that, and what failed for what."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from conformance.replay.rebuild.actions import Actions
from conformance.replay.rebuild.factors import Client
from conformance.replay.recording.plan import ReplayPlan


@dataclass
class Progress:
    """``ended`` holds 1 for each position that is over; ``on_ended`` is called as soon as one is."""

    plan: ReplayPlan
    on_ended: Callable[[int], None] = lambda position: None
    _clients: defaultdict[int, Client] = field(default_factory=lambda: defaultdict(Client))
    _roots: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ended = bytearray(len(self.plan.store))
        for position in self.plan.refused:
            self.ended[position] = self.plan.session_of[position] < 0

    def client(self, position: int) -> Client:
        return self._clients[self.plan.session_of[position]]

    def is_over(self, position: int) -> bool:
        return bool(self.ended[position])

    def end(self, position: int) -> None:
        self.ended[position] = 1
        self.client(position).last = position
        self.on_ended(position)

    def fail(self, position: int, root: int | None) -> None:
        """Notes an exchange without response, caused by itself or by exchange number ``root``."""
        self._roots[position] = self.plan.number_of(position) if root is None else root

    def root(self, position: int) -> int:
        """The first exchange in a chain of failed ones, by its number."""
        return self._roots.get(position, self.plan.number_of(position))


class Places:
    """Places for sessions side by side. Sessions that have waited take one before others begin."""

    def __init__(self, progress: Progress, concurrency: int, start: Callable[[Actions], None]) -> None:
        """``start`` is called with each session that has a place."""
        self._loop = asyncio.get_running_loop()
        self._progress = progress
        self._free = concurrency
        self._start = start
        self._queue: deque[Actions] = deque()
        self._ready: deque[asyncio.Future[None]] = deque()
        self._waiting: dict[int, list[asyncio.Future[None]]] = {}
        progress.on_ended = self._ended

    def begin(self, sessions: Sequence[Actions]) -> None:
        """Has sessions start as far as there are places, now and whenever one is free."""
        self._queue.extend(sessions)
        self._fill()

    def release(self) -> None:
        """Gives the place of a session to another."""
        self._free += 1
        self._fill()

    async def wait_for(self, position: int) -> None:
        """Waits until an exchange has ended, without a place meanwhile."""
        if not self._progress.ended[position]:
            turn = self._loop.create_future()
            self._waiting.setdefault(position, []).append(turn)
            self.release()
            await turn

    def _fill(self) -> None:
        while self._free > 0 and (self._ready or self._queue):
            if not self._ready:
                self._start(self._queue.popleft())
            elif not (turn := self._ready.popleft()).cancelled():
                turn.set_result(None)
            else:
                continue
            self._free -= 1

    def _ended(self, position: int) -> None:
        if position in self._waiting:
            self._ready.extend(self._waiting.pop(position))
            self._fill()
