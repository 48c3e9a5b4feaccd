"""The cache of verdicts: a wrapper of the judge. Repeated exchanges, and repeated metadata, are judged once.

Take it away and everything is the same, slower. An exchange repeats another where only its time, its tokens
and its request id differ: both have the same cache key. Verdicts that contradict something are not cached.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass

import msgspec

from conformance.checks.envelope import ENVELOPE
from conformance.judging.dispatch import CheckSet, Route
from conformance.judging.judge import Judge, verdicts_of
from conformance.spec.operations import UNDESCRIBED
from conformance.traffic.exchange import ABSENT, NO_ENVELOPE, SECURE_SESSION, Exchange, Json, Request, placed
from conformance.traffic.facts import called
from conformance.verdicts.findings import endpoint_of
from conformance.verdicts.verdicts import NO_VERDICTS, Verdicts, combined

CAPACITY = 20_000
"""How many exchanges, and metadata and verdicts that exchanges share, are kept at most, each of them."""

MISSES_IN_A_ROW, BYPASSED = 32, 992
"""After so many misses in a row, so many lookups are bypassed."""

Metadata = tuple[Json, ...]
Digest = tuple[int, int]

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
    key, names = placed(request.method, request.url)[2], _layout_of(request)
    if key is None or response is None or (SECURE_SESSION in names and exchange.is_sealed):
        return None
    answer = _envelope_of(exchange)
    envelope = NO_ENVELOPE if answer is None else answer
    code, data, message, success, stamp, version = map(envelope.get, FIELDS)
    return (
        endpoint_of(exchange) if key == UNDESCRIBED else key,
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
        *[text if type(text) is str else type(text) for text in (code, message, version)],
        _kind_of_stamp(stamp),
        type(data),
    )


def _kind_of_stamp(stamp: Json) -> tuple[object, ...]:
    """Of a timestamp what checks of the metadata may read: its type, and its order of magnitude."""
    if type(stamp) in (int, float):
        return type(stamp), len(str(int(stamp))), stamp == int(stamp)
    return (type(stamp),)


def cache_key(exchange: Exchange) -> Digest | None:
    """Length and hash of an exchange without its metadata, secrets and timestamp; None if encoding fails.
    One in some 10¹⁴ cached exchanges would collide with another."""
    request, envelope, body = exchange.request, exchange.envelope, None
    if request.body is not ABSENT or exchange.plain is not None:
        body = None if exchange.sent is ABSENT else (exchange.sent,)
    if envelope is not None and "timestamp" in envelope:
        envelope = envelope.copy()
        del envelope["timestamp"]
    text = _encoded((request.url, request.form, body, envelope))
    return None if text is None else (len(text), hash(text))


def _encoded(value: Json) -> bytes | None:
    """A value as bytes; None where it has no key."""
    try:
        return _ENCODE(value)
    except (msgspec.MsgspecError, ValueError, OverflowError, RecursionError):
        return None


class Bypass(msgspec.Struct, gc=False):
    """Lookups that are ``misses`` in a row, and how many are ``remaining`` to be bypassed for that."""

    misses: int = 0
    remaining: int = 0

    def note_miss(self) -> None:
        self.misses += 1
        if self.misses == MISSES_IN_A_ROW:
            self.misses, self.remaining = 0, BYPASSED


@dataclass(eq=False, slots=True)
class MetadataCache:
    """Cached verdicts of one metadata key; instances compare by identity."""

    route: Route
    verdicts: Verdicts
    """Of the checks that read the metadata alone."""
    bypass: Bypass


class CachingJudge:
    """Gives cached verdicts on repeated exchanges, and asks the judge about all others."""

    def __init__(self, judge: Judge) -> None:
        self._judge, self.dispatcher = judge, judge.dispatcher
        self._generation = judge.dispatcher.generation
        self._bypasses: dict[Route, Bypass] = {}
        self._metadata: dict[Metadata, MetadataCache] = {}
        self._exchanges: dict[tuple[MetadataCache, Digest], Verdicts] = {}
        """Those of all checks but of the ones that depend on the moment."""
        self._shared: dict[Hashable, Verdicts] = {}

    @property
    def operations_seen(self) -> Counter[str]:
        return self._judge.operations_seen

    def forget(self) -> None:
        """As ``Judge.forget``."""
        self._judge.forget()

    def judge(self, exchange: Exchange) -> Verdicts:
        """As ``Judge.judge``. Verdicts on repeated exchanges are the same object, or share their parts."""
        if max(len(self._exchanges), len(self._shared), len(self._metadata)) > CAPACITY:
            self._empty()
        entry = self._entry(exchange)
        if entry is None:
            return NO_VERDICTS
        route, bypass = entry.route, entry.bypass
        if bypass.remaining:
            bypass.remaining -= 1
            whole = self._apply(route.whole, exchange)
            return self._together((_shape(route, exchange), entry.verdicts, whole))
        digest = cache_key(exchange)
        cached = None if digest is None else self._exchanges.get((entry, digest))
        if cached is None:
            return self._judge_anew(entry, digest, exchange)
        bypass.misses = 0
        is_inspected = route.shape is not None and route.shape.is_inspected
        shape = _shape(route, exchange) if is_inspected else NO_VERDICTS
        return self._together((shape, cached, self._apply(route.moment, exchange)))

    def _entry(self, exchange: Exchange) -> MetadataCache | None:
        """The cache for the metadata of an exchange, which is counted; None where it cannot be judged."""
        key = metadata(exchange)
        if key is None:
            return None
        if self.dispatcher.generation == self._generation:
            entry = self._metadata.get(key)
            if entry is not None:
                entry.route.count()
                return entry
        route = self.dispatcher.route(exchange)
        if route is None:
            return None
        if self.dispatcher.generation != self._generation:
            self._empty()
        bypass = self._bypasses.setdefault(route, Bypass())
        entry = MetadataCache(route, self._apply(route.metadata, exchange), bypass)
        if entry.verdicts.is_clean:
            self._metadata[key] = entry
        return entry

    def _judge_anew(self, entry: MetadataCache, digest: Digest | None, exchange: Exchange) -> Verdicts:
        """Applies all checks, and caches verdicts that do not depend on the moment."""
        route = entry.route
        entry.bypass.note_miss()
        shape = _shape(route, exchange)
        verdicts = self._together((entry.verdicts, self._apply(route.answer, exchange)))
        if digest is not None and shape.is_clean and verdicts.is_clean:
            self._exchanges[entry, digest] = verdicts
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
        undescribed = endpoint_of(exchange) if exchange.request.operation is None else ""
        key = checks, undescribed, read, *held
        if key not in self._shared:
            self._shared[key] = verdicts_of(decided, checks, exchange)
        return self._shared[key]

    def _together(self, parts: tuple[Verdicts, ...]) -> Verdicts:
        """As ``combined``, but equal parts give one shared object. Contradictions never repeat and hold their
        exchange: they are not kept."""
        verdicts = self._shared.get(parts)
        if verdicts is None:
            verdicts = combined(parts)
            if verdicts.is_clean:
                self._shared[parts] = verdicts
        return verdicts

    def _empty(self) -> None:
        self._generation = self.dispatcher.generation
        self._bypasses.clear()
        self._metadata.clear()
        self._shared.clear()
        self._exchanges.clear()


def _shape(route: Route, exchange: Exchange) -> Verdicts:
    return NO_VERDICTS if route.shape is None else route.shape.compare(exchange)
