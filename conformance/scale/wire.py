"""What goes between a worker and the process that leads it."""

from __future__ import annotations

import contextlib
from typing import IO, Protocol

import msgspec

WORKER = "conformance.scale.worker"
"""The module that is a worker, where that is not forked."""

BEGIN = b"\n"
"""Is sent to a forked worker that may begin."""


class StepReport(msgspec.Struct, array_like=True, gc=False):
    """A request as a load generator counts it. ``problem`` is empty where its answer is as recorded."""

    endpoint: str
    ms: float
    bytes: int
    problem: str = ""

    @property
    def method_and_name(self) -> tuple[str, str]:
        method, _, path = self.endpoint.partition(" ")
        return method, path


class Led(Protocol):
    """A process that is told to stop by the end of its standard input."""

    @property
    def stdin(self) -> IO[bytes] | None: ...


def close(process: Led) -> None:
    """Tells a process to stop."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
