"""``exchanges.jsonl``: the evidence of a run, without its secrets."""

from __future__ import annotations

import shutil
import threading
from itertools import islice
from pathlib import Path
from typing import Literal, Protocol, TextIO

import msgspec

from conformance.spec.operations import endpoint_key
from conformance.traffic.exchange import Exchange
from conformance.traffic.redaction.redact import Secrets
from conformance.traffic.replacing import not_following, written_whole

_ENCODER = msgspec.json.Encoder()

line_of = _ENCODER.encode
"""The line of an exchange in which there are no secrets, without its end."""


class ExchangeWriter(Protocol):
    """Where a run session writes its exchanges. ``path`` is the file for the reports."""

    path: Path

    def write(self, exchange: Exchange) -> object: ...

    def close(self) -> None: ...


class NoLog:
    """In place of the file of exchanges: nothing is kept."""

    path = Path()

    def write(self, exchange: Exchange) -> None:
        """Drops it."""

    def close(self) -> None:
        """There is nothing to close."""


def first_seen_in(exchange: Exchange) -> str:
    """The origin of the secrets that an exchange is the first to hold."""
    request = exchange.request
    endpoint = endpoint_key(request.method, request.path) or f"{request.method} {request.path}"
    return f"first seen in #{exchange.n}, {endpoint}{f' by {exchange.client}' if exchange.client else ''}"


class ExchangeLog:
    """Writes each exchange as a redacted line, and registers the secrets that the exchange itself shows.

    Of its lines an earlier part of a replay wrote ``kept``, and the next follow them. A value that becomes a
    secret later may stand in lines written before: those are rewritten once the file is complete.
    """

    def __init__(self, path: Path, secrets: Secrets, *, buffering: int = -1, kept: int = 0) -> None:
        self.path = path
        self.count = kept
        """How many lines the file has."""
        self._buffering = buffering
        self._is_new = not kept
        self._file: TextIO | None = None
        self._secrets = secrets
        self._lock = threading.Lock()
        self._secrets_before = len(secrets)
        self._stale_lines = 0

    def _opened(self) -> TextIO:
        """The file. Its first line opens it: a command that is refused before leaves an older file whole."""
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self._is_new and self.path.is_symlink():
                self.path.unlink()
            mode: Literal["w", "a"] = "w" if self._is_new else "a"
            self._file = open(  # noqa: SIM115 (closed by `close`)
                self.path, mode, self._buffering, encoding="utf-8", opener=not_following
            )
        return self._file

    @property
    def secrets(self) -> int:
        """How many secrets a line is redacted of."""
        return len(self._secrets)

    def write(self, exchange: Exchange) -> str:
        """Writes an exchange; returns its line."""
        self._secrets.add_from(exchange, origin=first_seen_in(exchange))
        with self._lock:
            self._note_new_secrets()
            line = self._secrets.redact_line(_ENCODER.encode(exchange).decode())
            self._append(line)
        return line

    def append(self, line: str) -> None:
        """Writes a line that is redacted already."""
        with self._lock:
            self._append(line)

    def _append(self, line: str) -> None:
        self.count += 1
        self._opened().write(f"{line}\n")

    def flush(self) -> None:
        with self._lock:
            self._opened().flush()

    def close(self) -> None:
        """Closes the file, and rewrites the lines that are older than the newest secret."""
        self._note_new_secrets()
        self._opened().close()
        if self._stale_lines:
            self._redact_again()

    def _note_new_secrets(self) -> None:
        """A secret may stand in lines that were written before it was registered."""
        if len(self._secrets) != self._secrets_before:
            self._secrets_before = len(self._secrets)
            self._stale_lines = self.count

    def _redact_again(self) -> None:
        redact = self._secrets.redact_line
        with (
            written_whole(self.path) as clean,
            self.path.open(encoding="utf-8") as lines,
            clean.open("w", encoding="utf-8") as out,
        ):
            out.writelines(f"{redact(line.rstrip(chr(10)))}\n" for line in islice(lines, self._stale_lines))
            shutil.copyfileobj(lines, out)
