"""Reads ``exchanges.jsonl`` as a stream: the exchanges that findings name, and the times of all."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec.structs import replace

from conformance.report.model.run import OperationTime, Run, moment
from conformance.report.model.words import listed
from conformance.spec import BY_KEY
from conformance.spec.operations import endpoint_key
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
UNDESCRIBED_GROUP = "Not described by the specification"

MOST_ENDPOINTS = 1_000
"""Endpoints that are counted one by one; all others together."""


@dataclass
class Times:
    """How long the answers of one endpoint took, in a bounded sample, and how often it had each status."""

    requests: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    """0 where there was no answer."""
    total: float = 0.0
    longest: float = 0.0
    sample: array[float] = field(default_factory=lambda: array("d"))
    every: int = 1

    def add(self, elapsed_ms: float, status: int) -> None:
        self.statuses[status] += 1
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
    and last start, 0 where none is known; ``folder`` is where the file was read."""

    folder: str = "reports"
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
        status = 0 if glance.response is None else glance.response.status
        elapsed_ms = min(glance.elapsed_ms, LONGEST_ELAPSED)
        self._add(glance.endpoint, status, moment(glance.started), elapsed_ms)

    def extend(self, part: CountedPart) -> None:
        """Adds the lines of a part, which follow those that are counted."""
        self.total += part.total
        self.unread += part.unread
        endpoints = list(part.endpoints)
        for at, status, started, elapsed_ms in zip(
            part.at, part.status, part.started, part.elapsed, strict=True
        ):
            self._add(endpoints[at], status, started, elapsed_ms)

    def _add(self, endpoint: str, status: int, started: float, elapsed_ms: float) -> None:
        times = self.times.get(endpoint)
        if times is None:
            times = self.times.setdefault(endpoint if len(self.times) < MOST_ENDPOINTS else OTHER, Times())
        times.add(elapsed_ms, status)
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
    """Counts of a part of the exchanges: endpoint, status, start and duration of each exchange."""

    endpoints: dict[str, int] = field(default_factory=dict)
    at: array[int] = field(default_factory=lambda: array("H"))
    status: array[int] = field(default_factory=lambda: array("l"))
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
        if len(self.endpoints) >= MOST_ENDPOINTS and endpoint not in self.endpoints:
            endpoint = OTHER
        self.at.append(self.endpoints.setdefault(endpoint, len(self.endpoints)))
        self.status.append(exchange.status or 0)
        self.started.append(moment(exchange.started))
        self.elapsed.append(min(exchange.elapsed_ms, LONGEST_ELAPSED))


class _Head(msgspec.Struct):
    method: str
    url: str


class _Answer(msgspec.Struct):
    status: int


class Glance(msgspec.Struct):
    """The part of an exchange that is decoded where no finding names it."""

    request: _Head
    started: str = ""
    elapsed_ms: float = 0.0
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
    evidence.folder = str(path.parent)
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
    return endpoint_key(method, _path(url)) or OTHER


def _path(url: str) -> str:
    after = url.partition("://")[2]
    return (f"/{after.partition('/')[2]}" if after else url).partition("?")[0].partition("#")[0]


def undescribed(run: Run) -> list[OperationTime]:
    """The endpoints that the specification does not describe; none of a live run, which calls such paths to
    see that nothing is there."""
    return [row for row in run.timings if row.group == UNDESCRIBED_GROUP and run.command != "run"]


def undescribed_in_words(run: Run) -> str:
    """Names the endpoints that the specification does not describe, with their statuses; empty if there are
    none."""
    rows = undescribed(run)
    if not rows:
        return ""
    names = (
        f"{row.endpoint} ({', '.join(f'{status}: {times:,}' for status, times in row.statuses.items())})"
        for row in rows
    )
    are = "1 endpoint is" if len(rows) == 1 else f"{len(rows):,} endpoints are"
    return f"{are} not described by the specification, and judged by its general rules: {listed(names)}."


def _timing(endpoint: str, times: Times) -> OperationTime:
    statuses = {str(status or "no answer"): count for status, count in sorted(times.statuses.items())}
    ordered = sorted(times.sample)
    row = BY_KEY.get(endpoint)
    group = OTHER if endpoint == OTHER else UNDESCRIBED_GROUP if row is None else row.group
    return OperationTime(
        endpoint=endpoint,
        group=group,
        requests=times.requests,
        statuses=statuses,
        total_ms=round(times.total, 3),
        median_ms=round(ordered[len(ordered) // 2], 3),
        p95_ms=round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))], 3),
        p99_ms=round(ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))], 3),
        max_ms=round(times.longest, 3),
    )
