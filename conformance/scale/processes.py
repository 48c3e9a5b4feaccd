"""The processes of workers on this machine."""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from conformance.scale.order import LOG, WorkerOrder

WORKER = "conformance.scale.worker"


class Processes:
    """Processes that read what to do from standard input, and end once that is closed."""

    def __init__(self) -> None:
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, module: str, order: WorkerOrder, *arguments: str, log: Path) -> subprocess.Popen[bytes]:
        process = started(module, order, *arguments, log=log)
        self.started.append(process)
        return process

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
    module: str, order: WorkerOrder, *arguments: str, log: Path, stdout: int = subprocess.DEVNULL
) -> subprocess.Popen[bytes]:
    """A process with its order on its way. It has a session of its own: an interrupt from the terminal is for
    the one that starts it."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=stdout,
            stderr=errors,
            start_new_session=True,
        )
    with contextlib.suppress(BrokenPipeError):
        pipe = _pipe(process)
        pickle.dump(order, pipe)
        pipe.flush()
    return process


def close(process: subprocess.Popen[bytes]) -> None:
    """Tells a process to stop."""
    with contextlib.suppress(OSError):
        _pipe(process).close()


def _pipe(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdin is not None
    return process.stdin


def plain_workers(orders: Sequence[WorkerOrder]) -> Processes:
    """A process for each worker, and nothing between them."""
    processes = Processes()
    for order in orders:
        processes.start(WORKER, order, log=order.folder / LOG)
    return processes
