"""Trials in parallel: a child process for each, forked from one that has collected everything."""

from __future__ import annotations

import gc
import os
import selectors
import signal
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import msgspec

from conformance.selftest.trial import Outcome

TOO_LONG = 120.0
"""Seconds after which a trial is given up."""

Job = Callable[[], Outcome]


@dataclass
class _Child:
    name: str
    pid: int
    pipe: int
    deadline: float
    told: bytearray


def run(jobs: Iterable[tuple[str, Job]], *, workers: int) -> Iterator[Outcome]:
    """The outcome of each job, in the order in which they end; of a child that breaks, its error."""
    waiting = iter(jobs)
    gc.freeze()
    with selectors.DefaultSelector() as selector:
        running = 0
        while True:
            while running < workers and (job := next(waiting, None)) is not None:
                child = _start(*job)
                selector.register(child.pipe, selectors.EVENT_READ, child)
                running += 1
            if not running:
                return
            for child in _told(selector):
                selector.unregister(child.pipe)
                running -= 1
                yield _end(child)


def _told(selector: selectors.BaseSelector) -> Iterator[_Child]:
    """The children that have said all they had to say, or took too long to say it."""
    for key, _ in selector.select(timeout=1.0):
        child: _Child = key.data
        chunk = os.read(child.pipe, 1 << 20)
        if chunk:
            child.told.extend(chunk)
        else:
            yield child
    now = time.monotonic()
    for key in list(selector.get_map().values()):
        if key.data.deadline < now:
            os.kill(key.data.pid, signal.SIGKILL)
            key.data.deadline = float("inf")


def _start(name: str, job: Job) -> _Child:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return _Child(name, pid, reading, time.monotonic() + TOO_LONG, bytearray())
    status = 1
    try:
        os.close(reading)
        gc.disable()
        _write(writing, msgspec.json.encode(_tried(name, job)))
        status = 0
    finally:
        os._exit(status)


def _tried(name: str, job: Job) -> Outcome:
    try:
        return job()
    except BaseException:
        return Outcome(name, errors={name: traceback.format_exc()})


def _write(pipe: int, octets: bytes) -> None:
    while octets:
        octets = octets[os.write(pipe, octets) :]


def _end(child: _Child) -> Outcome:
    os.close(child.pipe)
    os.waitpid(child.pid, 0)
    try:
        return msgspec.json.decode(bytes(child.told), type=Outcome)
    except msgspec.DecodeError:
        return Outcome(child.name, errors={child.name: f"no outcome within {TOO_LONG:.0f} s"})
