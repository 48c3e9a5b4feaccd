"""What a worker reports of its requests to a load generator, as lines of JSON."""

from __future__ import annotations

import time
from typing import IO

import msgspec

from conformance.replay.compare.outcome import State
from conformance.replay.engine.step import ReplayStep
from conformance.scale.wire import StepReport

REPORTED_AFTER = 0.25
"""Seconds after which steps are reported."""

_encode = msgspec.json.Encoder().encode


class StepReports:
    """Writes what was sent, some steps at a time, each time a line of JSON."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._waiting: list[StepReport] = []
        self._written = time.monotonic()

    def add(self, step: ReplayStep) -> None:
        if step.attempt is not None:
            self._waiting.append(report_of(step))
        if time.monotonic() - self._written > REPORTED_AFTER:
            self.flush()

    def flush(self) -> None:
        """Without a reader the reports are lost, and the replay goes on."""
        self._written = time.monotonic()
        try:
            self._out.write(_encode(self._waiting) + b"\n")
            self._out.flush()
        except OSError:
            pass
        self._waiting.clear()


def report_of(step: ReplayStep) -> StepReport:
    """The report of a step that sent something."""
    attempt, outcome = step.attempt, step.outcome
    assert attempt is not None
    received = attempt.received
    response = received.response
    problem = response.error or ""
    if not problem and outcome.state is State.REGRESSED:
        paths = dict.fromkeys(difference.path or "body" for difference in outcome.differences)
        problem = f"regressed: {', '.join(list(paths)[:3])}"
    return StepReport(outcome.endpoint, received.elapsed_ms, len(response.body), problem)
