"""Fingerprints of recorded lines: hashes of request and response without their ids and times, not decoded."""

from __future__ import annotations

import re
from datetime import datetime

from conformance.replay.recording.lines import PlanLine

REQUEST, RESPONSE, BODY = b'"request":', b'"response":', b'"body":'

ID_MARK, DATE_MARK, STAMP_MARK = b"\0", b"\1", b"\2"
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

ENVELOPE = 400
"""Bytes of a body in which the envelope's timestamp is searched for."""


Head = tuple[float, float, str]
"""The recorder's own part of a line: the start in epoch seconds, the duration in seconds, and the client."""


Fingerprint = tuple[int, int, int | None]
"""A hash of the request without its id, one of the response without id and times, and the portal's own time
in ms, where the response contains it."""


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


def epoch(started: str) -> float:
    try:
        return datetime.fromisoformat(started).timestamp()
    except ValueError:
        return 0.0


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
