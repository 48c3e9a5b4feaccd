"""The logarithmic scale of the drawings of latencies."""

from __future__ import annotations

from dataclasses import dataclass
from math import log10

SHORTEST_MS = 0.1
"""What is shorter is drawn as this."""

WIDTH, INSET = 150.0, 5.0
"""The width of a small plot, and the room at both of its sides."""


@dataclass(frozen=True, slots=True)
class LogScale:
    """From the lowest to the highest time, in ms."""

    lowest: float
    highest: float

    def place(self, ms: float, width: float = WIDTH, inset: float = INSET) -> float:
        """Where a time stands on so many pixels."""
        start = log10(max(self.lowest, SHORTEST_MS))
        span = log10(max(self.highest, SHORTEST_MS)) - start
        share = (log10(max(ms, SHORTEST_MS)) - start) / span if span > 0 else 0.0
        return inset + (width - 2 * inset) * min(1.0, max(0.0, share))
