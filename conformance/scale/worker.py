"""One worker of a replay: a process of its own, ``python -m conformance.scale.worker``.

It reads its order from standard input. Once that is closed nobody waits for it any more: it stops sending,
and restores what it changed.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import BinaryIO

import msgspec

from conformance.errors import SuiteError
from conformance.replay import replay
from conformance.replay.compare.outcome import State
from conformance.replay.engine.sessions import ignore
from conformance.replay.engine.step import ReplayStep
from conformance.replay.recording.shares import Share
from conformance.scale.order import SharedSession, WorkerNote, WorkerOrder

REPORTED_AFTER = 0.25
"""Seconds after which steps are reported."""

_encode = msgspec.json.Encoder().encode


class NothingToReplay(Exception):
    """There are more workers than shares."""


class StepReport(msgspec.Struct, array_like=True):
    """A request as a load generator counts it. ``problem`` is empty where its answer is as recorded."""

    method: str
    endpoint: str
    ms: float
    bytes: int
    problem: str = ""


class StepReports:
    """Writes what was sent, some steps at a time, each time a line of JSON."""

    def __init__(self, out: BinaryIO) -> None:
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
    attempt, outcome = step.attempt, step.outcome
    assert attempt is not None
    response = attempt.received.response
    method, _, path = outcome.endpoint.partition(" ")
    problem = response.error or ""
    if not problem and outcome.state is State.REGRESSED:
        paths = dict.fromkeys(difference.path or "body" for difference in outcome.differences)
        problem = f"regressed: {', '.join(list(paths)[:3])}"
    return StepReport(method, path, attempt.received.elapsed_ms, len(response.body), problem)


def work(order: WorkerOrder, out: BinaryIO) -> int:
    """Replays the share of a worker, and returns the exit code of that replay."""
    note = WorkerNote(order.index + 1, os.getpid())
    note.write(order.folder)

    def take(share: Share) -> None:
        note.sessions = [SharedSession(*each) for each in share.sessions.values()]
        note.write(order.folder)
        if not share.sessions:
            raise NothingToReplay

    reports = StepReports(out)
    on_step: Callable[[ReplayStep], None] = reports.add if order.reports_steps else ignore
    try:
        options = order.own_options()
        return replay(order.files, order.profile, options, on_step=on_step, on_share=take).run.exit_code
    except NothingToReplay:
        return 0
    except SuiteError as problem:
        note.error, note.exit_code = str(problem), int(problem.exit_code)
        note.write(order.folder)
        return note.exit_code
    finally:
        if order.reports_steps:
            reports.flush()


def main() -> int:
    order = pickle.load(sys.stdin.buffer)
    over = threading.Event()
    threading.Thread(target=_interrupt_when_left, args=(over,), daemon=True).start()
    try:
        return work(order, sys.stdout.buffer)
    finally:
        over.set()


def _interrupt_when_left(over: threading.Event) -> None:
    """Interrupts the replay where the process that started it has closed its end, or is gone."""
    while os.read(sys.stdin.fileno(), 1024):
        pass
    if not over.is_set():
        os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    sys.exit(main())
