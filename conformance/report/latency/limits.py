"""Limits on latency: ``p95 <= 1.2x`` of the recorded one, or ``p99 <= 250ms``.

A percentile of few samples is hardly known: it lies between two bounds with a certainty of 95 %. A limit is
exceeded where the lower bound is above it, and kept where the upper bound is not. Else nothing is decided.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from conformance.errors import UsageError
from conformance.report.latency.histograms import Latencies, LatencyHistogram
from conformance.report.model.words import in_figures
from conformance.traffic.exchange import Json

LIMIT = re.compile(r"p(\d{1,2}(?:\.\d+)?)\s*<=\s*(\d+(?:\.\d+)?)(x|ms|s)")

LimitDecision = Literal["kept", "exceeded", "not decided"]


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
    decision: LimitDecision
    why: str

    def __str__(self) -> str:
        return f"--latency {self.limit!r} is {self.decision} for {self.endpoint}: {self.why}."

    def as_json(self) -> dict[str, Json]:
        return {"limit": self.limit, "endpoint": self.endpoint, "decision": self.decision, "why": self.why}
