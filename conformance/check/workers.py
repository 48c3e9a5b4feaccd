"""Processes on this machine that do the shares of a check; one that dies is replaced, and its share is done
once more."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Self

from conformance.check.lines import LinesShare
from conformance.check.share import Judged, JudgeShare, Share, judged
from conformance.traffic.garbage_collector import collect_garbage_rarely

ATTEMPTS = 2
"""How often a share is begun: a worker that dies of it twice will again."""

BEHIND = 5
"""By how much the priority of a process that writes lines is lower (``nice``): all else is done while one
process judges, and where there are more processes than processors, that one is not to take turns."""


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    connection: Connection
    share: Share | None = None


@dataclass
class Workers:
    """Does shares in ``count`` processes. ``lost`` are those whose workers died, with the reason.
    ``prepare`` gives the form in which a share is sent to its worker, by what is known then."""

    count: int
    judge: JudgeShare = judged
    prepare: Callable[[Share], Share] = lambda share: share
    results: dict[Share, Judged] = field(default_factory=dict)
    lost: dict[Share, str] = field(default_factory=dict)
    _waiting: deque[Share] = field(default_factory=deque)
    _begun: dict[Share, int] = field(default_factory=dict)
    _workers: list[_Worker] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.connection.close()
        self._workers.clear()

    def add(self, shares: Sequence[Share]) -> None:
        self._waiting.extend(shares)

    @property
    def is_done(self) -> bool:
        return not self._waiting and all(worker.share is None for worker in self._workers)

    def run(self) -> None:
        """Until every share is done or lost."""
        while not self.is_done:
            self.poll(None)

    def finish(self, share: Share, seconds: float) -> None:
        """Waits for one share that is begun, at most so many seconds; none is begun any more."""
        self._waiting.clear()
        until = time.monotonic() + seconds
        while any(worker.share is share for worker in self._workers) and time.monotonic() < until:
            self.poll(0.1)

    def poll(self, seconds: float | None) -> None:
        """Gives out shares, and takes what is done within so many seconds. An exception of a share is raised
        here: CaptureError, where its file cannot be read."""
        self._give_out()
        busy = {worker.connection: worker for worker in self._workers if worker.share is not None}
        for connection in wait(list(busy), seconds):
            if isinstance(connection, Connection):
                self._take(busy[connection])
        self._give_out()

    def _give_out(self) -> None:
        while self._waiting and (worker := self._free_worker()) is not None:
            share = self._waiting.popleft()
            self._begun[share] = self._begun.get(share, 0) + 1
            worker.share = share
            worker.connection.send(self.prepare(share))

    def _take(self, worker: _Worker) -> None:
        share = worker.share
        if share is None:
            return
        try:
            result = worker.connection.recv()
        except (EOFError, OSError):
            self._bury(worker, share)
            return
        worker.share = None
        if isinstance(result, BaseException):
            raise result
        self.results[share] = result

    def _bury(self, worker: _Worker, share: Share) -> None:
        """Its share is done once more by another, first of all; nothing of it was counted."""
        self._workers.remove(worker)
        worker.connection.close()
        worker.process.join()
        if self._begun[share] < ATTEMPTS:
            self._waiting.appendleft(share)
        else:
            self.lost[share] = "its process died twice"

    def _free_worker(self) -> _Worker | None:
        free = next((worker for worker in self._workers if worker.share is None), None)
        if free is None and len(self._workers) < self.count:
            here, there = multiprocessing.Pipe()
            inherited = [here, *(worker.connection for worker in self._workers)]
            if multiprocessing.get_start_method() != "fork":
                inherited = []
            process = multiprocessing.get_context().Process(
                target=_work, args=(there, self.judge, inherited), daemon=True
            )
            process.start()
            there.close()
            free = _Worker(process, here)
            self._workers.append(free)
        return free


def _work(connection: Connection, judge: JudgeShare, inherited: Sequence[Connection]) -> None:
    """The life of a worker. An interrupt is its parent's, which ends it. Where the parent is gone, nobody
    holds the other end of its connection, as it closes what it inherited."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in inherited:
        other.close()
    collect_garbage_rarely()
    is_behind = False
    while True:
        try:
            share = connection.recv()
        except (EOFError, OSError):
            return
        if isinstance(share, LinesShare) and not is_behind:
            is_behind = True
            os.nice(BEHIND)
        try:
            result: Judged | BaseException = judge(share)
        except Exception as error:
            result = error
        try:
            connection.send(result)
        except OSError:
            return
