"""Cached responses: recognises a repeated response by its bytes, without decoding it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from conformance.replay.engine.log import LogLine
from conformance.replay.engine.step import Attempt
from conformance.replay.rebuild.actions import Received, Send
from conformance.replay.recording.fingerprint import SHORTEST_ID
from conformance.traffic.capture.bodies import LARGEST_ANSWER, unpacked
from conformance.traffic.exchange import Exchange, Header, Response

_DATE = re.compile(r"[ !#-\[\]-~]{12,}")
"""A date that stands in JSON as it is."""

_STAMP = re.compile(rb"[1-9]\d{12}")
"""A timestamp in milliseconds: all have the same length."""
STAMP_DIGITS = 13


@dataclass(slots=True)
class CachedResponse:
    """A response that was the recorded one: another one that differs in its date, its timestamp and the id of
    its request only is the same."""

    line: LogLine
    """The line of the last exchange that had it."""
    body: bytes
    date_at: int | None
    """Where among the headers the date stands."""
    stamp_at: int
    """Where in the body the envelope's timestamp stands; behind its end where there is none."""

    def repeated(self, send: Send, received: Received) -> Exchange | None:
        """The exchange of such a request; None where its response differs in more than its id and times."""
        response, wire = self.line.exchange.response, received.response
        assert response is not None
        if wire.status != response.status or wire.error or wire.is_cut:
            return None
        headers, at = wire.headers, self.stamp_at
        raw = unpacked(wire.body, response.find_header("content-encoding"), most=LARGEST_ANSWER)
        if raw is None or not self._has_headers(headers, response.headers, send.request.header(REQUEST_ID)):
            return None
        stamp, body = raw[at : at + STAMP_DIGITS], response.body
        if len(raw) != len(self.body) or raw[:at] != self.body[:at]:
            return None
        if raw[at + STAMP_DIGITS :] != self.body[at + STAMP_DIGITS :]:
            return None
        if stamp:
            if not _STAMP.fullmatch(stamp):
                return None
            body = {**body, "timestamp": int(stamp)}
        return Exchange(
            n=0,
            started=received.started,
            elapsed_ms=received.elapsed_ms,
            client=send.client,
            request=send.request,
            response=Response(status=wire.status, headers=headers, body=body, form=response.form),
        )

    def _has_headers(self, headers: list[Header], cached: list[Header], request_id: str | None) -> bool:
        """Whether headers are the cached ones, but for the date and the id of the request."""
        id = self.line.exchange.request.header(REQUEST_ID)
        if len(headers) != len(cached):
            return False
        if self.date_at is not None and not _DATE.fullmatch(headers[self.date_at][1]):
            return False
        return all(
            now == before
            or (now[0] == before[0] and (at == self.date_at or (now[1] == request_id and before[1] == id)))
            for at, (now, before) in enumerate(zip(headers, cached, strict=True))
        )

    def renewed(self, repeated: Exchange) -> list[tuple[str, str]]:
        """The values of the last exchange that a repeated one has otherwise, each with that one's."""
        return [
            (before, now)
            for before, now in zip(_moment(self.line.exchange), _moment(repeated), strict=True)
            if before != now
        ]


REQUEST_ID = "x-request-id"


def _moment(exchange: Exchange) -> tuple[str, str, str]:
    """The id of a request, and the date and the timestamp of its response; an empty text for each of them
    that it has not."""
    response = exchange.response
    assert response is not None
    stamp = response.body.get("timestamp")
    return exchange.request.header(REQUEST_ID) or "", response.header("date") or "", str(stamp or "")


def cached_response_of(attempt: Attempt) -> CachedResponse | None:
    """The cached response of an attempt; None where a repeated one could not be recognised, or written, with
    certainty."""
    live, text = attempt.live, attempt.line.text
    response = live.response
    if response is None or response.lacks or not live.success:
        return None
    raw = unpacked(
        attempt.received.response.body, response.find_header("content-encoding"), most=LARGEST_ANSWER
    )
    id, *times = _moment(live)
    places = 1 + sum(value == id for _, value in response.headers)
    if raw is None or any(time and text.count(time) != 1 for time in times):
        return None
    if id and (len(id) < SHORTEST_ID or text.count(id) != places):
        return None
    stamp = times[1].encode()
    stamp_at = raw.find(stamp) if _STAMP.fullmatch(stamp) and raw.count(stamp) == 1 else len(raw)
    return CachedResponse(attempt.line, raw, response.layout.get("date"), stamp_at)
