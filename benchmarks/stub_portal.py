"""A server that answers as a portal was recorded to, with ids and tokens of its own, and fast.

.venv/bin/python benchmarks/stub_portal.py VISIT.jsonl PORT [AFTER SECONDS]

AFTER so many answers it stalls once, for so many SECONDS.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import secrets
import sys
import time
from pathlib import Path

import httptools

UUID = re.compile(rb"([0-9a-f]{8})(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
INITIATE, COMPLETE = (b"/web/v1/system/auth/login/initiate", b"/web/v1/system/auth/login/complete")


def other_ids(text: bytes) -> bytes:
    """Every id turned into another; twice gives the first again."""
    return UUID.sub(lambda match: match[1][::-1] + match[2], text)


def _key(method: bytes, target: bytes) -> bytes:
    """What names an answer: times in a query move with the clock."""
    return method + b" " + re.sub(rb"startTime=[^&]+", b"", target)


class Answers:
    """What to say, by method and target."""

    def __init__(self, visit: Path) -> None:
        self.known: dict[bytes, tuple[int, bytes]] = {}
        for line in visit.read_text().splitlines():
            exchange = json.loads(line)
            target = exchange["request"]["url"].split("/", 3)[3]
            body = json.dumps(
                exchange["response"]["body"], separators=(",", ":"), ensure_ascii=False
            ).encode()
            self.known[_key(exchange["request"]["method"].encode(), f"/{target}".encode())] = (
                exchange["response"]["status"],
                other_ids(body),
            )
        self.tokens: set[bytes] = set()
        self._count = itertools.count()

    def to(self, method: bytes, target: bytes, authorization: bytes, *, follows: bool) -> tuple[int, bytes]:
        """``follows``: whether the client sends ids and tokens as it was given them, or as recorded."""
        answer = self.known.get(_key(method, other_ids(target) if follows else target))
        if answer is None or (follows and b"/auth/" not in target and authorization not in self.tokens):
            return 401, b'{"success":false,"code":"4010","message":"no","data":null}'
        status, body = answer
        if target == INITIATE:
            body = re.sub(rb'"sessionId":"[^"]+"', b'"sessionId":"live-session-%d"' % next(self._count), body)
        elif target == COMPLETE:
            token, refresh = (secrets.token_urlsafe(32).encode() for _ in range(2))
            body = re.sub(rb'"accessToken":"[^"]+"', b'"accessToken":"%s"' % token, body)
            body = re.sub(rb'"refreshToken":"[^"]+"', b'"refreshToken":"%s"' % refresh, body)
            self.tokens.add(b"Bearer " + token)
        stamp = b'"timestamp":%d' % (time.time() * 1000)
        return status, re.sub(rb'"timestamp":\d+', stamp, body, count=1)


class Server(asyncio.Protocol):
    answers: Answers
    until_stall, stall_seconds = 0, 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self._begin()

    def _begin(self) -> None:
        self.parser = httptools.HttpRequestParser(self)
        self.target = self.authorization = b""
        self.follows = True

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_url(self, url: bytes) -> None:
        self.target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() == b"authorization":
            self.authorization = value
        elif name == b"x-as-recorded":
            self.follows = False

    def on_message_complete(self) -> None:
        Server.until_stall -= 1
        if Server.until_stall == 0:
            time.sleep(Server.stall_seconds)
        status, body = self.answers.to(
            self.parser.get_method(), self.target, self.authorization, follows=self.follows
        )
        self.transport.write(  # type: ignore[attr-defined]
            b"HTTP/1.1 %d OK\r\ndate: Thu, 01 Jan 2026 00:00:00 GMT\r\ncontent-type: application/json\r\n"
            b"content-length: %d\r\n\r\n%s" % (status, len(body), body)
        )
        self.target = self.authorization = b""
        self.follows = True


async def main(visit: str, port: str, after: str = "0", seconds: str = "0") -> None:
    Server.answers = Answers(Path(visit))
    Server.until_stall, Server.stall_seconds = int(after), float(seconds)
    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", int(port), backlog=1024)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    try:
        import uvloop

        uvloop.install()
    except ImportError:
        pass
    asyncio.run(main(*sys.argv[1:5]))
