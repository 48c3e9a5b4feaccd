"""The reverse proxy itself: streams both ways, and records each exchange before it answers the last of it."""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import aiohttp
import msgspec
from multidict import CIMultiDict
from starlette.types import Message, Receive, Scope, Send
from yarl import URL

from conformance.record.channel import NO_KEYS, ClientKeys, OpenChannel
from conformance.record.log import Log
from conformance.record.protocol import BoundedConnector
from conformance.spec import operation_of
from conformance.spec.endpoints import PUBLIC_KEY, SECURE_SESSION
from conformance.target.clock import iso
from conformance.target.http1 import HOP_BY_HOP
from conformance.traffic.capture.bodies import LARGEST_ANSWER, Hold, answer_of, answered, body_of
from conformance.traffic.exchange import ABSENT, Form, Header, Json, Plain, Request, Response

LONGEST_BODY = LARGEST_ANSWER
"""Bytes of a body that are kept; what follows is passed on, and the record says that it was cut."""

UNDONE = frozenset({"gzip", "deflate", "identity", "x-gzip"})
"""Content encodings that the record can be read from; no other is asked for."""


@dataclass
class Kept:
    """A body as it goes by."""

    chunks: bytearray = field(default_factory=bytearray)
    is_cut: bool = False

    def add(self, chunk: bytes) -> None:
        room = LONGEST_BODY - len(self.chunks)
        self.is_cut = self.is_cut or len(chunk) > room
        self.chunks += chunk[: max(room, 0)]

    def body(self, headers: Iterable[Header], hold: Hold) -> tuple[Json, Form | None]:
        encoding = next((value for name, value in headers if name.lower() == "content-encoding"), None)
        return answered(bytes(self.chunks), encoding, is_cut=self.is_cut, hold=hold)


@dataclass
class Passing:
    """One exchange on its way through."""

    method: str
    url: str
    operation: str
    client: str
    headers: list[Header]
    started: str = field(default_factory=lambda: iso(time.time()))
    began: float = field(default_factory=time.perf_counter)
    sent: Kept = field(default_factory=Kept)
    answered: Kept = field(default_factory=Kept)
    keys: ClientKeys = NO_KEYS
    status: int = 0
    answer_headers: list[Header] = field(default_factory=list)

    def request(self) -> Request:
        body, form = self.sent.body(self.headers, body_of)
        return Request(method=self.method, url=self.url, headers=self.headers, body=body, form=form)

    def response(self) -> Response:
        body, form = self.answered.body(self.answer_headers, answer_of)
        return Response(status=self.status, headers=self.answer_headers, body=body, form=form)


