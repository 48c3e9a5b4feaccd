"""Fault runs in parallel: a child process for a few, forked from one that has collected everything."""

from __future__ import annotations

import gc
import os
import selectors
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, zip_longest

import msgspec

from conformance.selftest.fault_run import FaultOutcome

TOO_LONG = 900.0
"""Seconds after which a child is given up, with what it has not reported."""

AT_A_TIME = 6
"""How many fault runs a child makes: a fork costs as much as a short one."""

Job = Callable[[], FaultOutcome]


@dataclass
class _Child:
    names: list[str]
    pid: int
    pipe: int
    deadline: float
    output: bytearray


def run(jobs: Iterable[tuple[str, Job]], *, workers: int) -> Iterator[FaultOutcome]:
    """The outcome of each job, as children end; an error for what a child does not report."""
    waiting = iter(jobs)
    gc.freeze()
    with selectors.DefaultSelector() as selector:
        running = 0
        while True:
            while running < workers and (jobs_of_child := list(islice(waiting, AT_A_TIME))):
                child = _start(jobs_of_child)
                selector.register(child.pipe, selectors.EVENT_READ, child)
                running += 1
            if not running:
                return
            for child in _finished(selector):
                selector.unregister(child.pipe)
                running -= 1
                yield from _end(child)


def _finished(selector: selectors.BaseSelector) -> Iterator[_Child]:
    """The children that have reported everything. One that takes too long is killed."""
    for key, _ in selector.select(timeout=1.0):
        child: _Child = key.data
        chunk = os.read(child.pipe, 1 << 20)
        if chunk:
            child.output.extend(chunk)
        else:
            yield child
    now = time.monotonic()
    for key in list(selector.get_map().values()):
        if key.data.deadline < now:
            os.kill(key.data.pid, signal.SIGKILL)
            key.data.deadline = float("inf")


def _start(jobs: Sequence[tuple[str, Job]]) -> _Child:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return _Child([name for name, _ in jobs], pid, reading, time.monotonic() + TOO_LONG, bytearray())
    status = 1
    try:
        os.close(reading)
        gc.disable()
        for name, job in jobs:
            _write(writing, msgspec.json.encode(_tried(name, job)) + b"\n")
        status = 0
    finally:
        os._exit(status)


def _tried(name: str, job: Job) -> FaultOutcome:
    try:
        return job()
    except BaseException:
        return FaultOutcome(name, errors={name: traceback.format_exc()})


def _write(pipe: int, octets: bytes) -> None:
    while octets:
        octets = octets[os.write(pipe, octets) :]


def _end(child: _Child) -> Iterator[FaultOutcome]:
    os.close(child.pipe)
    os.waitpid(child.pid, 0)
    lines = child.output.split(b"\n")[:-1]
    for name, line in zip_longest(child.names, lines):
        if line is None:
            yield FaultOutcome(name, errors={name: f"no outcome within {TOO_LONG:.0f} s"})
        else:
            yield msgspec.json.decode(line, type=FaultOutcome)
