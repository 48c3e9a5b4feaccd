"""The processes of workers on this machine."""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO, Protocol

from conformance.replay import AnalysedRecording
from conformance.scale.forked import CAN_FORK, Forked, Link, forked
from conformance.scale.order import LOG, WorkerOrder
from conformance.scale.wire import BEGIN, WORKER, Led, close
from conformance.scale.worker import obey
from conformance.traffic.garbage_collector import rare_garbage_collection


class Process(Protocol):
    """A process that ends once its standard input is closed: started anew, or forked from this one."""

    @property
    def pid(self) -> int: ...

    @property
    def stdin(self) -> IO[bytes] | None: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def kill(self) -> None: ...


class Processes:
    """Processes that read what to do from standard input, and end once that is closed."""

    def __init__(self) -> None:
        self.started: list[Process] = []

    def fork(self, order: WorkerOrder, recording: AnalysedRecording) -> None:
        """Forks the worker of an order, which has the recording from here."""
        link = Link.new()
        process = self.forked(order, recording, link)
        link.reads.close()
        with contextlib.suppress(BrokenPipeError):
            link.leads.write(BEGIN)
        self.started.append(Forked(process, link.leads))

    def forked(
        self,
        order: WorkerOrder,
        recording: AnalysedRecording,
        link: Link,
        *,
        foreign: Iterable[IO[bytes]] = (),
    ) -> BaseProcess:
        """A forked process that waits for the word to begin. ``foreign`` are pipes of others."""
        inputs = [each.stdin for each in self.started if each.stdin is not None]
        work = partial(obey, order, recording=recording)
        return forked(work, link, log=order.folder / LOG, foreign=[*inputs, *foreign])

    def wait(self) -> None:
        """Until all have ended. Where this is interrupted, they are told to stop, and waited for; at the
        second time they are killed."""
        try:
            self._wait()
        except KeyboardInterrupt:
            self.stop()
            try:
                self._wait()
            except KeyboardInterrupt:
                self.kill()
                self._wait()
            raise

    def stop(self) -> None:
        for process in self.started:
            close(process)

    def kill(self) -> None:
        for process in self.started:
            process.kill()

    def _wait(self) -> None:
        for process in self.started:
            process.wait()


def started(
    module: str,
    *arguments: str,
    given: bytes = b"",
    log: Path,
    stdout: int = subprocess.DEVNULL,
    inherited: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """A process, with bytes on its standard input. It has a session of its own: an interrupt from the
    terminal is for the one that starts it. ``inherited`` are descriptors that it has from this one."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=errors,
            start_new_session=True,
            pass_fds=inherited,
        )
    tell(process, given)
    return process


def started_worker(
    order: WorkerOrder, *, log: Path, stdout: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """A worker with its order."""
    return started(WORKER, given=pickle.dumps(order), log=log, stdout=stdout)


def tell(process: Led, words: bytes) -> None:
    """Sends a process some bytes. One that has ended hears nothing."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.write(words)
            process.stdin.flush()


def plain_workers(orders: Sequence[WorkerOrder], *, forks: bool = CAN_FORK) -> Processes:
    """A process for each worker, and nothing between them. ``forks``: they are forked from this one, which
    analyses the recording; else each does so. CaptureError, UsageError: it cannot be replayed."""
    processes = Processes()
    if not forks:
        for order in orders:
            processes.started.append(started_worker(order, log=order.folder / LOG))
        return processes
    with recording_of(orders[0]) as recording:
        for order in orders:
            processes.fork(order, recording)
    return processes


def recording_of(order: WorkerOrder) -> AnalysedRecording:
    """What all workers of an order replay, divided among them."""
    with rare_garbage_collection():
        recording = AnalysedRecording(order.files, order.profile, order.options)
        recording.shares(order.workers)
    return recording
