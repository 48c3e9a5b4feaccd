"""How latencies spread, in counts that add up: of each bucket, which is 5 % wide, how many fell into it.

A recording is measured with these, whatever is installed; a load has histograms of an HdrHistogram.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

WIDTH = math.log(1.05)
SHORTEST_MS = 0.01


@dataclass
class Spread:
    """Counts by bucket."""

    counts: Counter[int] = field(default_factory=Counter)

    def note(self, ms: float) -> None:
        self.counts[round(math.log(max(ms, SHORTEST_MS)) / WIDTH)] += 1

    @property
    def samples(self) -> int:
        return self.counts.total()

    def at(self, percentile: float) -> float:
        """The latency in ms that so many percent do not exceed, to 3 %; 0 where there is none."""
        wanted, reached = self.samples * percentile / 100, 0
        for bucket in sorted(self.counts):
            reached += self.counts[bucket]
            if reached >= wanted:
                return math.exp(bucket * WIDTH)
        return 0.0

    def as_json(self) -> dict[str, int]:
        return {str(bucket): self.counts[bucket] for bucket in sorted(self.counts)}

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> Spread:
        """The spread that ``as_json`` wrote."""
        return cls(Counter({int(bucket): times for bucket, times in counts.items()}))
