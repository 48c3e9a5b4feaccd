"""Measures a replay as load: due times of requests, latencies from due time, and the driver's lag."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from conformance.errors import UsageError
from conformance.replay.engine.step import ReplayStep
from conformance.replay.options import Lag
from conformance.report.latency import Latencies, LatencyLimit, LatencySlices, LimitResult
from conformance.report.model.words import in_figures
from conformance.traffic.exchange import Json

BEHIND_SECONDS, BUSY = 0.05, 0.9
"""A driver's mean lag, and its share of one core, from which on its figures are not the portal's alone."""


@dataclass
class LoadMeter:
    """``recorded_ms`` gives the recorded duration at a position; None where it was not recorded."""

    schedule: Schedule
    limits: Sequence[LatencyLimit] = ()
    recorded_ms: Callable[[int], float | None] = lambda position: None
    latencies: Latencies = field(default_factory=Latencies)
    along: LatencySlices = field(default_factory=LatencySlices)
    own_lag: Lag = field(default_factory=Lag)
    """How late the driver itself sent what nothing held up."""
    passes: int = 0
    """How often the recording was replayed."""
    requests: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    _latest: dict[int, float] = field(default_factory=dict)
    _began: float = 0.0

    @contextmanager
    def measured(self, own_lag: Lag) -> Iterator[None]:
        """Takes the time of a pass, however it ends, and how late the driver was meanwhile."""
        self._began, busy = time.perf_counter(), time.process_time()
        try:
            yield
        finally:
            self.passes += 1
            self.seconds += time.perf_counter() - self._began
            self.cpu += time.process_time() - busy
            self.own_lag.total += own_lag.total
            self.own_lag.count += own_lag.count
            self.own_lag.most = max(self.own_lag.most, own_lag.most)

    def answered(self, position: int, latency_ms: float) -> None:
        """Takes the latency of a request, from when it was due, in ms."""
        self.requests += 1
        self._latest[position] = latency_ms
        due = self.seconds + time.perf_counter() - self._began - latency_ms / 1000
        self.along.note(due, latency_ms)

    def take(self, step: ReplayStep) -> None:
        """Records the latency of a finished step under its endpoint."""
        latency = self._latest.pop(step.position, None)
        if latency is not None:
            recorded = self.recorded_ms(step.position)
            self.latencies.note(step.outcome.endpoint, recorded_ms=recorded, replayed_ms=latency)

    @property
    def rate(self) -> float:
        return self.requests / self.seconds if self.seconds else 0.0

    @property
    def share_of_a_core(self) -> float:
        return self.cpu / self.seconds if self.seconds else 0.0

    @property
    def mean_lag(self) -> float:
        return self.own_lag.total / self.own_lag.count if self.own_lag.count else 0.0

    def decided(self) -> list[LimitResult]:
        """Results of the latency limits, for all requests and for endpoints with enough samples."""
        return [result for limit in self.limits for result in limit.decided(self.latencies)]

    def notes(self) -> Iterator[str]:
        times = "once" if self.passes == 1 else f"{self.passes} times"
        yield (
            f"The recording was sent {times}: {self.requests} requests at {in_figures(self.rate)}/s, where "
            f"{in_figures(self.schedule.rate)}/s were asked for; latency counts from when a request was due."
        )
        if self.mean_lag > BEHIND_SECONDS or self.share_of_a_core > BUSY:
            yield (
                f"The replay could not keep up: it sent {self.mean_lag:.3f} s late on average and used "
                f"{self.share_of_a_core:.0%} of a core. Do not blame the portal for these latencies."
            )
        for result in self.decided():
            yield str(result)

    def as_json(self) -> dict[str, Json]:
        return {
            "rate": self.schedule.rate,
            "ramp_seconds": self.schedule.ramp,
            "passes": self.passes,
            "requests": self.requests,
            "reached_rate": round(self.rate, 3),
            "driver": {
                "mean_lag_ms": round(self.mean_lag * 1000, 3),
                "most_lag_ms": round(self.own_lag.most * 1000, 3),
                "share_of_a_core": round(self.share_of_a_core, 3),
            },
            "latency": self.latencies.as_json(),
            "along": self.along.as_json(),
            "limits": [result.as_json() for result in self.decided()],
        }


RATE = re.compile(r"(\d+(?:\.\d+)?)(?:/(s|min))?")
DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|min|h)")
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def rate_of(text: str) -> float:
    """Requests a second, of ``200/s``, ``90/min`` or ``200``. UsageError."""
    match = RATE.fullmatch(text.strip())
    rate = float(match[1]) / SECONDS[match[2] or "s"] if match else 0.0
    if rate <= 0:
        raise UsageError(
            f"--rate {text}: give the number of requests in a second, such as 200/s, or in a minute, such "
            "as 90/min."
        )
    return rate


def seconds_of(text: str, option: str) -> float:
    """Seconds, of ``30s``, ``5m`` or ``250ms``. UsageError, also for a number without a unit."""
    match = DURATION.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"{option} {text}: write a number with ms, s, m or h, such as 250ms, 30s or 5m.")
    return float(match[1]) * SECONDS[match[2]]


@dataclass(frozen=True)
class Schedule:
    """``rate`` requests a second, which is reached after ``ramp`` seconds."""

    rate: float
    ramp: float = 0.0

    def due(self, number: int) -> float:
        """Seconds from the first request until request ``number``, counted from 0, is due."""
        ramped = self.rate * self.ramp / 2
        if number < ramped:
            return math.sqrt(2 * self.ramp * number / self.rate)
        return self.ramp + (number - ramped) / self.rate
