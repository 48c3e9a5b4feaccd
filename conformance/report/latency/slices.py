"""Latencies of a load along its time: a histogram for each stretch, in a bounded number that merge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from conformance.report.latency.histograms import LatencyHistogram
from conformance.traffic.exchange import Json

MOST_SLICES = 60
"""Stretches that are kept; beyond them each becomes twice as long."""


@dataclass
class LatencySlices:
    """Histograms by the number of the stretch, from 0; each lasts ``seconds``, a power of two."""

    seconds: int = 1
    histograms: dict[int, LatencyHistogram] = field(default_factory=dict)

    def note(self, due: float, ms: float) -> None:
        """Takes the latency of a request that was due so many seconds after the load began."""
        while due >= self.seconds * MOST_SLICES:
            self._widen()
        at = max(0, int(due // self.seconds))
        if at not in self.histograms:
            self.histograms[at] = LatencyHistogram()
        self.histograms[at].note(ms)

    def _widen(self) -> None:
        """Makes each stretch twice as long."""
        wider: dict[int, LatencyHistogram] = {}
        for at, histogram in self.histograms.items():
            other = wider.get(at // 2)
            wider[at // 2] = histogram if other is None else other.merged(histogram)
        self.seconds, self.histograms = self.seconds * 2, wider

    def merged(self, other: Self) -> LatencySlices:
        """Those of two loads that began at the same time."""
        both = LatencySlices(self.seconds, dict(self.histograms))
        theirs = LatencySlices(other.seconds, dict(other.histograms))
        while both.seconds < theirs.seconds:
            both._widen()
        while theirs.seconds < both.seconds:
            theirs._widen()
        for at, histogram in theirs.histograms.items():
            mine = both.histograms.get(at)
            both.histograms[at] = histogram if mine is None else mine.merged(histogram)
        return both

    def as_json(self) -> dict[str, Json]:
        rows = sorted(self.histograms.items())
        return {
            "seconds": self.seconds,
            "slices": [{"begins": at * self.seconds, **histogram.as_json()} for at, histogram in rows],
        }

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> LatencySlices:
        """The slices that ``as_json`` wrote; none where a report of an earlier version has none."""
        seconds = int(row.get("seconds", 1))
        slices = {int(each["begins"]) // seconds: LatencyHistogram.of(each) for each in row.get("slices", [])}
        return cls(seconds, slices)
