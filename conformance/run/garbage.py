"""Frees what cases leave in cycles, by the amount of traffic."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable
from pathlib import Path

DUE_BYTES = 4 * 1024 * 1024
"""Bytes of recorded exchanges after which garbage is collected."""


class GarbageByTraffic:
    """Collects garbage whenever a record of exchanges has grown by ``DUE_BYTES``.

    The exception of a case that fails or is skipped forms a cycle that holds the exchanges of the case. The
    interpreter collects cycles by the number of new containers, in which dictionaries of texts do not count:
    answers of very many records would stay in memory.
    """

    def __init__(self, record: Path, collect: Callable[[], object] = gc.collect) -> None:
        self._record = record
        self._collect = collect
        self._collected_at = 0

    def collect_where_due(self) -> None:
        """Called after each case."""
        size = 0
        with contextlib.suppress(OSError):
            size = self._record.stat().st_size
        if size - self._collected_at > DUE_BYTES:
            self._collected_at = size
            self._collect()
