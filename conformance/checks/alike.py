"""Exchanges that are alike as far as checks look: told by what is seen of them, and judged once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Generic, TypeVar

import msgspec

from conformance.checks.records import records
from conformance.checks.registry import Sight
from conformance.exchange import ABSENT, Exchange, Json, Layout

KEPT = 20_000
"""How many answers are remembered at least; twice as many at most."""

PARTS_KEPT = 2_000
"""How many parts of answers are, of each kind."""

Surface = tuple[Json, ...]

_ENCODE = msgspec.json.Encoder().encode


def surface(exchange: Exchange) -> Surface:
    """All of an exchange but its data and its secrets: what most of its envelope is judged by.

    Of the timestamp only whether it is there, its type, and its order of magnitude.
    """
    response, request = exchange.response, exchange.request
    told = (exchange.envelope or {}).get
    success, code, message, version = (
        told("success", ABSENT),
        told("code", ABSENT),
        told("message"),
        told("version"),
    )
    names, headers = request.layout, request.headers
    locale, language = names.get("x-locale"), names.get("accept-language")
    return (
        exchange.status,
        None if response is None else response.header("content-type"),
        None if response is None else response.lacks,
        success if success is True or success is False else _text_or_type(success),
        _text_or_type(code),
        _text_or_type(message),
        _text_or_type(version),
        _kind_of_stamp(told("timestamp", ABSENT)),
        type(told("data", ABSENT)).__name__,
        _marks(names),
        None if locale is None else headers[locale][1],
        None if language is None else headers[language][1],
        request.lacks,
    )


def likeness(exchange: Exchange, ingress: bool, shown: Surface) -> bytes | None:
    """A digest of all of an exchange but its secrets and its moment: of its surface, of the request's URL and
    body, and of the envelope without its timestamp. None where it cannot be made.
    """
    request, sent, envelope = exchange.request, exchange.sent, exchange.envelope
    if envelope is not None and "timestamp" in envelope:
        envelope = envelope.copy()
        del envelope["timestamp"]
    text = _encoded(
        (
            ingress,
            request.method,
            request.url,
            request.form,
            None if sent is ABSENT else (sent,),
            shown,
            envelope,
        )
    )
    return None if text is None else sha256(text).digest()


def coded(exchange: Exchange) -> bytes | None:
    """The enumeration objects of an answer, with the names of their fields."""
    return _encoded(exchange.coded) if exchange.coded else NOTHING


def times(exchange: Exchange) -> bytes | None:
    """When the records of an answer were made, changed and completed."""
    found = [
        (told("createdAt"), told("updatedAt"), told("completedAt"))
        for told in [record.get for _, record in records(exchange)]
    ]
    return _encoded(found) if found else NOTHING


def counts(exchange: Exchange) -> bytes | None:
    """What is asked for, and the data but for what is listed in it: of that, how much."""
    request, sent, data = exchange.request, exchange.sent, exchange.data
    told = (
        {name: (len(value),) if type(value) is list else value for name, value in data.items()}
        if type(data) is dict
        else None
    )
    return _encoded((request.parts.query, request.form, None if sent is ABSENT else (sent,), told))


@lru_cache(maxsize=1024)
def _marks(names: Layout) -> tuple[bool, ...]:
    """Which of the headers that matter a request has."""
    return tuple([name in names for name in MARKING])


NOTHING = b""
"""There is nothing for these checks to look at."""

PARTS: Mapping[Sight, Callable[[Exchange], bytes | None]] = {"coded": coded, "times": times, "counts": counts}
"""What is seen of an answer in parts, each for some checks; None where that cannot be written down."""

MARKING = ("authorization", "cookie", "x-api-key", "api-key", "x-client-hash", "x-request-id")


def _encoded(seen: Json) -> bytes | None:
    try:
        return _ENCODE(seen)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return None


def _text_or_type(value: Json) -> Json:
    return value if type(value) is str else (type(value).__name__,)


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
    parts: tuple[Settled, ...] = ()
    """What else was said: of parts of it that others share."""
    again: int = 0
    looked_closer: bool = False
    """Whether the fields of the data were gone through: nothing new is found in them another time."""


IN_A_ROW, PAUSE = 64, 448
"""After so many new answers of an operation, so many are taken for new without a look."""


class Habit(msgspec.Struct, gc=False):
    """Whether answers of an operation come again: where all were new lately, looking for them is paused."""

    new: int = 0
    paused: int = 0

    def is_to_look(self) -> bool:
        if not self.paused:
            return True
        self.paused -= 1
        return False

    def note(self, *, is_new: bool) -> None:
        self.new = self.new + 1 if is_new else 0
        if self.new == IN_A_ROW:
            self.new, self.paused = 0, PAUSE


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
