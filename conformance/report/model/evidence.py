"""Reads ``exchanges.jsonl`` as a stream: the exchanges that findings name, and the times of all."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from conformance.report.model.run import OperationTime, moment
from conformance.spec import operation_of
from conformance.traffic.exchange import ABSENT, Exchange

LONGEST_LINE = 64_000_000
"""Bytes of the longest line that is read; a longer one is only counted."""

BUFFER = 1 << 20

MOST_KEPT = 4_000_000
"""Bytes of lines that are kept whole. As JSON in memory it is some ten times as much."""

SHOWN_OF_LARGE = 20_000
"""Bytes of a response's body that are kept beyond that."""

LONGEST_ELAPSED = 1e10
"""Milliseconds beyond which no answer is taken to last, whatever a recording says: some 115 days."""

MOST_TIMES = 2_000
"""The size of the sample for an endpoint's median; a full sample is thinned out."""

OTHER = "Other paths"


@dataclass
class Times:
    """How long the answers of one endpoint took, in a bounded sample."""

    requests: int = 0
    total: float = 0.0
    longest: float = 0.0
    sample: array[float] = field(default_factory=lambda: array("d"))
    every: int = 1

    def add(self, elapsed_ms: float) -> None:
        if self.requests % self.every == 0:
            self.sample.append(elapsed_ms)
        self.requests += 1
        self.total += elapsed_ms
        if elapsed_ms > self.longest:
            self.longest = elapsed_ms
        if len(self.sample) >= MOST_TIMES:
            self.sample = self.sample[::2]
            self.every *= 2


@dataclass
class RunEvidence:
    """What reports show of ``exchanges.jsonl``: the ``exchanges`` that findings name, by number, and the
    ``timings`` of all. ``earliest`` and ``latest`` are the first
    and last start, 0 where none is known."""

    exchanges: dict[int, Exchange] = field(default_factory=dict)
    earliest: float = 0.0
    latest: float = 0.0
    times: dict[str, Times] = field(default_factory=dict)
    total: int = 0
    unread: int = 0

    def count(self, line: bytes) -> None:
        """Counts a line. One of ``UNREADABLE``: it cannot be decoded."""
        self.total += 1
        glance = _glance.decode(line)
        self._add(glance.endpoint, moment(glance.started), min(glance.elapsed_ms, LONGEST_ELAPSED))

    def extend(self, part: CountedPart) -> None:
        """Adds the lines of a part, which follow those that are counted."""
        self.total += part.total
        self.unread += part.unread
        endpoints = list(part.endpoints)
        for at, started, elapsed_ms in zip(part.at, part.started, part.elapsed, strict=True):
            self._add(endpoints[at], started, elapsed_ms)

    def _add(self, endpoint: str, started: float, elapsed_ms: float) -> None:
        times = self.times.get(endpoint)
        if times is None:
            times = self.times[endpoint] = Times()
        times.add(elapsed_ms)
        if started > self.latest:
            self.latest = started
        if started > 0 and (started < self.earliest or not self.earliest):
            self.earliest = started

    @property
    def timings(self) -> list[OperationTime]:
        """Per endpoint, in the order of the specification's groups, other paths last."""
        return [_timing(endpoint, times) for endpoint, times in self.times.items()]


@dataclass
class CountedPart:
    """Counts of a part of the exchanges: endpoint, start and duration of each exchange."""

    endpoints: dict[str, int] = field(default_factory=dict)
    at: array[int] = field(default_factory=lambda: array("H"))
    started: array[float] = field(default_factory=lambda: array("d"))
    elapsed: array[float] = field(default_factory=lambda: array("d"))
    total: int = 0
    unread: int = 0

    def count(self, exchange: Exchange, length: int) -> None:
        """``length``: the bytes of its line without its end."""
        self.total += 1
        if length >= LONGEST_LINE:
            self.unread += 1
            return
        endpoint = _endpoint(exchange.request.method, exchange.request.url)
        self.at.append(self.endpoints.setdefault(endpoint, len(self.endpoints)))
        self.started.append(moment(exchange.started))
        self.elapsed.append(min(exchange.elapsed_ms, LONGEST_ELAPSED))


class _Head(msgspec.Struct):
    method: str
    url: str


class _Answer(msgspec.Struct):
    status: int
    body: msgspec.Raw = msgspec.Raw(b"")


class Glance(msgspec.Struct):
    """The part of an exchange that is decoded where no finding names it."""

    request: _Head
    started: str = ""
    elapsed_ms: float = 0.0
    client: str = ""
    response: _Answer | None = None

    @property
    def endpoint(self) -> str:
        return _endpoint(self.request.method, self.request.url)


_glance = msgspec.json.Decoder(Glance)
_whole = msgspec.json.Decoder(Exchange)

UNREADABLE = (msgspec.DecodeError, ValueError, RecursionError)
"""What decoding a line may raise."""


def read(path: Path, wanted: Iterable[int], *, counted: RunEvidence | None = None) -> RunEvidence:
    """Reads the file once, in the memory of its longest line; missing and broken lines are left out.

    Numbers are line numbers, from 1. ``counted``: all lines are counted in it already, so that only those up
    to the last one that is wanted are read.
    """
    evidence = RunEvidence() if counted is None else counted
    named = set(wanted)
    last, room = max(named, default=0), MOST_KEPT
    for number, line in _lines(path):
        if counted is not None and number > last:
            break
        try:
            if counted is None:
                evidence.count(line)
            if number in named:
                whole = _whole.decode(line)
                evidence.exchanges[number] = whole if len(line) <= room else _cut(whole)
                room -= min(len(line), room)
        except UNREADABLE:
            evidence.unread += counted is None
    return evidence


def _cut(exchange: Exchange) -> Exchange:
    """The exchange with a large response body cut to the displayed part."""
    response = exchange.response
    body = b"" if response is None or response.body is ABSENT else msgspec.json.encode(response.body)
    if response is None or len(body) <= SHOWN_OF_LARGE:
        return exchange
    return replace(exchange, response=replace(response, body=ABSENT, form="truncated"), plain=None)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Each line with its number; a line that is too long is replaced by one that cannot be decoded."""
    try:
        file = path.open("rb", BUFFER)
    except OSError:
        return
    with file:
        number = 0
        while line := file.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
                while line and not line.endswith(b"\n"):
                    line = file.readline(LONGEST_LINE)
                line = b"?"
            yield number, line


@lru_cache(maxsize=4096)
def _endpoint(method: str, url: str) -> str:
    row = operation_of(method, _path(url))
    return row.key if row else OTHER


def _path(url: str) -> str:
    after = url.partition("://")[2] or url
    return (
        "/" + after.partition("/")[2].partition("?")[0].partition("#")[0]
        if "://" in url
        else after.partition("?")[0]
    )


def _timing(endpoint: str, times: Times) -> OperationTime:
    ordered = sorted(times.sample)
    method, _, path = endpoint.partition(" ")
    row = operation_of(method, path) if endpoint != OTHER else None
    return OperationTime(
        endpoint=endpoint,
        group=row.group if row else OTHER,
        requests=times.requests,
        total_ms=round(times.total, 3),
        median_ms=round(ordered[len(ordered) // 2], 3),
        p95_ms=round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))], 3),
        p99_ms=round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))], 3),
        max_ms=round(times.longest, 3),
    )
