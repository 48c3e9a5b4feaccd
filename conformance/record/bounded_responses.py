"""The recorder's connections to the portal: responses that only announce another one are bounded."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import Any

import aiohttp
from aiohttp.client_proto import ResponseHandler

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
    """Connects with bounded responses."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._factory: Callable[[], ResponseHandler] = functools.partial(BoundedResponses, loop=self._loop)  # type: ignore[assignment]
