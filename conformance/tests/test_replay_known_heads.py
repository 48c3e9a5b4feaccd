"""Heads that are known: their responses are those that the parser would have made."""

from __future__ import annotations

import asyncio

import pytest

from conformance.replay.engine.wire import Connection
from conformance.replay.fast_lane.known_heads import MOST_HEADS, KnownHead, KnownHeads
from conformance.replay.rebuild.actions import WireResponse

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n"
CLOSING = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n"
EARLY_HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"


async def exchanged(heads: KnownHeads | None, answers: list[list[bytes]], method: str) -> list[WireResponse]:
    """The responses to as many requests over one connection; each answer arrives in such pieces."""
    left = iter(answers)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.readuntil(b"\r\n\r\n"):
            for piece in next(left):
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.001)

    server, loop = await asyncio.start_server(serve, "127.0.0.1", 0), asyncio.get_running_loop()
    port, pipe_of = server.sockets[0].getsockname()[1], None if heads is None else heads.pipe
    connection = Connection(
        "127.0.0.1", port, context=None, loop=loop, most=50, is_trusted=True, pipe_of=pipe_of
    )
    received = []
    for _ in answers:
        over: asyncio.Future[WireResponse] = loop.create_future()
        connection.send(f"{method} / HTTP/1.1\r\n\r\n".encode(), over.set_result, timeout=5.0)
        received.append(await over)
    connection.close()
    server.close()
    return received


@pytest.mark.parametrize(
    ("method", "answers", "found"),
    [
        ("GET", [[OK + b"ab"], [OK + b"cd"], [OK + b"ef"]], 2),
        ("GET", [[OK, b"ab"], [OK + b"cd"], [OK, b"ef"], [OK + b"gh"]], 1),
        ("GET", [[OK + b"ab"], [OK + b"c", b"d"], [OK[:20], OK[20:] + b"ef"], [OK + b"gh"]], 1),
        ("GET", [[EARLY_HINTS + OK + b"ab"], [EARLY_HINTS + OK + b"cd"]], 0),
        ("GET", [[CLOSING + b"ab"], [CLOSING + b"cd"]], 0),
        ("GET", [[CHUNKED], [CHUNKED]], 0),
        ("GET", [[OK.replace(b"2\r", b"99\r") + b"a" * 99]] * 2, 0),
        ("GET", [[OK + b"abHTTP/1.1 500 Oops\r\n\r\n"], [OK + b"cd"], [OK + b"ef"]], 1),
        ("GET", [[OK + b"ab"], [OK + b"cdHTTP/1.1 500 Oops\r\n\r\n"], [OK + b"ef"]], 1),
        ("HEAD", [[OK], [OK]], 0),
    ],
)
def test_a_known_head_changes_nothing(method: str, answers: list[list[bytes]], found: int) -> None:
    heads = KnownHeads()

    assert asyncio.run(exchanged(heads, answers, method)) == asyncio.run(exchanged(None, answers, method))
    assert heads.found == found


def test_a_server_whose_heads_all_differ_is_given_up() -> None:
    heads = KnownHeads()
    for number in range(2 * MOST_HEADS):
        heads.learn(b"%d" % number, KnownHead(200, [], 0))

    assert heads.by_bytes == {}