class Proxy:
    """An ASGI application that stands for the portal at ``upstream``."""

    def __init__(
        self,
        upstream: str,
        log: Log,
        *,
        channel: OpenChannel | None = None,
        verify: bool | ssl.SSLContext = True,
        proxy: str | None = None,
        timeout: float = 60.0,
    ) -> None:
        self.upstream = upstream.rstrip("/")
        self.host = urlsplit(upstream).netloc.rpartition("@")[2]
        self.log = log
        self.channel = channel
        self.verify = verify
        self.proxy = proxy
        self.timeout = timeout
        self._session: aiohttp.ClientSession | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._pass(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        else:
            await send({"type": "websocket.close", "code": 1001, "reason": "WebSockets are not recorded"})

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.shutdown" and self._session is not None:
                await self._session.close()
            await send({"type": f"{message['type']}.complete"})
            if message["type"] == "lifespan.shutdown":
                return

    async def _pass(self, scope: Scope, receive: Receive, send: Send) -> None:
        passing = self._passing(scope)
        try:
            content = await self._content(passing, receive)
            async with self._client().request(
                passing.method,
                URL(passing.url, encoded=True),
                headers=CIMultiDict(passing.headers),
                data=content,
                allow_redirects=False,
                proxy=self.proxy,
                skip_auto_headers=("User-Agent", "Accept", "Accept-Encoding", "Content-Type"),
            ) as answer:
                await self._answer(passing, answer, send)
        except (aiohttp.ClientError, TimeoutError, ConnectionError) as error:
            await self._without_answer(passing, error, send)

    def _passing(self, scope: Scope) -> Passing:
        path = scope.get("raw_path") or scope["path"].encode()
        query = scope["query_string"]
        target = (path + (b"?" + query if query else b"")).decode("latin-1")
        operation = operation_of(scope["method"], scope["path"])
        return Passing(
            method=scope["method"],
            url=self.upstream + target,
            operation=operation.key if operation else "",
            client=scope["client"][0] if scope.get("client") else "",
            headers=self._request_headers(scope["headers"]),
        )

    def _request_headers(self, raw: Iterable[tuple[bytes, bytes]]) -> list[Header]:
        """What the portal is sent, in the client's order, repeated names included."""
        pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in raw]
        dropped = HOP_BY_HOP | {"expect"} | _named_in_connection(pairs)
        headers: list[Header] = []
        for name, value in pairs:
            if name == "host":
                headers.append((name, self.host))
            elif name == "accept-encoding":
                offered = [part.strip() for part in value.split(",")]
                undone = [part for part in offered if part.split(";")[0].strip().lower() in UNDONE]
                headers.append((name, ", ".join(undone) or "identity"))
            elif name not in dropped:
                headers.append((name, value))
        return headers

    async def _content(self, passing: Passing, receive: Receive) -> bytes | AsyncIterator[bytes] | None:
        """The request's body: streamed, but for what the channel must change."""
        has_body = any(name in ("content-length", "content-type") for name, _ in passing.headers)
        first = await receive()
        if first["type"] == "http.disconnect":
            raise ConnectionError("the client went away before its request was complete")
        if not first.get("more_body") and not first.get("body"):
            return b"" if has_body else None
        if self.channel is None or passing.operation != SECURE_SESSION:
            return _streamed(passing.sent, first, receive)
        whole = b"".join([chunk async for chunk in _streamed(Kept(), first, receive)])
        content, passing.keys = self.channel.request_to_portal(passing.operation, whole)
        passing.headers = _with_length(passing.headers, len(content))
        passing.sent.add(content)
        return content

    async def _answer(self, passing: Passing, answer: aiohttp.ClientResponse, send: Send) -> None:
        passing.status = answer.status
        passing.answer_headers = [
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.raw_headers
        ]
        if self.channel is not None and passing.operation == PUBLIC_KEY:
            await self._own_key(passing, answer, send)
            return
        is_live = answer.content_type == "text/event-stream"
        outgoing = _Outgoing(passing, send)
        async for chunk in answer.content.iter_any():
            passing.answered.add(chunk)
            await outgoing.put(chunk)
            if is_live:
                await outgoing.flush()
        self._record(passing)
        await outgoing.end()

    async def _own_key(self, passing: Passing, answer: aiohttp.ClientResponse, send: Send) -> None:
        """The portal's public key is recorded; the client is given another."""
        assert self.channel is not None
        content = await answer.read()
        passing.answered.add(content)
        replacement = self.channel.answer_to_client(passing.operation, passing.response().json)
        self._record(passing)
        outgoing = _Outgoing(passing, send)
        if replacement is not ABSENT:
            content = msgspec.json.encode(replacement)
            passing.answer_headers = [
                pair for pair in passing.answer_headers if pair[0].lower() != "content-encoding"
            ]
        passing.answer_headers = _with_length(passing.answer_headers, len(content))
        await outgoing.put(content)
        await outgoing.end()

    def _record(self, passing: Passing, error: str | None = None) -> None:
        request = passing.request()
        response = None if error else passing.response()
        plain: Plain | None = None
        if self.channel is not None:
            if response is not None:
                self.channel.remember(passing.keys, response)
            plain = self.channel.plain(request, response)
        self.log.write(
            request,
            response,
            started=passing.started,
            elapsed_ms=round((time.perf_counter() - passing.began) * 1000, 3),
            client=passing.client,
            error=error,
            plain=plain,
        )

    async def _without_answer(self, passing: Passing, error: Exception, send: Send) -> None:
        """Records a missing or incomplete answer of the portal, and reports it to the client."""
        reason = str(error).replace(" ssl:default", "") or type(error).__name__
        if isinstance(error, TimeoutError):
            reason = f"the answer did not end within {self.timeout:g} s"
        self._record(passing, error=reason)
        if passing.status:
            raise error
        text = f"The recorder got no answer from the portal: {reason}\n".encode()
        passing.status = 502
        passing.answer_headers = _with_length([("content-type", "text/plain; charset=utf-8")], len(text))
        outgoing = _Outgoing(passing, send)
        await outgoing.put(text)
        await outgoing.end()

    def _client(self) -> aiohttp.ClientSession:
        """One client for all, made where its event loop runs."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=BoundedConnector(limit=0, ssl=self.verify),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                timeout=aiohttp.ClientTimeout(total=self.timeout),
            )
        return self._session


class _Outgoing:
    """Holds back the last chunk, so that no client has a whole answer before it is recorded."""

    def __init__(self, passing: Passing, send: Send) -> None:
        self._passing, self._send = passing, send
        self._held = b""
        self._has_started = False

    async def put(self, chunk: bytes) -> None:
        await self.flush()
        self._held = chunk

    async def flush(self) -> None:
        if self._held:
            await self._start()
            await self._send({"type": "http.response.body", "body": self._held, "more_body": True})
            self._held = b""

    async def end(self) -> None:
        await self._start()
        await self._send({"type": "http.response.body", "body": self._held})

    async def _start(self) -> None:
        if self._has_started:
            return
        self._has_started = True
        dropped = HOP_BY_HOP | _named_in_connection(self._passing.answer_headers)
        start: Message = {
            "type": "http.response.start",
            "status": self._passing.status,
            "headers": [
                (name.lower().encode("latin-1"), value.encode("latin-1"))
                for name, value in self._passing.answer_headers
                if name.lower() not in dropped
            ],
        }
        await self._send(start)


async def _streamed(kept: Kept, first: Message, receive: Receive) -> AsyncIterator[bytes]:
    message = first
    while True:
        if message["type"] == "http.disconnect":
            raise ConnectionError("the client went away")
        chunk: bytes = message.get("body", b"")
        if chunk:
            kept.add(chunk)
            yield chunk
        if not message.get("more_body"):
            return
        message = await receive()


def _named_in_connection(headers: Iterable[Header]) -> frozenset[str]:
    values = [value for name, value in headers if name.lower() == "connection"]
    return frozenset(part.strip().lower() for value in values for part in value.split(","))


def _with_length(headers: list[Header], length: int) -> list[Header]:
    kept = [pair for pair in headers if pair[0].lower() not in ("content-length", "transfer-encoding")]
    return [*kept, ("content-length", str(length))]
