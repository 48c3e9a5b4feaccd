"""Starts a Locust master and its workers on this machine (``replay --engine locust``, extra ``scale``).

Nothing of Locust is imported here: it patches the process that imports it.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Sequence
from importlib.util import find_spec

from conformance.errors import UsageError
from conformance.scale.order import WorkerOrder
from conformance.scale.processes import Processes, close, started

PROCESS = "conformance.scale.locust_process"
LOG = "locust.log"
LONGEST_END = 30.0
"""Seconds in which Locust must have quit, once every share is over."""


class LocustProcesses(Processes):
    """A master, which has said its port, and its workers. ``over`` are the processes of the workers whose
    share is over."""

    def __init__(self, master: subprocess.Popen[bytes]) -> None:
        super().__init__()
        self.master = master
        self.over: set[int] = set()
        self.started.append(master)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.master.stdout or ():
            self.over.add(int(line))

    def _wait(self) -> None:
        while self.master.poll() is None and not all(map(self._is_over, self.started[1:])):
            time.sleep(0.05)
        if self.master.poll() is None:
            close(self.master)
        else:
            self.stop()
        for process in self.started:
            try:
                process.wait(LONGEST_END)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _is_over(self, worker: subprocess.Popen[bytes]) -> bool:
        return worker.pid in self.over or worker.poll() is not None


def locust_workers(orders: Sequence[WorkerOrder]) -> Processes:
    """A Locust master and a worker for each order. UsageError: Locust is not installed, or does not start."""
    if find_spec("locust") is None:
        raise UsageError("--engine locust needs locust: pip install 'portal-conformance[scale]'.")
    first = orders[0]
    log = first.options.out / LOG
    master = started(PROCESS, first, "master", log=log, stdout=subprocess.PIPE)
    port = (master.stdout.readline() if master.stdout else b"").decode().strip()
    if not port:
        master.wait()
        raise UsageError(f"The Locust master did not start: {log} says why.")
    processes = LocustProcesses(master)
    for _ in orders:
        processes.start(PROCESS, first, "worker", port, log=log)
    return processes
