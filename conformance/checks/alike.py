"""Exchanges that are alike as far as checks look: told by a surface and an answer, and judged once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Generic, TypeVar

import msgspec

from conformance.exchange import ABSENT, Exchange, Json, Request

KEPT = 20_000
"""How many of each kind are remembered at least; twice as many at most."""

CODED = b'"value":'
"""Without a field of this name there is no enumeration object, and nothing needs looking through for one."""

Place = tuple[str, bool, tuple[Json, ...]]
"""An operation, whether through the ingress, and a surface."""

_ENCODE = msgspec.json.Encoder().encode


def surface(exchange: Exchange) -> tuple[Json, ...]:
    """All of an exchange but its data and its secrets: what most of its envelope is judged by.

    Of the timestamp only whether it is there, its type, and its order of magnitude.
    """
    envelope, response = exchange.envelope or {}, exchange.response
    told = envelope.get
    stamp, data, success = told("timestamp", ABSENT), told("data", ABSENT), told("success", ABSENT)
    message, version, code = told("message", ABSENT), told("version", ABSENT), told("code")
    return (
        exchange.status,
        None if response is None else response.header("content-type"),
        None if response is None else response.lacks,
        success if success is True or success is False or isinstance(success, str) else type(success),
        code if isinstance(code, str) else None,
        message if isinstance(message, str) else type(message),
        version if isinstance(version, str) else type(version),
        _kind_of_stamp(stamp),
        data if data is None or data is ABSENT else type(data),
        "code" in envelope,
        _asked(exchange.request),
    )


def likeness(exchange: Exchange, ingress: bool) -> bytes | None:
    """A digest of all of an exchange but its secrets and its moment: of what its surface is made of, of the
    request's URL and body, and of the envelope without its timestamp. None where it cannot be made.
    """
    request, response, sent = exchange.request, exchange.response, exchange.sent
    envelope, stamp = exchange.envelope, ABSENT
    if envelope is not None and "timestamp" in envelope:
        envelope = envelope.copy()
        stamp = envelope.pop("timestamp")
    seen = (
        ingress,
        request.method,
        request.url,
        request.form,
        None if sent is ABSENT else (sent,),
        _asked(request),
        exchange.status,
        None if response is None else response.header("content-type"),
        None if response is None else response.lacks,
        _kind_of_stamp(stamp),
        envelope,
    )
    try:
        text = _ENCODE(seen)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return None
    if CODED not in text:
        exchange.__dict__["coded"] = []
    return sha256(text).digest()


def _asked(request: Request) -> tuple[bool | str | tuple[str, ...] | None, ...]:
    """Which of the headers that matter a request has, and the language that it asks for."""
    layout = request.layout
    return (
        "authorization" in layout,
        "cookie" in layout,
        "x-api-key" in layout,
        "api-key" in layout,
        "x-client-hash" in layout,
        "x-request-id" in layout,
        request.header("x-locale") if "x-locale" in layout else None,
        request.header("accept-language") if "accept-language" in layout else None,
        request.lacks,
    )


def _kind_of_stamp(stamp: Json) -> tuple[str, int, bool]:
    """Of a timestamp what checks by the surface may see: its type, and its order of magnitude."""
    if type(stamp) is int:
        return "int", len(str(stamp)), True
    if type(stamp) is float:
        return "float", len(str(int(stamp))), stamp == int(stamp)
    return type(stamp).__name__, 0, False


class Settled(msgspec.Struct, gc=False):
    """What was said of an exchange, as far as it was looked at, and how often others like it came again."""

    endpoint: str
    held: tuple[tuple[tuple[str, str], int], ...] = ()
    """What was decided by which check, and how often it held."""
    observed: tuple[tuple[str, Json], ...] = ()
    again: int = 0
    looked_closer: bool = False
    """Whether the fields of the data were gone through: nothing new is found in them another time."""

    def and_then(self, other: Settled, *, looked_closer: bool) -> Settled:
        held, observed = self.held + other.held, self.observed + other.observed
        return Settled(self.endpoint, held, observed, looked_closer=looked_closer)


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
