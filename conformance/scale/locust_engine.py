"""Starts a Locust master and its workers on this machine (``replay --engine locust``, extra ``scale``).

Nothing of Locust is imported here: it patches the process that imports it.
"""

from __future__ import annotations

import pickle
import subprocess
import threading
import time
from collections.abc import Sequence
from importlib.util import find_spec

from conformance.errors import UsageError
from conformance.replay import AnalysedRecording
from conformance.scale.forked import CAN_FORK, Forked, Link, close_all
from conformance.scale.order import LONGEST_END as LONGEST_RESTORING
from conformance.scale.order import WorkerOrder
from conformance.scale.processes import Process, Processes, recording_of, started, tell
from conformance.scale.wire import close

PROCESS = "conformance.scale.locust_process"
LOG, CSV = "locust.log", "locust.csv"
LONGEST_END = 30.0
"""Seconds in which Locust must have quit, once every share is over."""


class LocustProcesses(Processes):
    """A master and its workers, and the processes that replay the shares, where they are forked from this
    one. ``over`` are the processes of the workers of Locust whose share is over."""

    def __init__(self, first: WorkerOrder) -> None:
        super().__init__()
        out = first.options.out
        self.log = out / LOG
        self.master = started(
            PROCESS, "master", str(first.workers), str(out / CSV), log=self.log, stdout=subprocess.PIPE
        )
        self.workers: list[Process] = []
        self.shares: list[Forked] = []
        self.over: set[int] = set()
        self.started.append(self.master)

    def follow(self, link: Link | None = None) -> None:
        """Starts a worker of Locust. By a link it leads a worker that is forked here, else it starts one."""
        ends = () if link is None else link.of_leader
        inherited = [end.fileno() for end in ends]
        worker = started(PROCESS, "worker", *map(str, inherited), log=self.log, inherited=inherited)
        close_all(ends)
        self.started.append(worker)
        self.workers.append(worker)

    def connect(self, orders: Sequence[WorkerOrder]) -> None:
        """Has the workers connect to the master, each with an order. UsageError: it does not start."""
        output = self.master.stdout
        port = (output.readline() if output else b"").decode().strip()
        if not port:
            self.master.wait()
            raise UsageError(f"The Locust master did not start: {self.log} says why.")
        threading.Thread(target=self._read, daemon=True).start()
        for worker, order in zip(self.workers, orders, strict=True):
            given = pickle.dumps(order)
            tell(worker, f"{port} {len(given)}\n".encode() + given)

    def share(
        self, order: WorkerOrder, recording: AnalysedRecording, link: Link, later: Sequence[Link]
    ) -> None:
        """Forks the worker that a worker of Locust leads. ``later`` are the links of those that follow."""
        foreign = [end for each in later for end in each.of_worker]
        self.shares.append(Forked(self.forked(order, recording, link, foreign=foreign)))

    def kill(self) -> None:
        super().kill()
        for share in self.shares:
            share.kill()

    def _read(self) -> None:
        for line in self.master.stdout or ():
            self.over.add(int(line))

    def _wait(self) -> None:
        while self.master.poll() is None and not all(map(self._is_over, self.workers)):
            time.sleep(0.05)
        if self.master.poll() is None:
            close(self.master)
        else:
            self.stop()
        for process in self.started:
            _end(process, LONGEST_END)
        for share in self.shares:
            _end(share, LONGEST_RESTORING)

    def _is_over(self, worker: Process) -> bool:
        return worker.pid in self.over or worker.poll() is not None


def _end(process: Process, longest: float) -> None:
    """Waits for the end of a process, for so many seconds; then it is killed."""
    try:
        process.wait(longest)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def locust_workers(orders: Sequence[WorkerOrder], *, forks: bool = CAN_FORK) -> LocustProcesses:
    """A Locust master and a worker for each order. ``forks``: as for ``plain_workers``. UsageError: Locust is
    not installed, or does not start; as CaptureError, the recording cannot be replayed."""
    if find_spec("locust") is None:
        raise UsageError("--engine locust needs locust: pip install 'portal-conformance[scale]'.")
    processes = LocustProcesses(orders[0])
    try:
        _begin(processes, orders, forks=forks)
    except BaseException:
        processes.stop()
        raise
    return processes


def _begin(processes: LocustProcesses, orders: Sequence[WorkerOrder], *, forks: bool) -> None:
    """Locust starts while this process analyses the recording."""
    reporting = [order.of(order.index, reports_steps=True) for order in orders]
    if not forks:
        for _ in orders:
            processes.follow()
        processes.connect(reporting)
        return
    links = [Link.new() for _ in orders]
    for link in links:
        processes.follow(link)
    with recording_of(orders[0]) as recording:
        for order, link in zip(reporting, links, strict=True):
            processes.share(order, recording, link, links[order.index + 1 :])
    processes.connect(reporting)
