"""The cache of verdicts: a wrapper of the judge. Repeated exchanges, and repeated parts, are judged once.

Take it away and everything is the same, slower. An exchange repeats another where only its time, its tokens
and its request id differ: both have the same cache key. Verdicts that contradict something are not cached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Generic, TypeVar

import msgspec

from conformance.checks.envelope import ENVELOPE
from conformance.checks.records import records
from conformance.checks.registry import Sight
from conformance.judging.dispatch import CheckSet, Dispatcher, Route
from conformance.judging.judge import Judge, verdicts_of
from conformance.judging.shapes import Shape
from conformance.traffic.exchange import (
    ABSENT,
    NO_ENVELOPE,
    SECURE_SESSION,
    Exchange,
    Json,
    Request,
    placed,
)
from conformance.traffic.facts import Facts, called, data_fact, data_facts
from conformance.verdicts.verdicts import NO_VERDICTS, Verdicts, combined

CAPACITY, PARTS_CAPACITY, FACTS_CAPACITY = 20_000, 2_000, 64
"""How many exchanges, parts of exchanges, and facts of exchanges that came twice, are kept at least; twice as
many at most."""

LONGEST_KEY = 4_096
"""Bytes up to which the key of a part is kept as it is; of a longer one its digest is."""

MISSES_IN_A_ROW, BYPASSED = 32, 992
"""After so many misses in a row, so many lookups are bypassed."""

Metadata = tuple[Json, ...]

Digest = tuple[int, int]
"""The length of a text, and its hash."""

_ENCODE = msgspec.msgpack.Encoder().encode


FIELDS = tuple(sorted(ENVELOPE))

_layout_of, _envelope_of = called(Request.layout), called(Exchange.envelope)
"""The attributes as functions, which cost less where they are asked for first."""


def metadata(exchange: Exchange) -> Metadata | None:
    """An exchange without its data and its secrets: what its route depends on, and what most of its envelope
    is judged by. None where it cannot be judged.

    Of the timestamp only whether it is there, its type, and its order of magnitude.
    """
    request, response = exchange.request, exchange.response
    operation, names = placed(request.method, request.url)[0], _layout_of(request)
    if operation is None or response is None or (SECURE_SESSION in names and exchange.is_sealed):
        return None
    answer = _envelope_of(exchange)
    envelope = NO_ENVELOPE if answer is None else answer
    code, data, message, success, stamp, version = map(envelope.get, FIELDS)
    return (
        operation.key,
        names,
        names.ingress_and_language(request.headers),
        request.lacks,
        request.body is ABSENT and exchange.plain is None,
        response.status,
        response.form,
        response.find_header("content-type"),
        response.lacks,
        answer is None,
        tuple(envelope),
        success if success is True or success is False or type(success) is str else type(success),
        code if type(code) is str else type(code),
        message if type(message) is str else type(message),
        version if type(version) is str else type(version),
        USUAL_STAMP if type(stamp) is int and 10**12 <= stamp < 10**13 else _kind_of_stamp(stamp),
        type(data),
    )


USUAL_STAMP = "milliseconds"


def _kind_of_stamp(stamp: Json) -> tuple[str, int, bool]:
    """Of a timestamp what checks of the metadata may read: its type, and its order of magnitude."""
    if type(stamp) is int:
        return "int", len(str(stamp)), True
    if type(stamp) is float:
        return "float", len(str(int(stamp))), stamp == int(stamp)
    return type(stamp).__name__, 0, False


def cache_key(exchange: Exchange) -> Digest | None:
    """A digest of all of an exchange but its metadata, its secrets and its moment: of the request's URL and
    body, and of the envelope without its timestamp. None where it cannot be made.

    The interpreter's keyed hash of 64 bits is enough for it: of the exchanges that are kept, one in some 10¹⁴
    would be taken for another.
    """
    request, envelope, body = exchange.request, exchange.envelope, None
    if request.body is not ABSENT or exchange.plain is not None:
        body = None if exchange.sent is ABSENT else (exchange.sent,)
    if envelope is not None and "timestamp" in envelope:
        envelope = envelope.copy()
        del envelope["timestamp"]
    text = _encoded((request.url, request.form, body, envelope))
    return None if text is None else (len(text), hash(text))


codes_read: Callable[[Exchange], Json] = attrgetter("coded")
"""The enumeration objects of the data, with the names of their fields."""


def times_read(exchange: Exchange) -> Json:
    """The creation, update and completion times of the records."""
    return [
        (record.get("createdAt"), record.get("updatedAt"), record.get("completedAt"))
        for _, record in records(exchange)
    ]


def counts_read(exchange: Exchange) -> Json:
    """Which page is asked for, and the data but for what is listed in it: of that, how much."""
    request, sent, data = exchange.request, exchange.sent, exchange.data
    query, asked, shown = request.parts.query, None, None
    if isinstance(sent, dict):
        asked = [pair for pair in sent.items() if pair[0] == "size" or "page" in pair[0].lower()]
    if type(data) is dict:
        shown = {name: (len(value),) if type(value) is list else value for name, value in data.items()}
    places = [part for part in query.split("&") if "size" in part or "page" in part.lower()]
    return query and places, request.form, sent is ABSENT, asked, shown


PARTS: Mapping[Sight, Callable[[Exchange], Json]] = {
    "codes": codes_read,
    "times": times_read,
    "counts": counts_read,
}
"""Each part of the data that some checks read alone; empty where there is nothing for them to read."""


def _encoded(value: Json) -> bytes | None:
    try:
        return _ENCODE(value)
    except NOT_ENCODED:
        return None


NOT_ENCODED = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)
"""What is raised of a value that has no key."""


class Bypass(msgspec.Struct, gc=False):
    """Whether lookups are bypassed for a while: all of the last ones were misses."""

    limit: int = MISSES_IN_A_ROW
    pause: int = BYPASSED
    misses: int = 0
    """How many in a row."""
    remaining: int = 0
    """How many lookups are still to be bypassed."""

    def afresh(self) -> Bypass:
        """Another of the same settings."""
        return Bypass(self.limit, self.pause)

    def note_miss(self) -> None:
        self.misses += 1
        if self.misses == self.limit:
            self.misses, self.remaining = 0, self.pause


Key = TypeVar("Key")
Value = TypeVar("Value")


class BoundedCache(dict[Key, Value], Generic[Key, Value]):
    """Keeps the last ``capacity`` entries at least, twice as many at most. A missing one reads as None."""

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self._capacity = capacity
        self._older: dict[Key, Value] = {}

    def __missing__(self, key: Key) -> Value | None:
        value = self._older.pop(key, None)
        if value is not None:
            self.add(key, value)
        return value

    def add(self, key: Key, value: Value) -> None:
        self[key] = value
        if len(self) >= self._capacity:
            self._older = self.copy()
            self.clear()

    def empty(self) -> None:
        self._older.clear()
        self.clear()


@dataclass(frozen=True, eq=False, slots=True)
class PartCache:
    """The checks that read one part of the exchanges of a route, and what they read."""

    checks: CheckSet
    read: Callable[[Exchange], Json]
    bypass: Bypass


@dataclass(eq=False, slots=True)
class RouteCache:
    """What the cache does for one route."""

    route: Route
    parts: tuple[PartCache, ...]
    bypass: Bypass
    token: object
    """Of the judge and its generation: the cached verdicts of this route hold no longer than that."""


@dataclass(frozen=True, eq=False, slots=True)
class MetadataCache:
    """What the cache does for exchanges of the same metadata. It equals nothing but itself."""

    metadata: Metadata
    cache: RouteCache
    verdicts: Verdicts
    """Of the checks that read the metadata alone."""


class CachedVerdicts(msgspec.Struct, eq=False, gc=False):
    """The cached verdicts on an exchange: those of all checks but of the ones that depend on the moment."""

    cache: RouteCache
    verdicts: Verdicts
    is_inspected: bool
    """Whether the fields of the data were inspected: another time they show nothing new."""


@data_fact
def cached_verdicts(exchange: Exchange) -> CachedVerdicts | None:
    """The entry in the cache that a judge stored with an exchange. Facts copied to a repeated exchange hold
    it, so that neither its route nor its cache key has to be computed.
    """
    return None


class CachingJudge:
    """Gives cached verdicts on repeated exchanges, and asks the judge about all others."""

    def __init__(
        self,
        judge: Judge,
        *,
        capacity: int = CAPACITY,
        parts_capacity: int = PARTS_CAPACITY,
        bypass: Bypass | None = None,
    ) -> None:
        self._judge, self._dispatcher = judge, judge.dispatcher
        self._bypass = bypass or Bypass()
        self._generation = judge.dispatcher.generation
        self._token = object()
        self._routes: dict[Route, RouteCache] = {}
        self._metadata: BoundedCache[Metadata, MetadataCache] = BoundedCache(parts_capacity)
        self._last: dict[Json, MetadataCache] = {}
        """Those of the last exchanges, by operation: comparing metadata is cheaper than hashing it."""
        self._exchanges: BoundedCache[tuple[MetadataCache, Digest], CachedVerdicts] = BoundedCache(capacity)
        self._parts: BoundedCache[tuple[PartCache, Hashable], Verdicts] = BoundedCache(parts_capacity)
        self._shared: BoundedCache[Hashable, Verdicts] = BoundedCache(parts_capacity)
        self._combined: BoundedCache[tuple[Verdicts, ...], Verdicts] = BoundedCache(parts_capacity)
        self._facts: BoundedCache[CachedVerdicts, Facts] = BoundedCache(FACTS_CAPACITY)

    @property
    def operations_seen(self) -> Counter[str]:
        """How many exchanges of each operation were judged."""
        return self._judge.operations_seen

    @property
    def dispatcher(self) -> Dispatcher:
        return self._dispatcher

    def forget(self) -> None:
        """As ``Judge.forget``."""
        self._judge.forget()

    def judge(self, exchange: Exchange) -> Verdicts:
        """As ``Judge.judge``. Verdicts on repeated exchanges are the same object, or share their parts."""
        entry = cached_verdicts.stored(exchange)
        if entry is not None and self._is_valid(entry):
            entry.cache.route.count()
            return self._from_cache(entry, exchange)
        by_metadata = self._metadata_cache(exchange)
        if by_metadata is None:
            return NO_VERDICTS
        bypass = by_metadata.cache.bypass
        if bypass.remaining:
            bypass.remaining -= 1
            return self._judge_anew(by_metadata, None, exchange)
        key = cache_key(exchange)
        entry = None if key is None else self._exchanges[by_metadata, key]
        if entry is None:
            return self._judge_anew(by_metadata, key, exchange)
        bypass.misses = 0
        cached_verdicts.store(exchange, entry)
        return self._from_cache(entry, exchange)

    def _metadata_cache(self, exchange: Exchange) -> MetadataCache | None:
        """The cache for the metadata of an exchange, which is counted; None where it cannot be judged."""
        key = metadata(exchange)
        if key is None:
            return None
        if self._dispatcher.generation != self._generation:
            return self._new_metadata(key, exchange)
        by_metadata = self._last.get(key[0])
        if by_metadata is None or by_metadata.metadata != key:
            by_metadata = self._metadata[key]
            if by_metadata is None:
                return self._new_metadata(key, exchange)
            self._last[key[0]] = by_metadata
        by_metadata.cache.route.count()
        return by_metadata

    def _new_metadata(self, key: Metadata, exchange: Exchange) -> MetadataCache | None:
        """A new cache for the metadata of an exchange; None where it cannot be judged."""
        route = self._dispatcher.route(exchange)
        if route is None:
            return None
        if self._dispatcher.generation != self._generation:
            self._empty()
        cache = self._routes.get(route) or self._new_route(route)
        by_metadata = MetadataCache(key, cache, self._apply(route.by_sight["metadata"], exchange))
        if by_metadata.verdicts.is_clean:
            self._metadata.add(key, by_metadata)
        return by_metadata

    def _is_valid(self, entry: CachedVerdicts) -> bool:
        """Whether this judge cached an entry, in its present generation."""
        return entry.cache.token is self._token and self._dispatcher.generation == self._generation

    def _from_cache(self, entry: CachedVerdicts, exchange: Exchange) -> Verdicts:
        """The verdicts on a repeated exchange: the cached ones, and those that depend on the moment."""
        route = entry.cache.route
        verdicts = entry.verdicts if entry.is_inspected else _inspected(entry, route.shape, exchange)
        if route.moment.groups:
            momentary = self._judge_moment(entry, exchange)
            if momentary is not NO_VERDICTS:
                return self._together((verdicts, momentary))
        return verdicts

    def _judge_moment(self, entry: CachedVerdicts, exchange: Exchange) -> Verdicts:
        """The verdicts of checks that depend on the moment, by the facts of the data that are kept for it."""
        facts = self._facts[entry]
        if facts is not None:
            facts.copy_to(exchange)
            return self._apply(entry.cache.route.moment, exchange)
        verdicts = self._apply(entry.cache.route.moment, exchange)
        self._facts.add(entry, data_facts(exchange))
        return verdicts

    def _judge_anew(self, by_metadata: MetadataCache, key: Digest | None, exchange: Exchange) -> Verdicts:
        """The verdicts of all checks; but for those that depend on the moment they are kept under a key."""
        cache, parts = by_metadata.cache, [by_metadata.verdicts]
        route = cache.route
        shape = NO_VERDICTS if route.shape is None else route.shape.compare(exchange)
        for part in cache.parts:
            parts.append(self._judge_part(part, exchange))
        if key is None:
            return self._together((shape, *parts, self._apply(route.whole, exchange)))
        cache.bypass.note_miss()
        verdicts = self._together((*parts, self._apply(route.answer, exchange)))
        if shape.is_clean and verdicts.is_clean:
            is_inspected = route.shape is None or route.shape.is_inspected
            entry = CachedVerdicts(cache, verdicts, is_inspected)
            self._exchanges.add((by_metadata, key), entry)
            cached_verdicts.store(exchange, entry)
        return self._together((shape, verdicts, self._apply(route.moment, exchange)))

    def _apply(self, checks: CheckSet, exchange: Exchange) -> Verdicts:
        """The verdicts of some checks, the same object where the same holds and is read: a ledger counts it
        at once."""
        if not checks.groups:
            return NO_VERDICTS
        held, readings, contradictions, bugs = decided = self._judge.decide(checks, exchange)
        read = _encoded(readings) if readings else b""
        if contradictions or bugs or read is None:
            return verdicts_of(decided, checks, exchange)
        if not (readings or any(held)):
            return NO_VERDICTS
        key = checks, read, *held
        shared = self._shared[key]
        if shared is None:
            shared = verdicts_of(decided, checks, exchange)
            self._shared.add(key, shared)
        return shared

    def _together(self, parts: tuple[Verdicts, ...]) -> Verdicts:
        """As ``combined``, but the same object for the same parts. What contradicts something never repeats,
        and holds its exchange: it is not kept."""
        verdicts = self._combined[parts]
        if verdicts is None:
            verdicts = combined(parts)
            if verdicts.is_clean:
                self._combined.add(parts, verdicts)
        return verdicts

    def _judge_part(self, part: PartCache, exchange: Exchange) -> Verdicts:
        bypass = part.bypass
        if bypass.remaining:
            bypass.remaining -= 1
            return self._apply(part.checks, exchange)
        read = part.read(exchange)
        if not read:
            return NO_VERDICTS
        try:
            text = _ENCODE(read)
        except NOT_ENCODED:
            key = None
        else:
            key = part, text if len(text) <= LONGEST_KEY else (len(text), hash(text))
            cached = self._parts[key]
            if cached is not None:
                bypass.misses = 0
                return cached
        bypass.note_miss()
        verdicts = self._apply(part.checks, exchange)
        if key is not None and verdicts.is_clean:
            self._parts.add(key, verdicts)
        return verdicts

    def _new_route(self, route: Route) -> RouteCache:
        parts = [
            PartCache(route.by_sight[sight], read, self._bypass.afresh())
            for sight, read in PARTS.items()
            if route.by_sight[sight].groups
        ]
        cache = self._routes[route] = RouteCache(route, tuple(parts), self._bypass.afresh(), self._token)
        return cache

    def _empty(self) -> None:
        self._generation = self._judge.dispatcher.generation
        self._token = object()
        self._routes.clear()
        self._metadata.empty()
        self._last.clear()
        self._exchanges.empty()
        self._parts.empty()
        self._facts.empty()


def _inspected(entry: CachedVerdicts, shape: Shape | None, exchange: Exchange) -> Verdicts:
    """The cached verdicts, and what the data is the first to show where it is to be inspected."""
    if shape is None or not shape.is_inspected:
        return entry.verdicts
    entry.is_inspected = True
    return combined((shape.inspect(exchange), entry.verdicts))
