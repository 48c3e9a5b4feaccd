"""ASGI wrappers: one that rewrites JSON answers, and a few that change how an answer travels."""

import asyncio
import gzip
import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reference_impl import wire
from reference_impl.asked import Asked, read_body
from reference_impl.portal import Portal
from reference_impl.routes import Routes

Headers = list[tuple[bytes, bytes]]


@dataclass
class Answer:
    """An answer on its way out; whatever is set here is what the client gets, octets as they are."""

    status: int
    headers: Headers
    body: Any


@dataclass
class Seen:
    """The request that is answered, and what one rewrite remembers between answers."""

    asked: Asked
    template: str
    parameters: dict[str, str]
    portal: Portal
    memory: dict[str, Any]

    @property
    def body(self) -> Any:
        """The JSON that was sent, or None."""
        try:
            return wire.decoded(self.asked.octets or b"")
        except wire.Malformed:
            return None

    @property
    def operation(self) -> str:
        return f"{self.asked.method} {self.template}"


Rewriting = Callable[[Seen, Answer], None]
Reply = tuple[int, Headers, bytes]
"""Status, headers and body of an answer that is not the portal's."""


@dataclass
class Rewrite:
    """Hands JSON answers of some operations (all, where none is named) to a function that changes them."""

    app: ASGIApp
    rewriting: Rewriting
    operations: frozenset[str] = frozenset()
    memory: dict[str, Any] = field(default_factory=dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        seen = self._seen(scope)
        if seen is None:
            await self.app(scope, receive, send)
            return
        octets = await read_body(receive, sys.maxsize) or b""
        seen.asked.octets = octets
        start, body = await collected(self.app, scope, replayed(octets))
        await _send(send, start, self._rewritten(seen, start, body))

    def _seen(self, scope: Scope) -> Seen | None:
        if scope["type"] != "http":
            return None
        routes: Routes = scope["app"].state.routes
        asked = Asked.of(scope, b"")
        match = routes.find_or_none(asked.method, asked.path)
        if match is None or (self.operations and match[0].name not in self.operations):
            return None
        return Seen(asked, match[0].path, match[1], scope["app"].state.portal, self.memory)

    def _rewritten(self, seen: Seen, start: Message, body: bytes) -> bytes:
        try:
            answer = Answer(start["status"], list(start["headers"]), wire.decoded(body))
        except wire.Malformed:
            return body
        self.rewriting(seen, answer)
        start["status"], start["headers"] = answer.status, answer.headers
        return answer.body if isinstance(answer.body, bytes) else wire.encoded(answer.body)


@dataclass
class Routed:
    """Routes requests of some operations to a wrapper, and all other requests to the portal."""

    app: ASGIApp
    wrapped: ASGIApp
    operations: Collection[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match = None
        if scope["type"] == "http":
            routes: Routes = scope["app"].state.routes
            match = routes.find_or_none(scope["method"], scope["path"])
        is_meant = match is not None and match[0].name in self.operations
        await (self.wrapped if is_meant else self.app)(scope, receive, send)


@dataclass
class Gzip:
    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        accepted = b"gzip" in dict(scope.get("headers", [])).get(b"accept-encoding", b"")
        if scope["type"] != "http" or not accepted:
            await self.app(scope, receive, send)
            return
        start, body = await collected(self.app, scope, receive)
        start["headers"] = [*start["headers"], (b"content-encoding", b"gzip")]
        await _send(send, start, gzip.compress(body, 1))


@dataclass
class Chunked:
    """No Content-Length, and the body in pieces."""

    app: ASGIApp
    piece: int = 64

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, body = await collected(self.app, scope, receive)
        start["headers"] = [(name, value) for name, value in start["headers"] if name != b"content-length"]
        await send(start)
        for at in range(0, len(body), self.piece):
            piece = body[at : at + self.piece]
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


@dataclass
class Respelled:
    """The JSON of an answer is written in another way."""

    app: ASGIApp
    spell: Callable[[bytes], bytes]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, body = await collected(self.app, scope, receive)
        headers = dict(start["headers"])
        is_json = b"json" in headers.get(b"content-type", b"") and b"content-encoding" not in headers
        await _send(send, start, self.spell(body) if is_json else body)


@dataclass
class WithHeaders:
    app: ASGIApp
    added: Headers = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self.added]
            await send(message)

        await self.app(scope, receive, sending)


@dataclass
class BeforeEach:
    """Something happens before each request below a path; a reply that it gives is the answer."""

    app: ASGIApp
    act: Callable[[Scope, Portal], Reply | None]
    below: str = "/web/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        sent = None
        if scope["type"] == "http" and scope["path"].startswith(self.below):
            sent = self.act(scope, scope["app"].state.portal)
        if sent is None:
            await self.app(scope, receive, send)
        else:
            await reply(send, *sent)


@dataclass
class Slowed:
    """Some requests wait before they reach the portal."""

    app: ASGIApp
    seconds: float
    is_slow: Callable[[], bool] = lambda: True

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.is_slow():
            await asyncio.sleep(self.seconds)
        await self.app(scope, receive, send)


async def collected(app: ASGIApp, scope: Scope, receive: Receive) -> tuple[Message, bytes]:
    """The start of an answer, and its whole body."""
    start: list[Message] = []
    body: list[bytes] = []

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.append(message)
        else:
            body.append(message.get("body", b""))

    await app(scope, receive, sending)
    return start[0], b"".join(body)


async def reply(send: Send, status: int, headers: Headers, body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _send(send: Send, start: Message, body: bytes) -> None:
    headers = [(name, value) for name, value in start["headers"] if name != b"content-length"]
    start["headers"] = [*headers, (b"content-length", str(len(body)).encode())]
    await send(start)
    await send({"type": "http.response.body", "body": body})


def replayed(octets: bytes) -> Receive:
    """The request body once more."""

    async def receive() -> Message:
        return {"type": "http.request", "body": octets, "more_body": False}

    return receive
