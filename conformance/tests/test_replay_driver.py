"""The driver of a replay: sessions take turns, and a connection that is closed holds nothing."""

from __future__ import annotations

import asyncio
import gc
from array import array
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.errors import TargetUnreachable, Untestable
from conformance.replay.engine.driver import Driver
from conformance.replay.engine.wire import Connection
from conformance.replay.rebuild.actions import Actions, Await, PassTime, WireResponse
from conformance.replay.rebuild.errors import CannotRebuild


class Turns:
    """Lookups that are answered after the event loop has turned some times."""

    loop: asyncio.AbstractEventLoop

    def is_immediate(self, action: object) -> bool:
        return False

    def answer(self, action: object) -> None:
        for _ in range(5):
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self.loop).result()


def test_a_session_that_waited_goes_on_only_where_a_place_is_free() -> None:
    turns, events = Turns(), list[str]()
    progress: Any = SimpleNamespace(ended=bytearray(2))
    progress.plan = SimpleNamespace(order=array("i", [0, 1]), number_of=lambda position: position + 1)
    profile = SimpleNamespace(portal=SimpleNamespace(url="http://127.0.0.1:1"))
    driver = Driver(cast(Any, profile), cast(Any, turns), progress, concurrency=1)

    def waiting() -> Iterator[Await]:
        yield Await(0)
        events.append("the waiting one went on")

    def other() -> Iterator[PassTime]:
        progress.ended[0] = 1
        driver.ended(0)
        yield PassTime(1.0, "a test")
        events.append("the other has ended")

    async def run() -> None:
        turns.loop = asyncio.get_running_loop()
        await driver.run(cast(list[Actions], [waiting(), other()]))

    asyncio.run(run())

    assert events == ["the other has ended", "the waiting one went on"]


def test_a_closed_connection_holds_no_response() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        await reader.read()
        writer.close()

    async def holders() -> list[str]:
        loop = asyncio.get_running_loop()
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        connection = Connection("127.0.0.1", server.sockets[0].getsockname()[1], context=None, loop=loop)
        received: list[WireResponse] = []
        over = asyncio.Event()

        def take(response: WireResponse) -> None:
            received.append(response)
            over.set()

        connection.send(b"GET / HTTP/1.1\r\n\r\n", take, timeout=5.0)
        await over.wait()
        connection.close()
        for _ in range(5):
            await asyncio.sleep(0)
        server.close()
        assert received[0].body == b"{}"
        return [type(each).__name__ for each in gc.get_referrers(*received) if each is not received]

    assert asyncio.run(holders()) == []


@pytest.mark.parametrize("answers", [True, False])
def test_a_lookup_that_fails_has_the_target_asked_at_the_end_whether_it_is_there(answers: bool) -> None:
    """What needs the code is not sent: a target that died since shows by nothing else."""
    profile: Any = SimpleNamespace(portal=SimpleNamespace(url="http://127.0.0.1:1"))
    progress: Any = SimpleNamespace(ended=bytearray(1))
    driver = Driver(profile, cast(Any, NoCode()), progress, concurrency=1, probe=lambda: answers)

    def signing_in() -> Iterator[PassTime]:
        driver.note_silence(WireResponse(status=200))
        with suppress(CannotRebuild):
            yield PassTime(1.0, "a code")

    run = driver.run(cast(list[Actions], [signing_in()]))
    if answers:
        asyncio.run(run)
        return
    with pytest.raises(TargetUnreachable, match="does not answer any more"):
        asyncio.run(run)


class NoCode:
    """Lookups that fail."""

    def is_immediate(self, action: object) -> bool:
        return False

    def answer(self, action: object) -> None:
        raise Untestable("no mail came")
