"""When the requests of a load are due: an open model, in which no client waits for the answers of another."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from conformance.errors import UsageError

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
        """Seconds from the first request at which the one of a number, from 0, is due."""
        ramped = self.rate * self.ramp / 2
        if number < ramped:
            return math.sqrt(2 * self.ramp * number / self.rate)
        return self.ramp + (number - ramped) / self.rate
