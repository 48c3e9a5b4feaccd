"""What the analysis reads in a recorded exchange, and fingerprints of its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from conformance.replay.recording.values import PlacedValue, in_body, in_headers, in_path
from conformance.spec import Impact
from conformance.target.portal.transport import impact_of
from conformance.traffic.exchange import ABSENT, Exchange

_impact_of = lru_cache(maxsize=4096)(impact_of)


def impact_in(exchange: Exchange) -> Impact:
    """The highest impact of a recorded request."""
    return _impact_of(exchange.request.method, exchange.request.path)


def host_of(exchange: Exchange) -> str:
    """Host of the URL, with the port if present."""
    return exchange.request.parts.netloc.rpartition("@")[2].lower()


def endpoint_in(exchange: Exchange) -> str:
    """The operation's key; the method and the path of one that is not described."""
    request, operation = exchange.request, exchange.request.operation
    return operation.key if operation else f"{request.method} {request.path}"


def values_in(exchange: Exchange) -> Iterator[PlacedValue]:
    """The values of the request that an earlier response may have returned."""
    request = exchange.request
    yield from in_headers(request.headers)
    yield from in_path(request.url, request.operation)
    yield from in_body(exchange.sent)


def returned_in(exchange: Exchange) -> set[str]:
    """Returns values of the response body, headers and plaintext, and values packed into texts."""
    response, plain = exchange.response, exchange.plain
    bodies = ABSENT if response is None else response.json, ABSENT if plain is None else plain.response
    values = {placed.value for body in bodies for placed in in_body(body)}
    for name, value in [] if response is None else response.headers:
        is_cookie = name.lower() == "set-cookie"
        values.add(value.partition("=")[2].partition(";")[0] if is_cookie else value)
    return values


REQUEST, RESPONSE, BODY = b'"request":', b'"response":', b'"body":'

ID_MARK, DATE_MARK, STAMP_MARK = b"\0", b"\1", b"\2"
"""Marks in place of what differs each time: control characters, which JSON contains only escaped."""

SHORTEST_ID = 12
"""A shorter request id might stand in a line by chance."""

_REQUEST_ID = re.compile(rb'\["[Xx]-[Rr]equest-[Ii][Dd]", *"([^"\\]+)"')
_DATE = re.compile(rb'\["[Dd]ate", *"([^"\\]+)"')
_STAMP = re.compile(rb'"timestamp":\s*(\d{13})\b')

ENVELOPE = 400
"""Bytes of a body in which the envelope's timestamp is searched for."""


Fingerprint = tuple[int, int, int | None]
"""A hash of the request without its id, one of the response without id and times, and the portal's own time
in ms, where the response contains it."""


def fingerprint(raw: bytes) -> Fingerprint:
    """The fingerprint of a line. The whole line counts for its request where no response follows that."""
    start = raw.find(REQUEST)
    end = raw.find(RESPONSE, start)
    if not 0 <= start < end:
        start, end, response = 0, len(raw), raw
    else:
        response = raw[end:]
    id, date, portal_ms = _REQUEST_ID.search(raw, start, end), _DATE.search(response), None
    if id is None:
        request = raw[start:end]
    else:
        left, right = id.span(1)
        request = raw[start:left] + ID_MARK + raw[right:end]
        if right - left >= SHORTEST_ID:
            response = response.replace(id[1], ID_MARK)
    if date is not None:
        response = response.replace(date[1], DATE_MARK)
    at = response.find(BODY)
    stamp = _STAMP.search(response, at, at + ENVELOPE) if at >= 0 else None
    if stamp is not None:
        portal_ms = int(stamp[1])
        left, right = stamp.span(1)
        response = response[:left] + STAMP_MARK + response[right:]
    return hash(request), hash(response), portal_ms
