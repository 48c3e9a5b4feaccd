"""A line of a capture, seen without decoding it: when it was, and what tells it from others."""

from __future__ import annotations

import re
from datetime import datetime

from conformance.replay.fast_lane.lines import DATE, ID, LEAST_VARYING, MOMENT, REQUEST, RESPONSE
from conformance.replay.recording.lines import PlanLine

_HEAD = re.compile(
    rb'\{"n":\d+,"started":"([^"\\]+)"(?:,"elapsed_ms":([0-9.eE+-]+))?(?:,"client":"([^"\\]*)")?,'
    rb'(?="request":)'
)
_REQUEST_ID = re.compile(rb'\["[Xx]-[Rr]equest-[Ii][Dd]", *"([^"\\]+)"')
_DATE = re.compile(rb'\["[Dd]ate", *"([^"\\]+)"')
_STAMP = re.compile(rb'"timestamp":\s*(\d{13})\b')
_REQUEST, _RESPONSE, _BODY = REQUEST.encode(), RESPONSE.encode(), b'"body":'
_ID, _DATE_MARK, _MOMENT = ID.encode(), DATE.encode(), MOMENT.encode()

ENVELOPE = 400
"""Bytes of a body in which the envelope's timestamp is looked for."""


Head = tuple[float, float, str]
"""What is the recorder's own: the start in epoch seconds, the seconds that it took, and the client."""

Glance = tuple[int, int, int | None]
"""Hashes of the request but for its id, and of the answer but for its moment, and the portal's own time, in
milliseconds, where it tells that."""


def head_in(raw: bytes) -> Head | None:
    """None where the line is written in another way than the recorder's."""
    found = _HEAD.match(raw)
    if found is None:
        return None
    started, elapsed, client = found.groups(b"")
    return epoch(started.decode()), float(elapsed or 0) / 1000, client.decode(errors="replace")


def head_of(line: PlanLine) -> Head:
    """The same of a line that was decoded."""
    return epoch(line.started), line.elapsed_ms / 1000, line.client


def epoch(started: str) -> float:
    try:
        return datetime.fromisoformat(started).timestamp()
    except ValueError:
        return 0.0


def glance(raw: bytes) -> Glance:
    """All of the line counts for its request where that does not end before an answer."""
    start = raw.find(_REQUEST)
    end = raw.find(_RESPONSE, start)
    is_usual = 0 <= start < end
    request, answer = (raw[start:end], raw[end:]) if is_usual else (raw, raw)
    id, date, told = _REQUEST_ID.search(request), _DATE.search(answer), None
    if id is not None:
        request = b"%b%b%b" % (request[: id.start(1)], _ID, request[id.end(1) :])
        if len(id[1]) >= LEAST_VARYING:
            answer = answer.replace(id[1], _ID)
    if date is not None:
        answer = answer.replace(date[1], _DATE_MARK)
    at = answer.find(_BODY)
    stamp = _STAMP.search(answer, at, at + ENVELOPE) if at >= 0 else None
    if stamp is not None:
        told = int(stamp[1])
        answer = b"%b%b%b" % (answer[: stamp.start(1)], _MOMENT, answer[stamp.end(1) :])
    return hash(request), hash(answer), told
