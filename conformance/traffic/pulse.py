"""When the exchanges of a run began and how long they took, in a sample of bounded size."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

MOST_MOMENTS = 32_768
"""The size of a sample; a full one is thinned out."""


@dataclass
class Moments:
    """The exchanges of one kind, as they came: when each began (epoch seconds; 0 where nothing says it), and
    how long it took (ms). ``every``: how many exchanges each of the sample stands for."""

    started: array[float] = field(default_factory=lambda: array("d"))
    elapsed: array[float] = field(default_factory=lambda: array("f"))
    every: int = 1
    total: int = 0

    def add(self, started: float, elapsed_ms: float) -> None:
        if self.total % self.every == 0:
            self.started.append(started)
            self.elapsed.append(elapsed_ms)
        self.total += 1
        if len(self.started) >= MOST_MOMENTS:
            self.started, self.elapsed = self.started[::2], self.elapsed[::2]
            self.every *= 2

    @property
    def times(self) -> array[float]:
        """Known start times in ascending order."""
        return array("d", sorted(time for time in self.started if time > 0))


@dataclass
class Pulse:
    """Start times of a run's exchanges: sign-in steps and others. ``earliest`` and ``latest`` are the first
    and last start, 0 if unknown."""

    sign_ins: Moments = field(default_factory=Moments)
    others: Moments = field(default_factory=Moments)
    earliest: float = 0.0
    latest: float = 0.0

    def add(self, started: float, elapsed_ms: float, *, is_sign_in: bool) -> None:
        (self.sign_ins if is_sign_in else self.others).add(started, elapsed_ms)
        if started > self.latest:
            self.latest = started
        if started > 0 and (started < self.earliest or not self.earliest):
            self.earliest = started
