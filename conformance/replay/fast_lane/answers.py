"""Answers that say what one said before, but for its moment: told by their bytes, and not decoded."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from conformance.replay.fast_lane.lines import (
    DATE,
    ID,
    MOMENT,
    Half,
    Halves,
    answer_to,
    kept_half,
    note_said,
    said_by,
)
from conformance.traffic.capture.bodies import LARGEST_ANSWER, body_of, unpacked
from conformance.traffic.exchange import Exchange, Header, Request, Response
from conformance.traffic.facts import Facts, data_facts
from conformance.verdicts.findings import endpoint_of

if TYPE_CHECKING:  # its HTTP parser comes with an extra
    from conformance.replay.engine.wire import Answer

_PLAIN = re.compile(r"[ !#-\[\]-~]{12,}")
"""What JSON holds as it is."""

_ID = ID.encode()


class Familiar:
    """An answer that said what was recorded, and what the judge keeps of it.

    ``again`` makes the record of another one that says no more; it is None where one says anything else.
    """

    __slots__ = (
        "_body",
        "_client",
        "_date_at",
        "_encoding",
        "_facts",
        "_id",
        "_is_named",
        "_raw_headers",
        "_response",
        "endpoint",
        "halves",
    )

    def __init__(
        self,
        live: Exchange,
        response: Response,
        halves: Halves,
        body: bytes,
        answer: Answer,
    ) -> None:
        values = dict(halves[1].values)
        said = _without(values.get(ID), body)
        self.halves = halves
        self.endpoint = endpoint_of(live)
        self._client = live.client
        self._response = response
        self._raw_headers = answer.raw_headers
        self._id = values.get(ID)
        self._is_named = said != body
        self._body = said.partition(values[MOMENT].encode()) if MOMENT in values else (said, b"", b"")
        self._date_at = response.layout.get("date") if DATE in values else None
        self._encoding = response.sought("content-encoding")
        self._facts = Facts({}) if self._is_named else data_facts(live)

    def again(
        self, request: Request, answer: Answer, *, n: int, started: str, elapsed_ms: float
    ) -> tuple[Exchange, Mapping[str, str]] | None:
        """The exchange of a request that is the same but for its id, and what the marks in the halves stand
        for this time."""
        response, body = self._response, answer.body
        raw = body if self._encoding is None else unpacked(body, self._encoding, most=LARGEST_ANSWER)
        if answer.status != response.status or raw is None:
            return None
        id = request.header("x-request-id") or ""
        others = {ID: id}
        headers = response.headers
        if answer.raw_headers != self._raw_headers or self._id is not None:
            headers = answer.headers
            if not self._has(headers, others):
                return None
        first, stamp, last = self._body
        said = _without(id, raw) if self._is_named else raw
        begin = len(first)
        end = begin + len(stamp)
        if len(said) != end + len(last) or said[:begin] != first or said[end:] != last:
            return None
        told = response.body
        if stamp:
            stamp = said[begin:end]
            if not stamp.isdigit() or stamp.startswith(b"0"):
                return None
            others[MOMENT] = stamp.decode()
            told = {**told, "timestamp": int(stamp)}
        if self._is_named:
            told, _ = body_of(raw)
        exchange = Exchange(
            n=n,
            started=started,
            elapsed_ms=elapsed_ms,
            client=self._client,
            request=request,
            response=Response(status=response.status, headers=headers, body=told, form=response.form),
        )
        self._facts.copy_to(exchange)
        exchange.__dict__.update(familiar=self, said=self.halves[1])
        return exchange, others

    def _has(self, headers: list[Header], others: dict[str, str]) -> bool:
        """Whether headers are the same but for the date, which is noted, and for the request's id."""
        known = self._response.headers
        if len(headers) != len(known):
            return False
        for at, (name, value) in enumerate(headers):
            before, told = known[at]
            if name != before:
                return False
            if at == self._date_at:
                if not _PLAIN.fullmatch(value):
                    return False
                others[DATE] = value
            elif value != (others[ID] if told == self._id else told):
                return False
        return True


def is_familiar(live: Exchange, familiar: Familiar | None) -> bool:
    """Whether an exchange was made by a familiar answer."""
    return familiar is not None and live.__dict__.get("familiar") is familiar


def said_at(live: Exchange, familiar: Familiar, others: Mapping[str, str]) -> Exchange:
    """The exchange, with what its answer said and what the marks in that stand for this time."""
    _, half = familiar.halves
    note_said(live, Half(half.text, tuple((mark, others.get(mark, value)) for mark, value in half.values)))
    return live


def familiar_of(live: Exchange) -> Familiar | None:
    """What others like it are told by; None where they have to be looked at each time."""
    response, asked, half, answer = live.response, kept_half(live.request), said_by(live), answer_to(live)
    if response is None or asked is None or half is None or answer is None or response.lacks:
        return None
    raw = unpacked(answer.body, response.sought("content-encoding"), most=LARGEST_ANSWER)
    values = dict(half.values)
    if raw is None or not _stands_once(values.get(MOMENT), raw, response):
        return None
    if half.text.count(DATE) > 1 or (DATE in values and "date" not in response.layout):
        return None
    id = values.get(ID)
    if id is not None:
        named = raw.count(id.encode()) + sum(value == id for _, value in response.headers)
        if named != half.text.count(ID):
            return None
    return Familiar(live, response, (asked, half), raw, answer)


def _stands_once(stamp: str | None, body: bytes, response: Response) -> bool:
    """Whether the moment is the envelope's, and stands nowhere else in the body."""
    if stamp is None:
        return True
    told = response.body
    return isinstance(told, dict) and told.get("timestamp") == int(stamp) and body.count(stamp.encode()) == 1


def _without(id: str | None, body: bytes) -> bytes:
    return body if id is None else body.replace(id.encode(), _ID)
