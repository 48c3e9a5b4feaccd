"""A small HTTP/1.1 client on asyncio: one connection, one request at a time, next to no CPU."""

from __future__ import annotations

import asyncio
import os
import ssl
from collections.abc import Callable
from typing import Any, cast

import httptools

from conformance.replay.rebuild.actions import NO_CONNECTION, WireResponse
from conformance.target.portal.wire import tunnelled
from conformance.traffic.capture.bodies import LARGEST_ANSWER

LARGEST_HEAD = 100 * 1024
"""Bytes that may come before an response's headers have ended."""

GREETING_SECONDS = 0.05
"""How long it is waited on a connection's first use whether bytes come before the request is sent."""

EARLY = "bytes came before the request was sent: the connection was closed"
UNASKED = "unexpected bytes followed the response: the connection was closed"
FRESH_SECONDS = 2.0
"""Seconds after which an idle connection is given up, before the server does."""


NEVER = float("inf")

OnResponse = Callable[[WireResponse], None]


class Connection:
    """Reaches one host. ``send`` one request, wait for its response, send the next.

    ``deadline``, on the loop's clock, is for whoever watches the time: ``expire`` ends what is late.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        context: ssl.SSLContext | None,
        loop: asyncio.AbstractEventLoop,
        proxy: str | None = None,
        most: int = LARGEST_ANSWER,
        is_trusted: bool = False,
    ) -> None:
        """``proxy``: address of an HTTP proxy. ``is_trusted``: the host is known not to speak first, which
        is not waited for then."""
        self.most = most
        """Bytes of an response that are read."""
        self._place = (host, port)
        self._context = context
        self._proxy = proxy
        self._loop = loop
        self._pipe: Pipe | None = None
        self._task: asyncio.Task[None] | None = None
        self._on_response: OnResponse | None = None
        self._request = b""
        self._is_reused, self._has_waited = False, is_trusted
        self._idle_since = 0.0
        self.deadline = NEVER

    def send(self, request: bytes, on_response: OnResponse, *, timeout: float) -> None:
        """Sends the bytes of a request; ``on_response`` is called once, from the event loop."""
        now = self._loop.time()
        self._on_response = on_response
        self._request = request
        self.deadline = now + timeout
        pipe = self._pipe
        self._is_reused = (
            pipe is not None and not pipe.is_closing() and now - self._idle_since < FRESH_SECONDS
        )
        if pipe is not None and self._is_reused:
            pipe.send(request)
        else:
            self._connect()

    def expire(self) -> None:
        """Ends a request whose time is over."""
        self.finish(None, WireResponse(error="nothing came in time"))

    def close(self) -> None:
        """Gives up the request, and a connection that is being made."""
        self._on_response = None
        if self._task is not None:
            self._task.cancel()
        self._drop()

    def finish(self, pipe: Pipe | None, response: WireResponse, *, reusable: bool = False) -> None:
        """Delivers the response of the current pipe; responses of earlier pipes are ignored."""
        if pipe is not None and pipe is not self._pipe:
            return
        if not reusable:
            self._drop()
        if response.error:
            if self._is_reused and pipe and not pipe.received and self._may_be_repeated():
                # The server gave up the idle connection as the request went out: nothing of it was answered.
                self._is_reused = False
                self._connect()
                return
            self._has_waited = self._has_waited and response.error != EARLY
        self._idle_since = self._loop.time()
        self.deadline = NEVER
        on_response, self._on_response = self._on_response, None
        if on_response is not None:
            on_response(response)

    def _may_be_repeated(self) -> bool:
        return self._request.startswith((b"GET ", b"HEAD "))

    def _connect(self) -> None:
        self._drop()
        self._pipe = pipe = Pipe(self)
        self._task = self._loop.create_task(self._connected(pipe))

    async def _connected(self, pipe: Pipe) -> None:
        host = self._place[0] if self._context else None
        try:
            if self._proxy is None:
                await self._loop.create_connection(
                    lambda: pipe, *self._place, ssl=self._context, server_hostname=host
                )
            else:
                plain = await asyncio.to_thread(
                    tunnelled, self._proxy, self._place, self.deadline - self._loop.time()
                )
                await self._loop.create_connection(
                    lambda: pipe, sock=plain, ssl=self._context, server_hostname=host
                )
        except OSError as error:
            self.finish(pipe, WireResponse(error=f"{NO_CONNECTION} ({_reason(error)})", is_refused=True))
            return
        if not self._has_waited:
            self._has_waited = True
            await asyncio.sleep(GREETING_SECONDS)
        if pipe is self._pipe and not pipe.is_closing():
            pipe.send(self._request)

    def _drop(self) -> None:
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.abort()


def _reason(error: OSError) -> str:
    """Why there is no connection, as the system says it: the event loop's words name no cause."""
    if isinstance(error, ConnectionError) and error.errno:
        return os.strerror(error.errno)
    return error.strerror or str(error)


