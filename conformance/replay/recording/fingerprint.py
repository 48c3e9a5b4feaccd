"""Fingerprints of recorded lines: hashes of request and response without their ids and times, not decoded."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from conformance.replay.recording.lines import PlanLine

REQUEST, RESPONSE = '"request":', '"response":'

REQUEST_ID, DATE, TIMESTAMP = ("\0", "\1", "\2")
"""Marks in place of what differs each time: control characters, which JSON contains only escaped."""

SHORTEST_ID = 12
"""A shorter request id might stand in a line by chance."""

_HEAD = re.compile(
    rb'\{"n":\d+,"started":"([^"\\]+)"(?:,"elapsed_ms":([0-9.eE+-]+))?(?:,"client":"([^"\\]*)")?,'
    rb'(?="request":)'
)
_REQUEST_ID = re.compile(rb'\["[Xx]-[Rr]equest-[Ii][Dd]", *"([^"\\]+)"')
_TOKEN = re.compile(rb'\["[Aa]uthorization", *"([^"\\]+)"')
_CLIENT_HASH = re.compile(rb'\["[Xx]-[Cc]lient-[Hh]ash", *"([^"\\]+)"')
_DATE = re.compile(rb'\["[Dd]ate", *"([^"\\]+)"')
_STAMP = re.compile(rb'"timestamp":\s*(\d{13})\b')
_REQUEST, _RESPONSE, _BODY = REQUEST.encode(), RESPONSE.encode(), b'"body":'
_ID_MARK, _DATE_MARK, _STAMP_MARK = REQUEST_ID.encode(), DATE.encode(), TIMESTAMP.encode()

ENVELOPE = 400
"""Bytes of a body in which the envelope's timestamp is searched for."""


Head = tuple[float, float, str]
"""The recorder's own part of a line: the start in epoch seconds, the duration in seconds, and the client."""


OWN = ("authorization", "x-client-hash")
Own = tuple[bytes, bytes]
"""What is a client's own in a request, the values of these headers; empty: none."""

NOTHING: Own = (b"", b"")


Fingerprint = tuple[int, int, int | None]
"""A hash of the request without its id, one of the response without id and times, and the portal's own time
in ms, where the response contains it."""


class Likeness(NamedTuple):
    """``alike`` is a hash of a request without what is its client's own, ``own`` is that. ``token`` and
    ``client_hash`` are the same as texts."""

    alike: int
    own: Own
    token: str
    client_hash: str


def head_in(raw: bytes) -> Head | None:
    """None where the line has another layout than the recorder's."""
    match = _HEAD.match(raw)
    if match is None:
        return None
    started, elapsed, client = match.groups(b"")
    return epoch(started.decode()), float(elapsed or 0) / 1000, client.decode(errors="replace")


def head_of(line: PlanLine) -> Head:
    """Head of a decoded line."""
    return epoch(line.started), line.elapsed_ms / 1000, line.client


def own_in(header: Callable[[str], str | None]) -> Own:
    """Token and client hash of a decoded request."""
    token, client = ((header(name) or "").encode(errors="replace") for name in OWN)
    return token, client


def personal(client: str, own: Own) -> int:
    """Hash of a client's token, client hash and address."""
    return hash((client, *own))


def epoch(started: str) -> float:
    try:
        return datetime.fromisoformat(started).timestamp()
    except ValueError:
        return 0.0


def marked(raw: bytes) -> tuple[Fingerprint, bytes]:
    """The fingerprint of a line, and its request with a mark in place of its id. The whole line counts for
    its request where no response follows that."""
    start = raw.find(_REQUEST)
    end = raw.find(_RESPONSE, start)
    if not 0 <= start < end:
        start, end, response = 0, len(raw), raw
    else:
        response = raw[end:]
    id, date, portal_ms = _REQUEST_ID.search(raw, start, end), _DATE.search(response), None
    if id is None:
        request = raw[start:end]
    else:
        left, right = id.span(1)
        request = raw[start:left] + _ID_MARK + raw[right:end]
        if right - left >= SHORTEST_ID:
            response = response.replace(id[1], _ID_MARK)
    if date is not None:
        response = response.replace(date[1], _DATE_MARK)
    at = response.find(_BODY)
    stamp = _STAMP.search(response, at, at + ENVELOPE) if at >= 0 else None
    if stamp is not None:
        portal_ms = int(stamp[1])
        left, right = stamp.span(1)
        response = response[:left] + _STAMP_MARK + response[right:]
    return (hash(request), hash(response), portal_ms), request


def likeness_of(request: bytes) -> Likeness:
    """What is its client's own in a request with a mark in place of its id, where that stands first in it."""
    alike, (token, client) = _impersonal(request)
    credentials = token.decode().partition(" ")[2].strip()
    return Likeness(hash(alike), (token, client), credentials, client.decode())


def _impersonal(request: bytes) -> tuple[bytes, Own]:
    """A request with marks in place of what is its client's own, where that stands first, and the same."""
    token, client = _TOKEN.search(request), _CLIENT_HASH.search(request)
    own = token[1] if token else b"", client[1] if client else b""
    if not own[0].isascii() or not own[1].isascii():
        return request, NOTHING
    pieces, last = [], 0
    for start, end in sorted(match.span(1) for match in (token, client) if match):
        pieces.append(request[last:start])
        last = end
    return _ID_MARK.join((*pieces, request[last:])), own
