"""Exchanges that are alike as far as checks look: told by what is seen of them, and judged once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import TypeVar

import msgspec

from conformance.checks.records import records
from conformance.checks.registry import Sight
from conformance.traffic.exchange import ABSENT, NO_ENVELOPE, Exchange, Json, Layout

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
    request, response, envelope = exchange.request, exchange.response, exchange.envelope
    told = (NO_ENVELOPE if envelope is None else envelope).get
    success, code, message, version = (
        told("success", ABSENT),
        told("code", ABSENT),
        told("message"),
        told("version"),
    )
    stamp, names, headers = told("timestamp", ABSENT), request.layout, request.headers
    locale, language = names.get("x-locale"), names.get("accept-language")
    return (
        None if response is None else (response.status, response.sought("content-type"), response.lacks),
        success if success is True or success is False or type(success) is str else (type(success).__name__,),
        code if type(code) is str else (type(code).__name__,),
        message if type(message) is str else (type(message).__name__,),
        version if type(version) is str else (type(version).__name__,),
        USUAL_STAMP if type(stamp) is int and 10**12 <= stamp < 10**13 else _kind_of_stamp(stamp),
        type(told("data", ABSENT)).__name__,
        _marks(names),
        None if locale is None else headers[locale][1],
        None if language is None else headers[language][1],
        request.lacks,
    )


@lru_cache(maxsize=1024)
def _marks(names: Layout) -> tuple[bool, ...]:
    """Which of the headers that matter a request has."""
    return tuple(
        name in names
        for name in ("authorization", "cookie", "x-api-key", "api-key", "x-client-hash", "x-request-id")
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
    found = exchange.coded
    return _encoded(found) if found else NOTHING


def times(exchange: Exchange) -> bytes | None:
    """When the records of an answer were made, changed and completed."""
    found = []
    for _, record in records(exchange):
        told = record.get
        found.append((told("createdAt"), told("updatedAt"), told("completedAt")))
    return _encoded(found) if found else NOTHING


def counts(exchange: Exchange) -> bytes | None:
    """Which page is asked for, and the data but for what is listed in it: of that, how much."""
    request, sent, data = exchange.request, exchange.sent, exchange.data
    query, asked, told = request.parts.query, None, None
    if isinstance(sent, dict):
        asked = [one for one in sent.items() if one[0] == "size" or "page" in one[0].lower()]
    if type(data) is dict:
        told = {name: (len(value),) if type(value) is list else value for name, value in data.items()}
    places = [part for part in query.split("&") if "size" in part or "page" in part.lower()]
    return _encoded((query and places, request.form, sent is ABSENT, asked, told))


USUAL_STAMP = ("int", 13, True)

NOTHING = b""
"""There is nothing for these checks to look at."""

PARTS: Mapping[Sight, Callable[[Exchange], bytes | None]] = {"coded": coded, "times": times, "counts": counts}
"""What is seen of an answer in parts, each for some checks; None where that cannot be written down."""


def _encoded(seen: Json) -> bytes | None:
    try:
        return _ENCODE(seen)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return None


def _kind_of_stamp(stamp: Json) -> tuple[str, int, bool]:
    """Of a timestamp what checks by the surface may see: its type, and its order of magnitude."""
    if type(stamp) is int:
        return "int", len(str(stamp)), True
    if type(stamp) is float:
        return "float", len(str(int(stamp))), stamp == int(stamp)
    return type(stamp).__name__, 0, False


Decided = tuple[tuple[str, str], int]
"""What was decided by which check, and how often it held."""


class Settled(msgspec.Struct, gc=False):
    """What was said of an exchange, as far as it was looked at, and how often others like it came again."""

    endpoint: str
    held: tuple[Decided, ...] = ()
    observed: tuple[tuple[str, Json], ...] = ()
    parts: tuple[Settled, ...] = ()
    """What else was said: of parts of it that others share."""
    again: int = 0
    looked_closer: bool = False
    """Whether the fields of the data were gone through: nothing new is found in them another time."""
    is_forgotten: bool = False
    """Whether it was counted for the last time."""


IN_A_ROW, PAUSE = 32, 992
"""After so many new ones in a row, so many are taken for new without a look."""


class Habit(msgspec.Struct, gc=False):
    """Whether what is seen comes again: where all was new lately, looking for it is paused."""

    new: int = 0
    """How much in a row."""
    paused: int = 0
    """For how many answers still."""

    def note_new(self) -> None:
        self.new += 1
        if self.new == IN_A_ROW:
            self.new, self.paused = 0, PAUSE


Key = TypeVar("Key")


class Known(dict[Key, Settled]):
    """What was settled lately: the last ``kept`` at least; what is not known reads as None.

    ``drop`` is told of what is forgotten.
    """

    def __init__(self, drop: Callable[[Settled], None], *, kept: int = KEPT) -> None:
        self._drop, self._kept = drop, kept
        self._older: dict[Key, Settled] = {}

    def __missing__(self, key: Key) -> Settled | None:
        found = self._older.pop(key, None)
        if found is not None:
            self.add(key, found)
        return found

    def add(self, key: Key, settled: Settled) -> None:
        self[key] = settled
        if len(self) >= self._kept:
            for forgotten in self._older.values():
                self._let_go(forgotten)
            self._older = self.copy()
            self.clear()

    def forget(self) -> None:
        for forgotten in self.settled():
            self._let_go(forgotten)
        self._older.clear()
        self.clear()

    def _let_go(self, settled: Settled) -> None:
        settled.is_forgotten = True
        self._drop(settled)

    def settled(self) -> Iterator[Settled]:
        yield from self._older.values()
        yield from self.values()
