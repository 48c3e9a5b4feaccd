"""When requests go out: recorded time that passes at the target, due times, idle clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from conformance.replay.load import Schedule
from conformance.replay.rebuild.actions import Actions, Await, PassTime
from conformance.replay.recording.plan import ReplayPlan

LONG = 1.0
"""Seconds of recorded time that are passed at a target whose clock can be moved."""

IDLE = 30.0
"""Seconds of waiting between two requests of a client after which a response may depend on the waiting."""


@dataclass
class Timing:
    """``now`` returns the target's time; ``scale`` is None at the highest pace, else the factor of recorded
    seconds; ``movable``: the target's time can be moved."""

    plan: ReplayPlan
    now: Callable[[], float]
    scale: float | None = None
    movable: bool = False
    schedule: Schedule | None = None
    """When the requests of a load are due, one after the other."""
    ended: Sequence[int] = ()
    """Says of every position whether it is over."""

    def __post_init__(self) -> None:
        self._rank: dict[int, int] = {}
        if self.schedule is not None:
            self._rank = {at: rank for rank, at in enumerate(self.plan.sent())}
        self._first = self.plan.order[0] if self.plan.order else 0
        self._live_start = self.now()
        self.moved = 0.0
        """Seconds of recorded time by which the target's clock was moved."""
        self._first_unended = 0

    def pass_time(self, position: int) -> Actions:
        """Moves the target's clock, which can be moved, by the recorded time."""
        if self._behind(position) <= LONG:
            return
        for earlier in self._before(position):
            yield Await(earlier)
        behind = self._behind(position)  # those before may have moved it
        if behind > LONG:
            yield PassTime(behind, "the time that passed when this was recorded")
            self.moved += behind

    def _before(self, position: int) -> Iterator[int]:
        """Yields unfinished exchanges with an earlier place in the recording."""
        order = self.plan.order
        while self.ended[order[self._first_unended]]:
            self._first_unended += 1
        for earlier in order[self._first_unended : self.plan.number_of(position) - 1]:
            if not self.ended[earlier]:
                yield earlier

    def shift(self, position: int) -> float:
        """Seconds by which the target's clock is ahead of the recorded one."""
        return self.now() - self.plan.moments[position]

    def due(self, position: int) -> float | None:
        """When a request is due, in seconds from the first one; None: at once."""
        if self.schedule is not None:
            return self.schedule.due(self._rank.get(position, 0))
        if self.scale is None:
            return None
        return (self.plan.started[position] - self.plan.started[self._first]) * self.scale

    def idle_seconds(self, position: int, last: int | None) -> float:
        """Seconds of recorded idleness since the client's last exchange, where the replay does not wait."""
        if last is None or self.movable or self.scale is not None:
            return 0.0
        idle = self.plan.started[position] - self.plan.started[last]
        return idle if idle >= IDLE else 0.0

    def _behind(self, position: int) -> float:
        """Seconds by which the target's time lags behind the recorded one."""
        plan = self.plan
        passed = plan.moments[position] - plan.moments[self._first]
        if self.scale is None:
            return passed - (self.now() - self._live_start)
        return passed - (plan.started[position] - plan.started[self._first]) - self.moved
