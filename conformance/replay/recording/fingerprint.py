"""Fingerprints of recorded lines: hashes of request and response without their ids and times, not decoded."""

from __future__ import annotations

import re
from collections.abc import Iterable
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
_DATE = re.compile(rb'\["[Dd]ate", *"([^"\\]+)"')
_STAMP = re.compile(rb'"timestamp":\s*(\d{13})\b')
_REQUEST, _RESPONSE, _BODY, _CLIENT = REQUEST.encode(), RESPONSE.encode(), b'"body":', b'"client":'
_ID_MARK, _DATE_MARK, _STAMP_MARK = REQUEST_ID.encode(), DATE.encode(), TIMESTAMP.encode()

ENVELOPE = 400
"""Bytes of a body in which the envelope's timestamp is searched for."""


Head = tuple[float, float, str]
"""The recorder's own part of a line: the start in epoch seconds, the duration in seconds, and the client."""


class Fingerprint(NamedTuple):
    """``request`` is a hash of the request without its id, ``response`` one of the response without id and
    times; ``portal_ms`` is the portal's own time, where the response contains it."""

    request: int
    response: int
    portal_ms: int | None


def head_in(raw: bytes) -> Head | None:
    """None where the line has another layout than the recorder's."""
    match = _HEAD.match(raw)
    if match is None:
        return None
    started, elapsed, client = match.groups(b"")
    return epoch(started.decode()), float(elapsed or 0) / 1000, client.decode(errors="replace")


def head_of(line: PlanLine) -> Head:
    """The same of a line that was decoded."""
    return epoch(line.started), line.elapsed_ms / 1000, line.client


def epoch(started: str) -> float:
    try:
        return datetime.fromisoformat(started).timestamp()
    except ValueError:
        return 0.0


def impersonal(raw: bytes, own: Iterable[tuple[bytes, bytes]]) -> tuple[bytes, bytes]:
    """What a line says of its client, and its request with marks in place of its id and of a client's own
    texts, which are given with their marks."""
    start = raw.find(_REQUEST)
    end = raw.find(_RESPONSE, start)
    client, request = raw.find(_CLIENT, 0, start), raw[start:end]
    id = _REQUEST_ID.search(request)
    if id is not None:
        request = b"%b%b%b" % (request[: id.start(1)], _ID_MARK, request[id.end(1) :])
    for text, mark in own:
        request = request.replace(text, mark)
    return raw[client:start] if client >= 0 else b"", request


def fingerprint_of(raw: bytes) -> Fingerprint:
    """The fingerprint of a line. The whole line counts for its request where no response follows that."""
    start = raw.find(_REQUEST)
    end = raw.find(_RESPONSE, start)
    is_usual = 0 <= start < end
    request, response = (raw[start:end], raw[end:]) if is_usual else (raw, raw)
    id, date, portal_ms = _REQUEST_ID.search(request), _DATE.search(response), None
    if id is not None:
        request = b"%b%b%b" % (request[: id.start(1)], _ID_MARK, request[id.end(1) :])
        if len(id[1]) >= SHORTEST_ID:
            response = response.replace(id[1], _ID_MARK)
    if date is not None:
        response = response.replace(date[1], _DATE_MARK)
    at = response.find(_BODY)
    stamp = _STAMP.search(response, at, at + ENVELOPE) if at >= 0 else None
    if stamp is not None:
        portal_ms = int(stamp[1])
        response = b"%b%b%b" % (response[: stamp.start(1)], _STAMP_MARK, response[stamp.end(1) :])
    return Fingerprint(hash(request), hash(response), portal_ms)
