"""Bounds of the recorder: of a client's requests in size and time, and of the portal's interim responses."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import Any, cast

import aiohttp
from aiohttp.client_proto import ResponseHandler
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from conformance.record.log import Bounds


class Refused(Exception):
    """The request is not one that the recorder forwards; the parser answers it with 400."""


class BoundedProtocol(HttpToolsProtocol):
    """HTTP/1.1 as a reverse proxy takes it.

    A request in absolute or authority form (``GET http://…``, ``CONNECT``) is one to a forward proxy, and is
    refused, as is one over the bounds. The connection of a request that does not arrive in time is closed.
    """

    bounds = Bounds()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._header_bytes = 0
        self._body_bytes = 0
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(cast(asyncio.Transport, transport))
        self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_deadline()
        super().connection_lost(exc)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._header_bytes = self._body_bytes = 0
        self._start_deadline()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self._count_header(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        self._count_header(len(name) + len(value))

    def on_headers_complete(self) -> None:
        if not self.url.startswith(b"/"):
            raise Refused("the recorder is no HTTP proxy: send requests to its address as to the portal's")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        if self._body_bytes > self.bounds.body_bytes:
            raise Refused("the body is too large")
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._stop_deadline()
        super().on_message_complete()

    def _count_header(self, size: int) -> None:
        self._header_bytes += size
        if self._header_bytes > self.bounds.header_bytes:
            raise Refused("the header is too large")

    def _start_deadline(self) -> None:
        self._stop_deadline()
        self._deadline = self.loop.call_later(self.bounds.request_seconds, self.transport.close)

    def _stop_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


MOST_INFORMATIONAL = 1000
"""Responses of the kind 1xx before the one that counts: each is held until somebody reads it."""


class BoundedResponses(ResponseHandler):
    """Reads the responses of one connection, and gives it up after too many of the kind 1xx in a row."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._informational = 0

    def feed_data(self, data: Any, size: int = 0) -> None:
        is_informational = 100 <= data[0].code < 200
        self._informational = self._informational + 1 if is_informational else 0
        if self._informational < MOST_INFORMATIONAL:
            super().feed_data(data, size)
        elif self._informational == MOST_INFORMATIONAL:
            self.set_exception(
                aiohttp.ServerConnectionError(
                    f"no final answer came after {MOST_INFORMATIONAL:,} of HTTP 1xx"
                )
            )
            if self.transport is not None:
                self.transport.abort()


class BoundedConnector(aiohttp.TCPConnector):
    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._factory: Callable[[], ResponseHandler] = functools.partial(BoundedResponses, loop=self._loop)  # type: ignore[assignment]
