"""``exchanges.jsonl``: the evidence of a run, without its secrets."""

from __future__ import annotations

import shutil
import threading
from itertools import islice
from pathlib import Path
from typing import TextIO

import msgspec

from conformance.traffic.exchange import Exchange
from conformance.traffic.redaction.redact import Secrets


class ExchangeLog:
    """The single writer of ``exchanges.jsonl``: a line for each exchange, without its secrets."""

    def __init__(self, path: Path, secrets: Secrets) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._secrets = secrets
        self._encoder = msgspec.json.Encoder()
        self._file: TextIO = path.open("w", encoding="utf-8")
        self._lock = threading.Lock()
        self._count = self._written_before = 0
        self._known = len(secrets)

    def write(self, exchange: Exchange) -> None:
        self._secrets.add_from(exchange)
        with self._lock:
            self._note_new_secrets()
            self._count += 1
            self._file.write(self._secrets.redact_line(self._encoder.encode(exchange).decode()) + "\n")

    def flush(self) -> None:
        with self._lock:
            self._file.flush()

    def close(self) -> None:
        """Closes the file, and goes over the lines that were written before the last secret was known."""
        self._note_new_secrets()
        self._file.close()
        if not self._written_before:
            return
        clean = self.path.with_suffix(".jsonl.clean")
        with self.path.open(encoding="utf-8") as lines, clean.open("w", encoding="utf-8") as out:
            out.writelines(self._secrets.redact_line(line) for line in islice(lines, self._written_before))
            shutil.copyfileobj(lines, out)
        clean.replace(self.path)

    def _note_new_secrets(self) -> None:
        """A secret may stand in what was written before it was known to be one."""
        if len(self._secrets) != self._known:
            self._known = len(self._secrets)
            self._written_before = self._count
