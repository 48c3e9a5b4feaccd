"""Latencies of a load, recorded and replayed, in histograms of bounded size that merge, and limits on them.

A recorded latency is the duration of the exchange. A replayed one counts from when the request was due: so a
portal that stalls is charged for all that had to wait meanwhile (coordinated omission).

A percentile of few samples is hardly known: it lies between two bounds with a certainty of 95 %. A limit is
exceeded where the lower bound is above it, and kept where the upper bound is not. Else nothing is decided.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

from conformance.errors import UsageError
from conformance.report.model.words import in_figures
from conformance.traffic.exchange import Json

if TYPE_CHECKING:
    from hdrh.histogram import HdrHistogram

LONGEST_MS, UNIT_MS, DIGITS = 3_600_000.0, 0.01, 2
"""The longest latency that is told from longer ones, the shortest unit, and the significant digits."""
ALL = "all requests"
SHOWN = {"p50_ms": 50.0, "p95_ms": 95.0, "p99_ms": 99.0}

Z_SCORE, SAMPLES_BEYOND = 1.96, 10
"""Standard deviations on both sides in which a quantile lies with a certainty of 95 %, and the samples that
must lie beyond it, so that it says something."""


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


def _merged(pairs: Iterable[tuple[Any, LatencyHistogram]]) -> dict[Any, LatencyHistogram]:
    """Histograms by their keys; those of one key merge."""
    whole: dict[Any, LatencyHistogram] = {}
    for key, each in pairs:
        whole[key] = whole[key].merged(each) if key in whole else each
    return whole


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
        pairs = [(*self.recorded.items(), *other.recorded.items())]
        pairs += [(*self.replayed.items(), *other.replayed.items())]
        return Latencies(*map(_merged, pairs))

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


LIMIT = re.compile(r"p(\d{1,2}(?:\.\d+)?)\s*<=\s*(\d+(?:\.\d+)?)(x|ms|s)")


@dataclass(frozen=True)
class LatencyLimit:
    """``factor`` is of the recorded percentile, ``most_ms`` is absolute: one of them is None."""

    text: str
    percentile: float
    factor: float | None = None
    most_ms: float | None = None

    @classmethod
    def of(cls, text: str) -> LatencyLimit:
        """UsageError: it is no limit."""
        match = LIMIT.fullmatch(text.strip().lower())
        if match is None or not 0 < float(match[1]) < 100 or not float(match[2]):
            raise UsageError(f"--latency {text!r}: write a limit such as 'p95 <= 1.2x' or 'p99 <= 250ms'.")
        percentile, number, unit = float(match[1]), float(match[2]), match[3]
        if unit == "x":
            return cls(text, percentile, factor=number)
        return cls(text, percentile, most_ms=number * (1000 if unit == "s" else 1))

    def decided(self, latencies: Latencies) -> Iterator[LimitResult]:
        """By endpoint: all requests, and each with enough samples."""
        for index, name in enumerate(latencies.endpoints()):
            result = self._decided_for(name, latencies.recorded.get(name), latencies.replayed[name])
            if result.decision != "not decided" or not index:
                yield result

    def _decided_for(
        self, name: str, recorded: LatencyHistogram | None, replayed: LatencyHistogram
    ) -> LimitResult:
        interval = replayed.bounds(self.percentile)
        if interval is None:
            few = f"{replayed.samples} requests are too few for {self.text.split()[0]}"
            return LimitResult(self.text, name, "not decided", few)
        limits = self._limits(recorded)
        if limits is None:
            return LimitResult(self.text, name, "not decided", "the recording has too few requests")
        why = f"{_span(interval)} ms, and the limit is {_span(limits)} ms"
        if interval[0] > limits[1]:
            return LimitResult(self.text, name, "exceeded", why)
        return LimitResult(self.text, name, "kept" if interval[1] <= limits[0] else "not decided", why)

    def _limits(self, recorded: LatencyHistogram | None) -> tuple[float, float] | None:
        """In ms; None where the recording does not tell."""
        if self.most_ms is not None:
            return self.most_ms, self.most_ms
        bounds = None if recorded is None else recorded.bounds(self.percentile)
        factor = self.factor or 1.0
        return None if bounds is None else (bounds[0] * factor, bounds[1] * factor)


def _span(bounds: tuple[float, float]) -> str:
    low, high = map(in_figures, bounds)
    return low if low == high else f"{low} to {high}"


@dataclass(frozen=True)
class LimitResult:
    """What became of a limit at an endpoint, and the figures that decide it."""

    limit: str
    endpoint: str
    decision: Literal["kept", "exceeded", "not decided"]
    why: str

    def __str__(self) -> str:
        return f"--latency {self.limit!r} is {self.decision} for {self.endpoint}: {self.why}."

    def as_json(self) -> dict[str, Json]:
        return asdict(self)


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
            wider = self.widened(2 * self.seconds)
            self.seconds, self.histograms = wider.seconds, wider.histograms
        at = max(0, int(due // self.seconds))
        if at not in self.histograms:
            self.histograms[at] = LatencyHistogram()
        self.histograms[at].note(ms)

    def widened(self, seconds: int) -> LatencySlices:
        """The same with longer stretches."""
        pairs = ((at * self.seconds // seconds, each) for at, each in self.histograms.items())
        return LatencySlices(seconds, _merged(pairs))

    def merged(self, other: Self) -> LatencySlices:
        """Those of two loads that began at the same time."""
        seconds = max(self.seconds, other.seconds)
        parts = [each.widened(seconds).histograms for each in (self, other)]
        return LatencySlices(seconds, _merged(pair for part in parts for pair in part.items()))

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


WIDTH, SHORTEST_MS = math.log(1.05), 0.01


@dataclass
class Spread:
    """Latencies of a recording in buckets that are 5 % wide: how many fell into each."""

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
