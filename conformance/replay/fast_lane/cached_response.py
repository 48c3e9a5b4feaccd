"""Cached responses: recognises a repeated response by its bytes, without decoding it."""

from __future__ import annotations

import re

from conformance.judging.cache import cached_verdicts
from conformance.replay.engine.step import Attempt
from conformance.replay.fast_lane.line_template import LineTemplate
from conformance.replay.fast_lane.log import TemplatedLine
from conformance.replay.rebuild.actions import Received, Send, WireResponse
from conformance.replay.recording.fingerprint import DATE, REQUEST_ID, TIMESTAMP
from conformance.traffic.capture.bodies import LARGEST_ANSWER, answer_of, unpacked
from conformance.traffic.exchange import Exchange, Header, Response
from conformance.traffic.facts import Facts, data_facts
from conformance.verdicts.findings import endpoint_of

_PLAIN = re.compile(r"[ !#-\[\]-~]{12,}")
"""Text that JSON contains unescaped."""

_ID_MARK = REQUEST_ID.encode()

ZERO = ord("0")


Repeated = tuple[Exchange, dict[str, str]]
"""A repeated exchange, and the values of the marks in its line templates."""


class CachedResponse:
    """A response that was the recorded one: another one that differs in its id and times only is the same.

    ``endpoint`` is the exchange's, ``line`` the template of the response's part of its line. Requests of
    whatever clients share it.
    """

    __slots__ = (
        "_body",
        "_contains_id",
        "_date_at",
        "_encoding",
        "_entry",
        "_facts",
        "_id",
        "_raw_headers",
        "_response",
        "_size",
        "endpoint",
        "line",
    )

    def __init__(self, live: Exchange, wire: WireResponse, body: bytes, line: LineTemplate) -> None:
        assert live.response is not None
        values = dict(line.values)
        text = _without(values.get(REQUEST_ID), body)
        self.endpoint = endpoint_of(live)
        self.line = line
        self._response = live.response
        self._raw_headers = wire.raw_headers
        self._id = values.get(REQUEST_ID)
        self._contains_id = text != body
        stamp = values.get(TIMESTAMP)
        self._body = (text, b"", b"") if stamp is None else text.partition(stamp.encode())
        self._size = len(text)
        self._date_at = live.response.layout.get("date") if DATE in values else None
        self._encoding = live.response.find_header("content-encoding")
        self._facts = Facts({}) if self._contains_id else data_facts(live)
        self._entry = cached_verdicts.stored(live)

    def equals(self, other: CachedResponse) -> bool:
        """Whether the response has the bytes of another of the endpoint, but for its id and times, and the
        judge caches the same verdicts for both."""
        return self._entry is other._entry and self._bytes() == other._bytes()

    def _bytes(self) -> tuple[object, ...]:
        """All of the response that is not its id or a time, and the endpoint."""
        headers = [
            (name, None if at == self._date_at else _ID_MARK if value == self._id else value)
            for at, (name, value) in enumerate(self._response.headers)
        ]
        first, _, last = self._body
        shape = self.endpoint, self._response.status, self._encoding, self._contains_id
        return *shape, headers, first, last

    def repeated(self, send: Send, request_id: str, received: Received, *, number: int) -> Repeated | None:
        """The exchange of such a request; None where its response differs in more than its id and times."""
        wire = received.response
        raw = (
            wire.body if self._encoding is None else unpacked(wire.body, self._encoding, most=LARGEST_ANSWER)
        )
        if wire.status != self._response.status or raw is None or wire.error or wire.is_cut:
            return None
        values = {REQUEST_ID: request_id}
        headers = self._headers(wire, values)
        if headers is None or not self._matches(raw, values):
            return None
        exchange = Exchange(
            n=number,
            started=received.started,
            elapsed_ms=received.elapsed_ms,
            client=send.client,
            request=send.request,
            response=self._with(headers, raw, values.get(TIMESTAMP)),
        )
        self._facts.copy_to(exchange)
        return exchange, values

    def _with(self, headers: list[Header], raw: bytes, stamp: str | None) -> Response:
        body = self._response.body
        if self._contains_id:
            body, _ = answer_of(raw)
        elif stamp is not None:
            body = {**body, "timestamp": int(stamp)}
        return Response(status=self._response.status, headers=headers, body=body, form=self._response.form)

    def _headers(self, wire: WireResponse, values: dict[str, str]) -> list[Header] | None:
        """The headers, where they are the cached ones but for the request's id and the date, which is added
        to the values."""
        if wire.raw_headers == self._raw_headers and self._id is None:
            return self._response.headers
        headers, cached = wire.headers, self._response.headers
        if len(headers) != len(cached):
            return None
        for at, ((name, value), (cached_name, cached_value)) in enumerate(zip(headers, cached, strict=True)):
            if name != cached_name:
                return None
            if at == self._date_at:
                if not _PLAIN.fullmatch(value):
                    return None
                values[DATE] = value
            elif value != (values[REQUEST_ID] if cached_value == self._id else cached_value):
                return None
        return headers

    def _matches(self, raw: bytes, values: dict[str, str]) -> bool:
        """Whether a body is the cached one but for the request's id and the timestamp, which is added to the
        values."""
        first, stamp, last = self._body
        text = _without(values[REQUEST_ID], raw) if self._contains_id else raw
        if len(text) != self._size or not text.startswith(first) or not text.endswith(last):
            return False
        if not stamp:
            return True
        stamp = text[len(first) : self._size - len(last)]
        values[TIMESTAMP] = stamp.decode("latin-1")
        return stamp.isdigit() and stamp[0] != ZERO


def cached_response_of(attempt: Attempt) -> CachedResponse | None:
    """The cached response of an attempt; None where a repeated one could not be recognised with certainty."""
    line, live, wire = attempt.line, attempt.live, attempt.received.response
    response = live.response
    if not isinstance(line, TemplatedLine) or line.templates is None or not line.is_cacheable:
        return None
    if response is None or response.lacks:
        return None
    raw = unpacked(wire.body, response.find_header("content-encoding"), most=LARGEST_ANSWER)
    template = line.templates.response
    values = dict(template.values)
    if raw is None or not _is_only_timestamp(values.get(TIMESTAMP), raw, response):
        return None
    if DATE in values and (template.text.count(DATE) > 1 or "date" not in response.layout):
        return None
    id = values.get(REQUEST_ID)
    if id is not None:
        places = raw.count(id.encode()) + sum(value == id for _, value in response.headers)
        if places != template.text.count(REQUEST_ID):
            return None
    return CachedResponse(live, wire, raw, template)


def _is_only_timestamp(stamp: str | None, body: bytes, response: Response) -> bool:
    """Whether a timestamp is the envelope's, and stands nowhere else in the body."""
    if stamp is None:
        return True
    envelope = response.body
    is_of_envelope = isinstance(envelope, dict) and envelope.get("timestamp") == int(stamp)
    return is_of_envelope and body.count(stamp.encode()) == 1


def _without(id: str | None, body: bytes) -> bytes:
    return body if id is None else body.replace(id.encode(), _ID_MARK)
