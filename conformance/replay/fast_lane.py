"""The fast lane of a replay: repeated requests go out from templates, repeated responses are told by bytes.

Take it away (``--no-cache``) and a replay is the same, slower.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from msgspec.structs import replace

from conformance.replay.compare.outcome import ExchangeOutcome, State
from conformance.replay.engine.machine import ReplayMachine
from conformance.replay.engine.step import Attempt, ReplayStep, StepActions
from conformance.replay.rebuild.actions import Received, Send
from conformance.replay.rebuild.rebuild import Rebuilt
from conformance.replay.recording.lines import SHORTEST_ID
from conformance.traffic.capture.bodies import LARGEST_ANSWER, unpacked
from conformance.traffic.exchange import Exchange, Header, Response
from conformance.traffic.log import ExchangeLog
from conformance.verdicts.findings import endpoint_of

CACHED_BYTES = 16_000_000
"""Bytes of recorded exchanges whose requests and responses are cached."""

NEVER_REPEATED = ("/web/v1/secure-channel/", "/web/v1/system/auth/")
"""Paths of requests that are never the same: codes, tokens and keys are used once."""


class RepeatedStep(ReplayStep, frozen=True, gc=False):
    """A step whose response repeated a cached one: it was neither decoded nor compared."""


@dataclass(slots=True)
class RequestTemplate:
    """A request that was sent, and is sent anew with another id."""

    send: Send
    generation: int
    """The correlation's generation in which it was rebuilt: it holds no longer than that."""
    response: CachedResponse | None = None


class FastLane:
    """Sends repeated requests from templates, and recognises repeated responses by their bytes.

    Where either fails it asks the machine, and learns from the step that this returns.
    """

    def __init__(self, machine: ReplayMachine) -> None:
        self._machine, self._plan = machine, machine.plan
        self._headers, self._correlation = machine.rebuilder.headers, machine.context.correlation
        self._templates: dict[tuple[int, int, int], RequestTemplate] = {}
        """By session and the fingerprints of the recorded exchange."""
        self._size = 0

    def step(self, position: int) -> StepActions:
        """As ``ReplayMachine.step``."""
        template = self._templates.get(self._key(position))
        if template is None or not self._is_valid(template):
            step = yield from self._machine.step(position)
            template = self._new_template(step)
        else:
            send = self._send(template, position)
            received = yield send
            assert isinstance(received, Received)
            attempt = self._repeated(template, send, received)
            if attempt is not None and not attempt.findings:
                number, live = self._plan.number_of(position), attempt.live
                outcome = ExchangeOutcome(number, State.SAME, endpoint_of(live), line=live.n)
                return RepeatedStep(position, outcome, attempt)
            attempt = attempt or self._machine.attempt(send, received)
            step = yield from self._machine.step(position, attempt)
        if template is not None and step.attempt is not None and step.outcome.is_stable and not step.findings:
            template.response = cached_response_of(step.attempt)
        return step

    def _is_valid(self, template: RequestTemplate) -> bool:
        return template.generation == self._correlation.generation

    def _key(self, position: int) -> tuple[int, int, int]:
        plan = self._plan
        return plan.session_of[position], plan.requests[position], plan.responses[position]

    def _send(self, template: RequestTemplate, position: int) -> Send:
        """Request of a template, with a new request id if the template has one."""
        send, request, head = template.send, template.send.request, template.send.head
        at = request.layout.get(REQUEST_ID)
        if at is not None and self._headers.is_own_id(before := request.headers[at][1]):
            headers, id = request.headers.copy(), self._headers.next_id()
            headers[at] = (headers[at][0], id)
            head = head.replace(before.encode(), id.encode(), 1)
            request = replace(request, headers=headers)
        due = self._machine.timing.due(position)
        return Send(position, request, head, send.body, due, client=send.client)

    def _repeated(self, template: RequestTemplate, send: Send, received: Received) -> Attempt | None:
        """The attempt whose response repeats the cached one, logged and judged; None where it does not, or
        where later requests take something from it."""
        cached, machine = template.response, self._machine
        if cached is None or machine.is_source(send.position) or not self._is_valid(template):
            return None
        live = cached.repeated(send, received, machine.log.count + 1)
        if live is None:
            return None
        cached.write(live, machine.log)
        return Attempt(send, received, cached.latest, None, machine.judge(cached.latest))

    def _new_template(self, step: ReplayStep) -> RequestTemplate | None:
        """The template of a request that was rebuilt, where it only reads and repeats; it is cached."""
        if step.attempt is None or step.attempt.rebuilt is None or step.pair is None:
            return None
        rebuilt, send = step.attempt.rebuilt, step.attempt.send
        if not _is_repeatable(rebuilt, step.pair.recorded):
            return None
        if not self._correlation.live.keys().isdisjoint(rebuilt.uncorrelated):
            return None
        self._size += self._plan.store.length(send.position)
        if self._size > CACHED_BYTES:
            self._templates.clear()
            self._size = 0
        self._correlation.watch(rebuilt.uncorrelated)
        template = self._templates[self._key(send.position)] = RequestTemplate(send, rebuilt.generation)
        return template


