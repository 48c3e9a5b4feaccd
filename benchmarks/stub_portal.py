"""A server that answers as a portal was recorded to, with ids and tokens of its own, and fast.

.venv/bin/python benchmarks/stub_portal.py VISIT.jsonl PORT
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

UUID = re.compile(rb"([0-9a-f]{8})(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
INITIATE, COMPLETE = (b"/web/v1/system/auth/login/initiate", b"/web/v1/system/auth/login/complete")

LENGTH = re.compile(rb"\r\n[Cc]ontent-[Ll]ength: *(\d+)")
AUTHORIZATION = re.compile(rb"\r\n[Aa]uthorization: *([^\r]*)")
_NONE = (b"", b"0")


def other_ids(text: bytes) -> bytes:
    """Every id turned into another; twice gives the first again."""
    return UUID.sub(lambda match: match[1][::-1] + match[2], text)


def _key(method: bytes, target: bytes) -> bytes:
    """What names an answer: times in a query move with the clock."""
    return method + b" " + re.sub(rb"startTime=[^&]+", b"", target)


class Answers:
    """What to say, by method and target: status, what stands before the time of the answer and what after."""

    def __init__(self, visit: Path) -> None:
        self.known: dict[bytes, tuple[bytes, bytes]] = {}
        for line in visit.read_text().splitlines():
            exchange = json.loads(line)
            target = exchange["request"]["url"].split("/", 3)[3]
            body = json.dumps(
                exchange["response"]["body"], separators=(",", ":"), ensure_ascii=False
            ).encode()
            key = _key(exchange["request"]["method"].encode(), f"/{target}".encode())
            self.known[key] = b"%d" % exchange["response"]["status"], other_ids(body)
        self.parts: dict[tuple[bytes, bytes, bool], tuple[bytes, bytes | None] | None] = {}
        self.tokens: set[bytes] = set()
        self._count = itertools.count()

    def to(self, method: bytes, target: bytes, authorization: bytes, *, follows: bool) -> bytes:
        """The whole answer. ``follows``: whether the client sends ids and tokens as it was given them, or as
        recorded."""
        if follows and b"/auth/" in target:
            return self._signed_in(method, target)
        key = method, target, follows
        parts = self.parts.get(key)
        if parts is None and key not in self.parts:
            parts = self.parts[key] = self._parts(method, other_ids(target) if follows else target)
        if parts is None or (follows and authorization not in self.tokens):
            return _REFUSED
        before, after = parts
        return before if after is None else b"%b%d%b" % (before, time.time() * 1000, after)

    def _parts(self, method: bytes, target: bytes) -> tuple[bytes, bytes | None] | None:
        """An answer around its time, which has as many digits each time."""
        answer = self.known.get(_key(method, target))
        if answer is None:
            return None
        stamp = b'"timestamp":%013d' % 0
        whole = _answer(answer[0], re.sub(rb'"timestamp":\d+', stamp, answer[1], count=1))
        before, stamped, after = whole.partition(stamp)
        return (before + stamp[:-13], after) if stamped else (whole, None)

    def _signed_in(self, method: bytes, target: bytes) -> bytes:
        answer = self.known.get(_key(method, other_ids(target)))
        if answer is None:
            return _REFUSED
        status, body = answer
        if target == INITIATE:
            body = re.sub(rb'"sessionId":"[^"]+"', b'"sessionId":"live-session-%d"' % next(self._count), body)
        elif target == COMPLETE:
            token, refresh = (secrets.token_urlsafe(32).encode() for _ in range(2))
            body = re.sub(rb'"accessToken":"[^"]+"', b'"accessToken":"%s"' % token, body)
            body = re.sub(rb'"refreshToken":"[^"]+"', b'"refreshToken":"%s"' % refresh, body)
            self.tokens.add(b"Bearer " + token)
        stamp = b'"timestamp":%d' % (time.time() * 1000)
        return _answer(status, re.sub(rb'"timestamp":\d+', stamp, body, count=1))


def _answer(status: bytes, body: bytes) -> bytes:
    return (
        b"HTTP/1.1 %b OK\r\ndate: Thu, 01 Jan 2026 00:00:00 GMT\r\ncontent-type: application/json\r\n"
        b"content-length: %d\r\n\r\n%b" % (status, len(body), body)
    )


_REFUSED = _answer(b"401", b'{"success":false,"code":"4010","message":"no","data":null}')


class Server(asyncio.Protocol):
    """Reads requests that say their length: of headers nothing but what it needs."""

    answers: Answers

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.waiting = b""

    def data_received(self, data: bytes) -> None:
        data = self.waiting + data
        while (end := data.find(b"\r\n\r\n")) >= 0:
            head = data[:end]
            size = 0 if head.startswith(b"GET ") else int((LENGTH.search(head) or _NONE)[1])
            if len(data) < end + 4 + size:
                break
            self._answer(head)
            data = data[end + 4 + size :]
        self.waiting = data

    def _answer(self, head: bytes) -> None:
        method, target, _ = head.split(b" ", 2)
        authorization = (AUTHORIZATION.search(head) or _NONE)[1]
        answer = self.answers.to(method, target, authorization, follows=b"\r\nx-as-recorded:" not in head)
        self.transport.write(answer)  # type: ignore[attr-defined]


async def main(visit: str, port: str) -> None:
    Server.answers = Answers(Path(visit))
    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", int(port), backlog=1024)
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    try:
        import uvloop

        uvloop.install()
    except ImportError:
        pass
    asyncio.run(main(*sys.argv[1:3]))
