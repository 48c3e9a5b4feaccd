"""Exchanges that are alike as far as checks look: told by a surface and an answer, and judged once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Generic, TypeVar

import msgspec

from conformance.checks.registry import CREDENTIALS
from conformance.exchange import ABSENT, Exchange, Json

KEPT = 20_000
"""How many of each kind are remembered at least; twice as many at most."""

DECIDING = (*sorted(CREDENTIALS), "x-client-hash", "x-request-id", "x-locale")
"""Request headers of which it matters whether they are there."""

Place = tuple[str, bool, tuple[Json, ...]]
"""An operation, whether through the ingress, and a surface."""

_ENCODE = msgspec.json.Encoder().encode


def surface(exchange: Exchange) -> tuple[Json, ...]:
    """All of an exchange but its data and its secrets: what most of its envelope is judged by.

    Of the timestamp only whether it is there, its type, and its order of magnitude.
    """
    envelope, request, response = exchange.envelope or {}, exchange.request, exchange.response
    stamp = envelope.get("timestamp", ABSENT)
    data = envelope.get("data", ABSENT)
    message, version = envelope.get("message", ABSENT), envelope.get("version", ABSENT)
    success = envelope.get("success", ABSENT)
    names = request.named
    return (
        exchange.status,
        None if response is None else response.named.get("content-type"),
        success if isinstance(success, bool | str) else type(success),
        exchange.code,
        message if isinstance(message, str) else type(message),
        version if isinstance(version, str) else type(version),
        (type(stamp), len(str(int(stamp))), stamp == int(stamp))
        if type(stamp) in (int, float)
        else type(stamp),
        data if data is None or data is ABSENT else type(data),
        "code" in envelope,
        *(name in names for name in DECIDING),
        names.get("accept-language"),
        names.get("x-locale"),
        request.lacks,
        None if response is None else response.lacks,
    )


def answer(exchange: Exchange, seen: Settled) -> tuple[int, bytes] | None:
    """A surface, and a digest of the request's URL and body and of the envelope without its timestamp: all of
    an exchange but its moment, and its secrets. None where it cannot be made."""
    envelope, sent = exchange.envelope, exchange.sent
    if envelope is not None and "timestamp" in envelope:
        envelope = {name: value for name, value in envelope.items() if name != "timestamp"}
    shown = (exchange.request.url, exchange.request.form, None if sent is ABSENT else [sent], envelope)
    try:
        return seen.number, blake2b(_ENCODE(shown), digest_size=16).digest()
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return None


@dataclass(slots=True)
class Settled:
    """What was said of an exchange, as far as it was looked at, and how often others like it came again."""

    number: int
    endpoint: str
    held: tuple[tuple[tuple[str, str], int], ...]
    """What was decided by which check, and how often it held."""
    observed: tuple[tuple[str, Json], ...]
    again: int = 0


Key = TypeVar("Key")


class Known(Generic[Key]):
    """What was settled lately: the last ``kept`` at least. ``drop`` is told of what is forgotten."""

    def __init__(self, drop: Callable[[Settled], None], *, kept: int = KEPT) -> None:
        self._drop, self._kept = drop, kept
        self._newer: dict[Key, Settled] = {}
        self._older: dict[Key, Settled] = {}

    def get(self, key: Key) -> Settled | None:
        found = self._newer.get(key)
        if found is None and self._older:
            found = self._older.pop(key, None)
            if found is not None:
                self.add(key, found)
        return found

    def add(self, key: Key, settled: Settled) -> None:
        self._newer[key] = settled
        if len(self._newer) >= self._kept:
            for forgotten in self._older.values():
                self._drop(forgotten)
            self._newer, self._older = {}, self._newer

    def clear(self) -> None:
        for forgotten in self:
            self._drop(forgotten)
        self._newer, self._older = {}, {}

    def __iter__(self) -> Iterator[Settled]:
        yield from self._older.values()
        yield from self._newer.values()
