"""Fingerprints of recorded lines: hashes of request and response without their ids and times, not decoded."""

from __future__ import annotations

import re

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
