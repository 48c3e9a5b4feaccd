"""A recorded exchange as the analysis reads it: decoded in part, and fingerprints of its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache

import msgspec

from conformance.replay.recording.values import PlacedValue, in_body, in_headers, in_path
from conformance.spec import Impact, Operation, operation_of
from conformance.target.portal.transport import impact_of
from conformance.traffic.exchange import ABSENT, Form, Header, Json, layout_of

_NO_RAW = msgspec.Raw(b"")


class PlanRequest(msgspec.Struct, gc=False):
    method: str
    url: str
    headers: list[Header] = []
    body: Json = ABSENT
    form: Form | None = None
    lacks: list[str] = []

    def header(self, name: str) -> str | None:
        """The first value of a header, its name in lower case."""
        at = layout_of(tuple([name for name, _ in self.headers])).get(name)
        return None if at is None else self.headers[at][1]


class PlanResponse(msgspec.Struct, gc=False):
    """``body`` stays undecoded until it is read."""

    status: int
    body: msgspec.Raw = _NO_RAW
    headers: list[Header] = []
    form: Form | None = None


class PlanPlain(msgspec.Struct, gc=False):
    request: Json = ABSENT
    response: Json = ABSENT


class PlanLine(msgspec.Struct, gc=False):
    """One line of a capture."""

    started: str
    request: PlanRequest
    elapsed_ms: float = 0.0
    client: str = ""
    response: PlanResponse | None = None
    plain: PlanPlain | None = None
    hidden: dict[str, Json] | None = None

    @property
    def began(self) -> float:
        """Start of the request in epoch seconds; 0 without a valid time."""
        try:
            return datetime.fromisoformat(self.started).timestamp()
        except ValueError:
            return 0.0

    @property
    def path(self) -> str:
        place = self.request.url.split("://", 1)[-1].partition("?")[0]
        return "/" + place.partition("/")[2]

    @property
    def status(self) -> int | None:
        return None if self.response is None else self.response.status

    @property
    def endpoint(self) -> str:
        """The operation's key; the method and the path of one that is not described."""
        return self.operation.key if self.operation else f"{self.request.method} {self.path}"

    @property
    def host(self) -> str:
        """Host of the URL, with the port if present."""
        return self.request.url.partition("://")[2].partition("/")[0].rpartition("@")[2].lower()

    @property
    def impact(self) -> Impact:
        return _impact_of(self.request.method, self.path)

    @property
    def operation(self) -> Operation | None:
        return operation_of(self.request.method, self.path)

    def values(self) -> Iterator[PlacedValue]:
        """The values of the request that an earlier response may have returned."""
        yield from in_headers(self.request.headers)
        yield from in_path(self.request.url, self.operation)
        yield from in_body(self.sent)

    @property
    def sent(self) -> Json:
        if self.plain is not None and self.plain.request is not ABSENT:
            return self.plain.request
        return self.request.body

    def returned(self) -> set[str]:
        """Returns values of the response body, headers and plaintext, and values packed into texts."""
        headers = [] if self.response is None else self.response.headers
        bodies = self.response_json(), None if self.plain is None else self.plain.response
        values = {placed.value for body in bodies for placed in in_body(body)}
        for name, value in headers:
            is_cookie = name.lower() == "set-cookie"
            values.add(value.partition("=")[2].partition(";")[0] if is_cookie else value)
        return values

    def response_json(self) -> Json:
        """The response's body, decoded; None where it is not JSON."""
        raw = self.response.body if self.response else _NO_RAW
        try:
            return msgspec.json.decode(raw) if raw else None
        except (ValueError, RecursionError):
            return None


_impact_of = lru_cache(maxsize=4096)(impact_of)
_DECODE = msgspec.json.Decoder(PlanLine).decode


def line_of(raw: bytes) -> PlanLine:
    """Decodes one line of a capture. ValueError, RecursionError: it is none."""
    return _DECODE(raw)


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
