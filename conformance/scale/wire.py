"""What goes between a worker and the process that leads it."""

from __future__ import annotations

import contextlib
from typing import IO, Protocol

WORKER = "conformance.scale.worker"
"""The module that is a worker, where that is not forked."""

BEGIN = b"\n"
"""Is sent to a forked worker that may begin."""


class Led(Protocol):
    """A process that is told to stop by the end of its standard input."""

    @property
    def stdin(self) -> IO[bytes] | None: ...


def close(process: Led) -> None:
    """Tells a process to stop."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
