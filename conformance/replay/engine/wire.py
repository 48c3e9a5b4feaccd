"""The asyncio client of a replay: connections to one server, each with one request at a time."""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field
from typing import cast

from conformance.target.http1 import (
    EARLY,
    FRESH_SECONDS,
    NO_CONNECTION,
    UNASKED,
    ResponseReader,
    ServerManners,
    WireResponse,
    reason_of,
)
from conformance.target.portal.wire import Deadline, tunnelled
from conformance.traffic.capture.bodies import LARGEST_ANSWER


@dataclass(frozen=True)
class Server:
    """The server that connections lead to. ``proxy`` is the address of an HTTP proxy before it; ``most`` are
    the bytes of an answer that are read."""

    host: str
    port: int
    context: ssl.SSLContext | None = None
    proxy: str | None = None
    most: int = LARGEST_ANSWER
    manners: ServerManners = field(default_factory=ServerManners)


class Connection:
    """Asks a server, one request after the other, over one connection as long as that lasts."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._pipe: Pipe | None = None
        self._idle_since = 0.0

    async def ask(self, request: bytes, *, timeout: float) -> WireResponse:
        """The response to the bytes of a request, or the error in its place."""
        reader = ResponseReader(is_head=request.startswith(b"HEAD "), most=self._server.most)
        try:
            async with asyncio.timeout(timeout):
                response = await self._response(request, reader, timeout)
        except TimeoutError:
            response = WireResponse(error="nothing came in time")
        self._idle_since = asyncio.get_running_loop().time()
        if response.error or not reader.is_reusable or not self._server.manners.keeps_connections:
            self.close()
        return response

    def close(self) -> None:
        pipe, self._pipe = self._pipe, None
        if pipe is not None:
            pipe.abort()

    async def _response(self, request: bytes, reader: ResponseReader, timeout: float) -> WireResponse:
        pipe = self._kept()
        if pipe is not None:
            response = await self._asked(pipe, request, reader)
            if not response.error or reader.received:
                return response
            self._server.manners.note_silent_end()
            if not request.startswith((b"GET ", b"HEAD ")):
                return response
            # The server gave up the idle connection as the request went out: the reader has read nothing.
        try:
            self._pipe = pipe = await self._connected(timeout)
        except OSError as error:
            return WireResponse(error=f"{NO_CONNECTION} ({reason_of(error)})", is_refused=True)
        seconds = self._server.manners.greeting_seconds()
        if seconds:
            await asyncio.sleep(seconds)
        if pipe.has_unasked:
            self._server.manners.note_unasked()
            return WireResponse(error=EARLY)
        return await self._asked(pipe, request, reader)

    async def _asked(self, pipe: Pipe, request: bytes, reader: ResponseReader) -> WireResponse:
        response = await pipe.ask(request, reader)
        if pipe.has_unasked and not response.is_cut:
            self._server.manners.note_unasked()
            return WireResponse(error=UNASKED)
        return response

    def _kept(self) -> Pipe | None:
        """Open connection of the last request, if it may carry another request; else closes it."""
        pipe = self._pipe
        if pipe is None:
            return None
        is_fresh = asyncio.get_running_loop().time() - self._idle_since < FRESH_SECONDS
        if is_fresh and pipe.is_open and not pipe.has_unasked:
            return pipe
        if pipe.has_unasked:
            self._server.manners.note_unasked()
        self.close()
        return None

    async def _connected(self, timeout: float) -> Pipe:
        """A new connection. Raises OSError."""
        server, loop, pipe = self._server, asyncio.get_running_loop(), Pipe()
        name = server.host if server.context else None
        place = (server.host, server.port)
        if server.proxy is None:
            await loop.create_connection(lambda: pipe, *place, ssl=server.context, server_hostname=name)
        else:
            plain = await asyncio.to_thread(tunnelled, server.proxy, place, Deadline(timeout))
            plain.setblocking(False)
            await loop.create_connection(lambda: pipe, sock=plain, ssl=server.context, server_hostname=name)
        return pipe


class Pipe(asyncio.Protocol):
    """One TCP connection."""

    def __init__(self) -> None:
        self.is_open = False
        self.has_unasked = False
        """Whether bytes came while no response was due."""
        self._transport: asyncio.Transport | None = None
        self._reader: ResponseReader | None = None
        self._response: asyncio.Future[WireResponse] | None = None

    def ask(self, request: bytes, reader: ResponseReader) -> asyncio.Future[WireResponse]:
        """Sends a request; the response comes when the reader has it whole."""
        self._reader, self._response = reader, asyncio.get_running_loop().create_future()
        if self._transport is None or not self.is_open:
            self._end(None)
        else:
            self._transport.write(request)
        return self._response

    def abort(self) -> None:
        self.is_open = False
        if self._transport is not None:
            self._transport.abort()

    # --- what asyncio calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        if self._reader is None or self._response is None or self._response.done():
            self.has_unasked = True
            self.abort()
        elif (response := self._reader.take(data)) is not None:
            self._response.set_result(response)

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        self._end(error)

    def _end(self, error: Exception | None) -> None:
        if self._reader is None or self._response is None or self._response.done():
            return
        response = WireResponse(error=reason_of(error)) if error else self._reader.take(b"")
        self._response.set_result(response or WireResponse(error="the connection was closed"))
