"""Latencies of a load by endpoint, recorded and replayed, in histograms of bounded size that merge.

A recorded latency is the duration of the exchange. A replayed one counts from when the request was due: so a
portal that stalls is charged for all that had to wait meanwhile (coordinated omission).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from conformance.errors import UsageError
from conformance.traffic.exchange import Json

if TYPE_CHECKING:
    from hdrh.histogram import HdrHistogram

LONGEST_MS, UNIT_MS, DIGITS = 3_600_000.0, 0.01, 2
"""The longest latency that is told from longer ones, the shortest unit, and the significant digits."""

ALL = "all requests"
SHOWN = {"p50_ms": 50.0, "p95_ms": 95.0, "p99_ms": 99.0}

Z_SCORE = 1.96
"""Standard deviations on both sides in which a quantile lies with a certainty of 95 %."""

SAMPLES_BEYOND = 10
"""Samples that must lie beyond a quantile, so that it says something."""


def histogram() -> HdrHistogram:
    """UsageError: the library is not installed, with the extra that brings it."""
    try:
        from hdrh.histogram import HdrHistogram
    except ImportError:
        raise UsageError("--rate needs the extra scale: pip install 'portal-conformance[scale]'.") from None
    return HdrHistogram(1, int(LONGEST_MS / UNIT_MS), DIGITS)


@dataclass
class LatencyHistogram:
    """Latencies in ms, each to one percent."""

    counts: HdrHistogram = field(default_factory=histogram)
    longest: float = 0.0

    def note(self, ms: float) -> None:
        self.counts.record_value(max(1, min(int(ms / UNIT_MS), int(LONGEST_MS / UNIT_MS))))
        self.longest = max(self.longest, ms)

    @property
    def samples(self) -> int:
        return int(self.counts.get_total_count())

    def at(self, percentile: float) -> float:
        """The latency in ms below which so many percent lie."""
        return float(self.counts.get_value_at_percentile(percentile)) * UNIT_MS

    def bounds(self, percentile: float) -> tuple[float, float] | None:
        """Between which latencies the percentile lies with a certainty of 95 %; None: too few samples."""
        share, samples = percentile / 100, self.samples
        if samples * (1 - share) < SAMPLES_BEYOND:
            return None
        width = Z_SCORE * math.sqrt(samples * share * (1 - share))
        ranks = samples * share - width, samples * share + width
        low, high = (100 * min(max(rank, 0.0), samples) / samples for rank in ranks)
        return self.at(low), self.at(high)

    def merged(self, other: Self) -> LatencyHistogram:
        both = LatencyHistogram(longest=max(self.longest, other.longest))
        both.counts.add(self.counts)
        both.counts.add(other.counts)
        return both

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> LatencyHistogram:
        """The histogram that ``as_json`` wrote; an empty one where none was written."""
        histogram = cls(longest=float(row.get("max_ms", 0.0)))
        if text := row.get("histogram"):
            histogram.counts.decode_and_add(str(text).encode())
        return histogram

    def as_json(self) -> dict[str, Json]:
        """``histogram`` is the HdrHistogram, compressed and in base64, in units of 10 us."""
        if not self.samples:
            return {"requests": 0}
        text = self.counts.encode().decode()
        shown: dict[str, Json] = {name: round(self.at(share), 2) for name, share in SHOWN.items()}
        return {"requests": self.samples, **shown, "max_ms": round(self.longest, 2), "histogram": text}


@dataclass
class Latencies:
    """Latency histograms for each endpoint, and one for all requests."""

    recorded: dict[str, LatencyHistogram] = field(default_factory=dict)
    replayed: dict[str, LatencyHistogram] = field(default_factory=dict)

    def note(self, endpoint: str, *, recorded_ms: float | None, replayed_ms: float) -> None:
        for name in (ALL, endpoint):
            self.replayed.setdefault(name, LatencyHistogram()).note(replayed_ms)
            if recorded_ms is not None:
                self.recorded.setdefault(name, LatencyHistogram()).note(recorded_ms)

    @classmethod
    def of(cls, rows: Mapping[str, Any]) -> Latencies:
        """The latencies that ``as_json`` wrote."""
        latencies = cls()
        for name, row in rows.items():
            latencies.replayed[name] = LatencyHistogram.of(row["replayed"])
            if row.get("recorded") is not None:
                latencies.recorded[name] = LatencyHistogram.of(row["recorded"])
        return latencies

    def merged(self, other: Self) -> Latencies:
        both = Latencies()
        for mine, theirs, merged in (
            (self.recorded, other.recorded, both.recorded),
            (self.replayed, other.replayed, both.replayed),
        ):
            for name in dict.fromkeys((*mine, *theirs)):
                merged[name] = mine.get(name, LatencyHistogram()).merged(theirs.get(name, LatencyHistogram()))
        return both

    def endpoints(self) -> list[str]:
        """All requests first, then the endpoints by their names."""
        return sorted(self.replayed, key=lambda name: (name != ALL, name))

    def as_json(self) -> dict[str, Json]:
        return {
            name: {
                "recorded": self.recorded[name].as_json() if name in self.recorded else None,
                "replayed": self.replayed[name].as_json(),
            }
            for name in self.endpoints()
        }