def _is_repeatable(rebuilt: Rebuilt, recorded: Exchange) -> bool:
    """Whether the same request would be rebuilt alike, but for its id."""
    operation = recorded.request.operation
    if operation is None or operation.impact != "read-only" or operation.path.startswith(NEVER_REPEATED):
        return False
    if not operation.is_prelogin and recorded.request.header("authorization") is None:
        return False
    if rebuilt.has_shifted or rebuilt.unsourced or rebuilt.made_up:
        return False
    return recorded.plain is None and rebuilt.plain is None


_DATE = re.compile(r"[ !#-\[\]-~]{12,}")
"""A date that stands in JSON as it is."""

_STAMP = re.compile(rb"[1-9]\d{12}")
"""A timestamp in milliseconds: all have the same length."""
STAMP_DIGITS = 13


@dataclass(slots=True)
class CachedResponse:
    """A live response equal to the recorded one. Later responses count as equal if only date, timestamp and
    request id differ."""

    latest: Exchange
    body: bytes
    encoding: str | None
    date_at: int | None
    """Where among the headers the date stands."""
    id_at: tuple[int, ...]
    """Where among the headers the id of the request stands."""
    stamp_at: int
    """Where in the body the envelope's timestamp stands; behind its end where there is none."""
    rest: str = ""
    """The last exchange's line in the log, without its head; empty where none was written from here."""
    marks: tuple[str, ...] = ()
    secrets: int = 0
    """How many secrets it was redacted of."""

    def repeated(self, send: Send, received: Received, n: int) -> Exchange | None:
        """Exchange ``n`` of such a request; None where its response differs in more than its id and times."""
        response, wire = self.latest.response, received.response
        assert response is not None
        if wire.status != response.status or wire.error or wire.is_cut:
            return None
        headers, at = wire.headers, self.stamp_at
        raw = unpacked(wire.body, self.encoding, most=LARGEST_ANSWER) if self.encoding else wire.body
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
            n=n,
            started=received.started,
            elapsed_ms=received.elapsed_ms,
            client=send.client,
            request=send.request,
            response=Response(status=wire.status, headers=headers, body=body, form=response.form),
        )

    def _has_headers(self, headers: list[Header], cached: list[Header], request_id: str | None) -> bool:
        """Whether headers are the cached ones, but for the date and the id of the request."""
        if len(headers) != len(cached):
            return False
        expected = cached.copy()
        if self.date_at is not None:
            date = headers[self.date_at][1]
            if not _DATE.fullmatch(date):
                return False
            expected[self.date_at] = cached[self.date_at][0], date
        for at in self.id_at:
            expected[at] = cached[at][0], request_id or ""
        return headers == expected

    def write(self, exchange: Exchange, log: ExchangeLog) -> None:
        """Writes a repeated exchange, by the line of the last one where that has the same secrets."""
        head, marks = _head_of(exchange), self._marks_of(exchange)
        rest = self._rest_with(marks) if self.secrets == log.secrets else ""
        if rest:
            log.append(head + rest)
        else:
            line = log.write(exchange)
            rest = line[len(head) :] if line.startswith(head) else ""
        self.latest, self.rest, self.marks, self.secrets = exchange, rest, marks, log.secrets

    def _rest_with(self, marks: tuple[str, ...]) -> str:
        """The line of the last exchange with the marks of another; empty where they stand elsewhere too."""
        rest, times = self.rest, 1 + len(self.id_at)
        for before, now in zip(self.marks, marks, strict=False):
            if before != now:
                if rest.count(before) != times:
                    return ""
                rest = rest.replace(before, now)
            times = 1
        return rest

    def _marks_of(self, exchange: Exchange) -> tuple[str, ...]:
        """What differs in a repeated exchange, as it stands in its line: the id of the request, the times."""
        response = exchange.response
        assert response is not None
        date = "" if self.date_at is None else response.headers[self.date_at][1]
        id = exchange.request.header(REQUEST_ID) or ""
        return f'"{id}"', f'"{date}"', f'"timestamp":{response.body.get("timestamp")}'


def _head_of(exchange: Exchange) -> str:
    """The beginning of a line: number, time, duration."""
    return f'{{"n":{exchange.n},"started":"{exchange.started}","elapsed_ms":{exchange.elapsed_ms}'


REQUEST_ID = "x-request-id"


def cached_response_of(attempt: Attempt) -> CachedResponse | None:
    """The cached response of an attempt; None where a repeated one could not be recognised with certainty."""
    live, response = attempt.live, attempt.live.response
    if response is None or response.lacks or not live.success:
        return None
    encoding = response.header("content-encoding")
    raw = unpacked(attempt.received.response.body, encoding, most=LARGEST_ANSWER)
    id = live.request.header(REQUEST_ID)
    if raw is None or (id and len(id) < SHORTEST_ID):
        return None
    stamp = str(response.body.get("timestamp") or "").encode()
    stamp_at = raw.find(stamp) if _STAMP.fullmatch(stamp) and raw.count(stamp) == 1 else len(raw)
    id_at = tuple(at for at, (_, value) in enumerate(response.headers) if id and value == id)
    return CachedResponse(live, raw, encoding, response.layout.get("date"), id_at, stamp_at)
