"""``exchanges.jsonl`` of a replay: each exchange numbered and written as a redacted line."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import msgspec
from msgspec.structs import replace

from conformance.replay.recording.fingerprint import REQUEST
from conformance.report.model.evidence import RunEvidence
from conformance.traffic.exchange import Exchange
from conformance.traffic.log import RedactedLines
from conformance.traffic.redaction.redact import Secrets

BUFFER_BYTES = 1 << 20

_ENCODE = msgspec.json.Encoder().encode


FindSecrets = Callable[[Exchange], object]
"""Registers what looks like a secret in an exchange."""


def find_no_secrets(exchange: Exchange) -> None:
    """Registers none: those that are known by their place are registered elsewhere."""


class LogLine(msgspec.Struct, frozen=True, gc=False):
    """A line of the log: its exchange, numbered, and the response's fingerprint where it was computed."""

    exchange: Exchange
    fingerprint: int | None = None


class ReplayLog(Protocol):
    """Where a replay logs its exchanges. ``count`` is the number of lines."""

    path: Path
    count: int

    @property
    def counted(self) -> RunEvidence | None:
        """What the reports show of all lines, once the log is closed; None where they have to be read."""

    def add(self, exchange: Exchange) -> LogLine:
        """Registers the secrets of an exchange, has it written, and returns it with its number."""

    def flush(self) -> None:
        """Has everything that was added on the disk, should the process be killed."""

    def close(self) -> None: ...


class UncachedLog:
    """Writes each exchange as a line without secrets: an exchange's number is its line."""

    def __init__(
        self, path: Path, secrets: Secrets, *, kept: int = 0, find_secrets: FindSecrets = find_no_secrets
    ) -> None:
        self.path = path
        self._find_secrets = find_secrets
        self.count = kept
        self._lines = RedactedLines(path, buffering=BUFFER_BYTES, kept=kept)
        self._secrets = secrets
        self._secrets_before = len(secrets)
        self._is_stale = False
        self.counted: RunEvidence | None = None

    def add(self, exchange: Exchange) -> LogLine:
        self.count += 1
        logged = numbered(exchange, self.count)
        self._secrets.add_from(logged)
        self._find_secrets(logged)
        self._note_new_secrets()
        head, text = head_of(logged), f"{request_text(logged)},{response_text(logged)}"
        self._lines.append(head + self._redacted(text, "{"))
        return LogLine(logged)

    def flush(self) -> None:
        self._lines.flush()

    def close(self) -> None:
        """Closes the file, and redacts all lines again where a secret was registered after the first line."""
        self._note_new_secrets()
        self._lines.close()
        if self._is_stale:
            redact_again(self._lines, self._redacted, first=self.count)

    def _redacted(self, text: str, opening: str) -> str:
        return self._secrets.redact_line(opening + text)[len(opening) :]

    def _note_new_secrets(self) -> None:
        """A secret may stand in lines that were written before it was registered."""
        self._is_stale |= self.count > 1 and len(self._secrets) != self._secrets_before
        self._secrets_before = len(self._secrets)


def redact_again(lines: RedactedLines, redact: Callable[[str, str], str], *, first: int) -> None:
    """Rewrites the first lines of a closed file but for their heads. ``redact`` takes a text, and what must
    precede it to make it JSON."""

    def redacted(line: str) -> str:
        head, between, rest = line.partition(REQUEST)
        return f"{head}{between}{redact(rest, '{' + between)}"

    lines.redact_again(redacted, first=first)


def numbered(exchange: Exchange, number: int) -> Exchange:
    return exchange if exchange.n == number else replace(exchange, n=number)


def head_of(exchange: Exchange) -> str:
    """The suite's own part of a line: number, time, duration, client. It is not redacted."""
    times = f'"started":"{exchange.started}","elapsed_ms":{exchange.elapsed_ms}'
    return f'{{"n":{exchange.n},{times},"client":{_quoted(exchange.client)},'


def request_text(exchange: Exchange) -> str:
    """The request's part of a line."""
    return f"{REQUEST}{_ENCODE(exchange.request).decode()}"


def response_text(exchange: Exchange) -> str:
    """The rest of a line: the response, and what follows it."""
    members = {
        name: value
        for name, value in (
            ("response", exchange.response),
            ("error", exchange.error),
            ("plain", exchange.plain),
        )
        if value is not None
    }
    return _ENCODE(members).decode()[1:]


@lru_cache(maxsize=1024)
def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()
