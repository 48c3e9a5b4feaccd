"""An ASGI middleware that judges what passes through a portal, and never changes it."""

from __future__ import annotations

import queue
import threading
import time
from collections import Counter, deque
from collections.abc import Iterable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Send

from conformance.judging import judge_of, watch
from conformance.spec import REQUIREMENTS
from conformance.spec.endpoints import PORTAL_PATH
from conformance.traffic.capture.bodies import answered, body_of
from conformance.traffic.exchange import Exchange, Header, Request, Response
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.findings import Finding, Ledger

LATEST_FINDINGS = 100


class JudgedCounts:
    """Counts of exchanges and findings, safe from threads; bounded by the rules and the endpoints of the
    specification."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._totals: Counter[str] = Counter()
        self._findings: Counter[tuple[str, str, str]] = Counter()
        self._latest: deque[Finding] = deque(maxlen=LATEST_FINDINGS)

    def count(self, name: str, times: int = 1) -> None:
        """Counts ``judged``, ``dropped`` or ``errors``."""
        with self._lock:
            self._totals[name] += times

    def note(self, finding: Finding) -> None:
        with self._lock:
            self._findings[finding.requirement, finding.verdict.value, finding.endpoint] += 1
            self._latest.append(finding)

    def total(self, name: str) -> int:
        """How many exchanges were ``judged`` or ``dropped``, or how many ``errors`` the judge had."""
        with self._lock:
            return self._totals[name]

    @property
    def findings(self) -> dict[tuple[str, str, str], int]:
        """How often each rule was contradicted, by its id, the verdict and the endpoint."""
        with self._lock:
            return dict(self._findings)

    @property
    def latest(self) -> list[Finding]:
        """The latest findings, the newest last, with secrets redacted."""
        with self._lock:
            return list(self._latest)


BODY_BYTES = 256 * 1024
"""Bytes of a body that are kept; nothing is concluded from a longer one."""

MOST_WAITING = 100
"""Exchanges that may wait for the judge; further ones are dropped and counted."""

SET_BY_SERVERS = ("date", "server", "content-length", "transfer-encoding", "connection", "keep-alive")
"""Response headers that are added outside of the application: that they are not seen says nothing."""


class JudgingMiddleware:
    """Judges the exchanges of an ASGI application in a thread of its own.

    Requests and answers pass as they are, before anything is judged. ``counts`` counts the findings. At most
    ``waiting`` exchanges wait for the judge, and of each body ``largest`` bytes are kept.
    """

    def __init__(
        self,
        app: ASGIApp,
        counts: JudgedCounts | None = None,
        *,
        largest: int = BODY_BYTES,
        waiting: int = MOST_WAITING,
    ) -> None:
        self.app = app
        self.counts = JudgedCounts() if counts is None else counts
        self._largest = largest
        self._thread = _JudgingThread(self.counts, waiting)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or PORTAL_PATH not in scope["path"]:
            await self.app(scope, receive, send)
            return
        tap = _Tap(scope, self._largest)

        async def receiving() -> Message:
            message = await receive()
            with suppress(Exception):  # whatever a message is, it passes
                tap.note(tap.request, message, "http.request")
            return message

        async def sending(message: Message) -> None:
            await send(message)
            with suppress(Exception):
                was_complete = tap.is_complete
                tap.note(tap.response, message, "http.response.body")
                if tap.is_complete and not was_complete:
                    self._thread.put(tap)

        await self.app(scope, receiving, sending)

    def drain(self, timeout: float = 10.0) -> bool:
        """Waits until everything that waits is judged; whether that was so within the seconds."""
        return self._thread.drain(timeout)


@dataclass
class _BodyCopy:
    raw: bytearray = field(default_factory=bytearray)
    is_cut: bool = False
    is_complete: bool = False


class _Tap:
    """Copies of what passes, up to a bound."""

    def __init__(self, scope: Mapping[str, Any], largest: int) -> None:
        self._scope = {**scope}
        self._largest = largest
        self.request, self.response = _BodyCopy(), _BodyCopy()
        self._started, self._began = datetime.now(UTC), time.perf_counter()
        self._elapsed = 0.0
        self._status: int | None = None
        self._headers: list[tuple[bytes, bytes]] = []

    @property
    def is_complete(self) -> bool:
        return self.response.is_complete and self._status is not None

    def note(self, body: _BodyCopy, message: Message, kind: str) -> None:
        """Notes a message; what is of another kind and no start of an answer leaves the body unknown."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = [(bytes(name), bytes(value)) for name, value in message.get("headers", ())]
        elif message["type"] == kind and not body.is_complete:
            part = message.get("body", b"")
            room = self._largest - len(body.raw)
            body.raw += part[:room]
            body.is_cut = body.is_cut or len(part) > room
            body.is_complete = not message.get("more_body", False)
            self._elapsed = time.perf_counter() - self._began
        elif message["type"] == "http.response.pathsend":
            body.is_cut = body.is_complete = True

    def exchange(self, n: int) -> Exchange:
        headers = _headers(self._headers)
        encoding = next((value for name, value in headers if name.lower() == "content-encoding"), None)
        body, form = answered(bytes(self.response.raw), encoding, is_cut=self.response.is_cut)
        assert self._status is not None
        return Exchange(
            n=n,
            started=self._started.isoformat(),
            elapsed_ms=round(self._elapsed * 1000, 3),
            request=self._request(),
            response=Response(
                status=self._status, headers=headers, body=body, form=form, lacks=SET_BY_SERVERS
            ),
        )

    def _request(self) -> Request:
        scope, sent = self._scope, self.request
        headers = _headers(scope["headers"])
        host = next((value for name, value in headers if name.lower() == "host"), "localhost")
        path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
        query = scope.get("query_string", b"").decode("latin-1")
        url = f"{scope.get('scheme', 'http')}://{host}{path}{f'?{query}' if query else ''}"
        if sent.is_cut:
            return Request(method=scope["method"], url=url, headers=headers, form="truncated")
        if not sent.is_complete:  # the application answered without reading it to its end
            return Request(method=scope["method"], url=url, headers=headers, form="omitted")
        body, form = body_of(bytes(sent.raw))
        return Request(method=scope["method"], url=url, headers=headers, body=body, form=form)


