"""``exchanges.jsonl`` of a replay: each exchange numbered and written as a redacted line."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from conformance.replay.recording.fingerprint import REQUEST
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
    """A written line: its exchange with its number, and its text without its head."""

    exchange: Exchange
    text: str
    secrets: int
    """How many secrets were registered when it was redacted."""


class ReplayLog:
    """Writes each exchange as a line without secrets: an exchange's number is its line.

    ``count`` is the number of lines, of which an earlier part of the replay wrote ``kept``.
    """

    def __init__(
        self, path: Path, secrets: Secrets, *, kept: int = 0, find_secrets: FindSecrets = find_no_secrets
    ) -> None:
        self.path = path
        self._find_secrets = find_secrets
        self.count = kept
        self._lines = RedactedLines(path, buffering=BUFFER_BYTES, kept=kept)
        self._secrets = secrets
        self._secrets_before = len(secrets)
        self._stale_lines = 0
        """Lines that were written before the newest secret."""

    def add(self, exchange: Exchange) -> LogLine:
        logged = replace(exchange, n=self.count + 1)
        self._secrets.add_from(logged)
        self._find_secrets(logged)
        self._note_new_secrets()
        text = self._redacted(f"{_request_text(logged)},{_response_text(logged)}", "{")
        return self._written(logged, text)

    def add_repeated(self, exchange: Exchange, line: LogLine, renewed: Iterable[tuple[str, str]]) -> LogLine:
        """Writes an exchange that repeats one before it but for a few values, none of them a secret: as they
        stand in that one's line, and as they are now."""
        if line.secrets != len(self._secrets):
            return self.add(exchange)
        text = line.text
        for before, now in renewed:
            text = text.replace(before, now)
        return self._written(replace(exchange, n=self.count + 1), text)

    def _written(self, exchange: Exchange, text: str) -> LogLine:
        self.count += 1
        self._lines.append(_head_of(exchange) + text)
        return LogLine(exchange, text, len(self._secrets))

    def flush(self) -> None:
        """Has everything that was added on the disk, should the process be killed."""
        self._lines.flush()

    def close(self) -> None:
        """Closes the file, and redacts those lines again that are older than the newest secret."""
        self._note_new_secrets()
        self._lines.close()
        if self._stale_lines:
            self._lines.redact_again(self._without_secrets, first=self._stale_lines)

    def _without_secrets(self, line: str) -> str:
        """A written line with its later secrets redacted as well, but for its head."""
        head, between, rest = line.partition(REQUEST)
        return f"{head}{between}{self._redacted(rest, '{' + between)}"

    def _redacted(self, text: str, opening: str) -> str:
        """A part of a line without secrets; ``opening`` is what must precede it to make it JSON."""
        return self._secrets.redact_line(opening + text)[len(opening) :]

    def _note_new_secrets(self) -> None:
        """A secret may stand in lines that were written before it was registered."""
        if len(self._secrets) != self._secrets_before:
            self._secrets_before = len(self._secrets)
            self._stale_lines = self.count


def _head_of(exchange: Exchange) -> str:
    """The suite's own part of a line: number, time, duration, client. It is not redacted."""
    times = f'"started":"{exchange.started}","elapsed_ms":{exchange.elapsed_ms}'
    return f'{{"n":{exchange.n},{times},"client":{_quoted(exchange.client)},'


def _request_text(exchange: Exchange) -> str:
    return f"{REQUEST}{_ENCODE(exchange.request).decode()}"


def _response_text(exchange: Exchange) -> str:
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
