"""Calls an ASGI application from synchronous code, without a socket, in an event loop of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import ASGIApp, Message

from conformance.traffic.http_library import httpx

T = TypeVar("T")

STARTUP_SECONDS = 30.0
"""Seconds that an application may take to start or to end."""


class ApplicationTransport(httpx.BaseTransport):
    """Sends requests to an application, which starts with the first request and ends with ``close``.

    An error that the application raises is a 500, as a server would answer. Safe from threads.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._inner = httpx.ASGITransport(app, raise_app_exceptions=False)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="application", daemon=True)
        self._thread.start()
        self._lifespan = Lifespan(app)
        try:
            self._do(self._lifespan.start())
        except BaseException:
            self._stop()
            raise

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self._do(self._send(request))

    def close(self) -> None:
        if self._loop.is_running():
            try:
                self._do(self._lifespan.end())
            finally:
                self._stop()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _send(self, request: httpx.Request) -> httpx.Response:
        request.stream = httpx.ByteStream(request.read())
        response = await self._inner.handle_async_request(request)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        body = b"".join([part async for part in response.stream])
        return httpx.Response(response.status_code, headers=response.headers, stream=httpx.ByteStream(body))

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


class Lifespan:
    """The start and the end of an application; one that knows of neither is left alone."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        self._to_app: asyncio.Queue[Message] = asyncio.Queue()
        self._from_app: asyncio.Queue[Message] = asyncio.Queue()
        self._task = asyncio.ensure_future(self._run())
        await self._ask("lifespan.startup")

    async def end(self) -> None:
        if self._task is not None and not self._task.done():
            await self._ask("lifespan.shutdown")
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _run(self) -> None:
        scope: Message = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
        try:
            await self._app(scope, self._to_app.get, self._from_app.put)
        except Exception:  # an application without a lifespan raises, by the ASGI specification
            return
        finally:
            await self._from_app.put({"type": "ended"})

    async def _ask(self, event: str) -> None:
        await self._to_app.put({"type": event})
        answer = await asyncio.wait_for(self._from_app.get(), STARTUP_SECONDS)
        if answer["type"] == f"{event}.failed":
            raise RuntimeError(f"the application failed at {event}: {answer.get('message', '')}")
