"""A server that answers as a portal was recorded to, with ids and tokens of its own.

.venv/bin/python benchmarks/stub_portal.py VISIT.jsonl PORT
"""

from __future__ import annotations

import itertools
import json
import re
import secrets
import socket
import sys
import time
from pathlib import Path

import uvicorn
from starlette.types import Receive, Scope, Send

UUID = re.compile(rb"([0-9a-f]{8})(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})")
INITIATE, COMPLETE = (b"/web/v1/system/auth/login/initiate", b"/web/v1/system/auth/login/complete")
REFUSED = (401, b'{"success":false,"code":"4010","message":"no","data":null}')


def other_ids(text: bytes) -> bytes:
    """Every id turned into another; twice gives the first again."""
    return UUID.sub(lambda match: match[1][::-1] + match[2], text)


def _key(method: str, target: bytes) -> tuple[str, bytes]:
    """What names an answer: times in a query move with the clock."""
    return method, re.sub(rb"startTime=[^&]+", b"", target)


class Stub:
    """An ASGI application. A client that does not follow sends ids and tokens as recorded."""

    def __init__(self, visit: Path) -> None:
        self.answers: dict[tuple[str, bytes], tuple[int, bytes]] = {}
        for line in visit.read_text().splitlines():
            request, response = (json.loads(line)[name] for name in ("request", "response"))
            body = json.dumps(response["body"], separators=(",", ":"), ensure_ascii=False).encode()
            target = "/" + request["url"].split("/", 3)[3]
            self.answers[_key(request["method"], target.encode())] = response["status"], other_ids(body)
        self.tokens: set[bytes] = set()
        self.numbers = itertools.count()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass
        target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
        status, body = self._answer(scope["method"], target, dict(scope["headers"]))
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _answer(self, method: str, target: bytes, headers: dict[bytes, bytes]) -> tuple[int, bytes]:
        follows = b"x-as-recorded" not in headers
        status, body = self.answers.get(_key(method, other_ids(target) if follows else target), REFUSED)
        if follows and b"/auth/" in target:
            body = self._signed_in(target, body)
        elif follows and headers.get(b"authorization") not in self.tokens:
            return REFUSED
        return status, re.sub(rb'"timestamp":\d+', b'"timestamp":%d' % (time.time() * 1000), body, count=1)

    def _signed_in(self, target: bytes, body: bytes) -> bytes:
        """A sign-in's answer with a new login session id, or new tokens."""
        if target == INITIATE:
            return re.sub(
                rb'"sessionId":"[^"]+"', b'"sessionId":"live-session-%d"' % next(self.numbers), body
            )
        if target == COMPLETE:
            token, refresh = (secrets.token_urlsafe(32).encode() for _ in range(2))
            self.tokens.add(b"Bearer " + token)
            body = re.sub(rb'"accessToken":"[^"]+"', b'"accessToken":"%s"' % token, body)
            body = re.sub(rb'"refreshToken":"[^"]+"', b'"refreshToken":"%s"' % refresh, body)
        return body


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", int(sys.argv[2])), backlog=1024) as listening:
        print("ready", flush=True)
        config = uvicorn.Config(Stub(Path(sys.argv[1])), lifespan="off", log_level="warning", backlog=1024)
        uvicorn.Server(config).run(sockets=[listening])
