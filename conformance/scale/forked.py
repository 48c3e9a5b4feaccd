"""Workers that are forked from the process that analysed the recording, which they need not do again."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import IO

CAN_FORK = sys.platform.startswith("linux")
"""Elsewhere a process that has used libraries of the system may not be forked, or not at all."""

ForkedWork = Callable[[IO[bytes], IO[bytes]], int]
"""What a worker does: it reads when to begin and when to stop, and writes what it reports; it returns its
exit code."""


@dataclass(frozen=True)
class Link:
    """Two pipes between a worker and the process that leads it: by ``orders`` the worker is told to begin,
    and to stop once ``leads`` is closed; what it writes to ``reports`` comes out of ``reads``."""

    orders: IO[bytes]
    leads: IO[bytes]
    reads: IO[bytes]
    reports: IO[bytes]

    @staticmethod
    def new() -> Link:
        (orders, leads), (reads, reports) = os.pipe(), os.pipe()
        return Link(
            os.fdopen(orders, "rb", 0),
            os.fdopen(leads, "wb", 0),
            os.fdopen(reads, "rb"),
            os.fdopen(reports, "wb"),
        )

    @property
    def of_leader(self) -> tuple[IO[bytes], IO[bytes]]:
        return self.leads, self.reads

    @property
    def of_worker(self) -> tuple[IO[bytes], IO[bytes]]:
        return self.orders, self.reports


class Forked:
    """A forked process, as ``subprocess.Popen`` has it."""

    def __init__(self, process: BaseProcess, stdin: IO[bytes] | None = None) -> None:
        self._process, self.stdin = process, stdin

    @property
    def pid(self) -> int:
        return self._process.pid or 0

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        code = self._process.exitcode
        if code is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0.0)
        return code

    def kill(self) -> None:
        self._process.kill()


def forked(work: ForkedWork, link: Link, *, log: Path, foreign: Iterable[IO[bytes]]) -> BaseProcess:
    """Forks a process that does some work, at its end of the link. ``foreign`` are pipes that it must not
    hold: whoever reads them would wait for it too."""
    process = multiprocessing.get_context("fork").Process(
        target=_live, args=(work, link, log, (*foreign, *link.of_leader))
    )
    process.start()
    close_all(link.of_worker)
    return process


def close_all(pipes: Iterable[IO[bytes]]) -> None:
    for pipe in pipes:
        pipe.close()


def _live(work: ForkedWork, link: Link, log: Path, foreign: Iterable[IO[bytes]]) -> None:
    """The life of a forked process. It has a session of its own: an interrupt from the terminal is for the
    one that it was forked from."""
    os.setsid()
    close_all(foreign)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as errors, open(os.devnull, "r+b") as nothing:
        os.dup2(nothing.fileno(), 0)
        os.dup2(nothing.fileno(), 1)
        os.dup2(errors.fileno(), 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", 1)
    with link.reports as reports:
        code = work(link.orders, reports)
    sys.exit(code)