class _JudgingThread:
    """Judges one exchange at a time, in the order in which they ended. It starts with the first."""

    def __init__(self, counts: JudgedCounts, waiting: int) -> None:
        self._counts = counts
        self._queue: queue.Queue[_Tap] = queue.Queue(waiting)
        self._judge = judge_of()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._n = 0

    def put(self, tap: _Tap) -> None:
        """Has an exchange judged later; never waits."""
        try:
            self._queue.put_nowait(tap)
        except queue.Full:
            self._counts.count("dropped")
        if self._thread is None or not self._thread.is_alive():
            self._start()

    def drain(self, timeout: float) -> bool:
        until = time.monotonic() + timeout
        while self._queue.unfinished_tasks and time.monotonic() < until:
            time.sleep(0.005)
        return not self._queue.unfinished_tasks

    def _start(self) -> None:
        with self._lock:
            if self._thread is None or not self._thread.is_alive():  # it does not live on in a forked process
                self._thread = threading.Thread(target=self._work, name="portal-judge", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while True:
            tap = self._queue.get()
            try:
                self._judge_one(tap)
            except Exception:  # whatever is wrong with the judge, the portal goes on
                self._counts.count("errors")
            finally:
                self._queue.task_done()

    def _judge_one(self, tap: _Tap) -> None:
        self._n += 1
        ledger = Ledger(REQUIREMENTS)  # a fresh one: nothing is kept of an exchange but its counts
        exchange = tap.exchange(self._n)
        for finding in watch(ledger, judge=self._judge)(exchange):
            self._counts.note(_redacted(finding, exchange))
        self._counts.count("judged")
        self._counts.count("errors", len(ledger.errors))


def _redacted(finding: Finding, exchange: Exchange) -> Finding:
    """The finding without the secrets that its exchange shows."""
    secrets = Secrets()
    secrets.add_from(exchange)
    return replace(
        finding,
        message=secrets.redact(finding.message),
        expected=secrets.redact_json(finding.expected),
        actual=secrets.redact_json(finding.actual),
    )


def _headers(pairs: Iterable[tuple[bytes, bytes]]) -> list[Header]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in pairs]