class Pipe(asyncio.Protocol):
    """One TCP connection, and the parser of what comes through it."""

    def __init__(self, owner: Connection) -> None:
        self._owner = owner
        self._transport: asyncio.Transport | None = None
        self._parser: Any = None
        self._status = 0
        self._headers: list[tuple[bytes, bytes]] = []
        self._chunks: list[bytes] = []
        self._size = self.received = 0
        self._bound = LARGEST_HEAD
        self._has_no_body = False
        self._is_whole = self._is_cut = False
        self._is_unasked = False
        self._is_kept_alive = False

    def send(self, request: bytes) -> None:
        if self._parser is None or self._has_no_body:
            self._parser = httptools.HttpResponseParser(self)
        self._status, self._headers, self._chunks = 0, [], []
        self._size = self.received = 0
        self._bound = LARGEST_HEAD
        self._has_no_body = request.startswith(b"HEAD ")
        self._is_whole = self._is_cut = False
        assert self._transport is not None
        self._transport.write(request)

    def is_closing(self) -> bool:
        return self._transport is None or self._transport.is_closing()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    # --- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._parser is None:
            self._owner.finish(self, WireResponse(error=EARLY))
        elif self._is_whole:
            self.abort()
        else:
            self._feed(data)

    def _feed(self, data: bytes) -> None:
        self.received += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._owner.finish(self, WireResponse(error="the portal asks for another protocol"))
            return
        except httptools.HttpParserError as error:
            if not self._is_whole:
                self._owner.finish(self, WireResponse(error=f"this is not an HTTP response ({error})"))
                return
            self._is_unasked = True
        if self._is_unasked and not self._is_cut:
            self._owner.finish(self, WireResponse(error=UNASKED))
        elif self._is_whole:
            self._end()
        elif self.received > self._bound:
            self._overflow()

    def _overflow(self) -> None:
        """An response beyond the bound is cut; one that never began is none."""
        if self._status:
            self._is_cut = True
            self._is_kept_alive = False
            self._end()
        else:
            error = f"no response began in the first {self.received:,} bytes"
            self._owner.finish(self, WireResponse(error=error))

    def connection_lost(self, error: Exception | None) -> None:
        self._transport = None
        if self._ends_with_connection():
            self._is_kept_alive = False
            self._end()
        elif not self._is_whole:
            reason = str(error or "the connection was closed before the response ended")
            self._owner.finish(self, WireResponse(error=reason))
        self._parser = None  # pipe and parser are a cycle
        self._status, self._headers, self._chunks = 0, [], []

    def _ends_with_connection(self) -> bool:
        """Whether an response has begun whose end nothing else tells."""
        names = {name.lower() for name, _ in self._headers}
        begun = self._status > 0 and not self._is_whole
        return begun and names.isdisjoint((b"content-length", b"transfer-encoding"))

    def _end(self) -> None:
        """Outside of the parser, so that the next request may begin."""
        self._is_whole = True
        chunks = self._chunks
        body = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        response = WireResponse(self._status, self._headers, body, self._is_cut)
        self._owner.finish(self, response, reusable=self._is_kept_alive and not self._has_no_body)

    # --- what the parser calls

    def on_message_begin(self) -> None:
        self._is_unasked = self._is_whole

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._status:  # what comes after the body is no header
            self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:
            self._headers.clear()
            return
        self._status = status
        self._bound = self._owner.most + LARGEST_HEAD
        self._is_kept_alive = self._parser.should_keep_alive()
        self._is_whole = self._has_no_body

    def on_body(self, chunk: bytes) -> None:
        self._size += len(chunk)
        self._chunks.append(chunk)
        if self._size > self._owner.most:
            self._is_cut = True

    def on_message_complete(self) -> None:
        if self._status:
            self._is_whole = True
