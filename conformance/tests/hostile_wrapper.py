"""An ASGI wrapper that makes any portal hostile: its texts stand in every string that no client needs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle
from typing import Any

from conformance.tests.hostile_portal import TEXTS

NEEDED = {
    "sessionId", "accessToken", "refreshToken", "keyId", "publicKey", "code", "bizId", "expiresAt", "body",
    "text", "subject", "secret", "roleBizId", "workspaceBizId", "institutionBizId", "version",
}  # fmt: skip
"""What a client needs to go on: without a session nobody would see the rest."""

LONG_TEXT = "<b>AAAA</b>" * 100_000
"""Of a length that a run still reads and keeps whole."""


class Hostile:
    """Rewrites the answers of ``app``; the first of each path gets a string of a megabyte as well."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.texts: Iterator[str] = cycle(text.encode("utf-16", "replace").decode("utf-16") for text in TEXTS)
        self.paths: set[str] = set()
        """The paths that have answered with a long text."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/web/"):
            await self.app(scope, receive, send)
            return
        started: dict[str, Any] = {}
        body = bytearray()

        async def rewrite(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                started.update(message)
                return
            body.extend(message.get("body", b""))
            if not message.get("more_body"):
                content = self.rewritten(bytes(body), scope["path"])
                kept = [
                    (name, value) for name, value in started["headers"] if name.lower() != b"content-length"
                ]
                started["headers"] = [
                    *kept,
                    (b"content-length", str(len(content)).encode()),
                    (b"x-note", b"<script>window.struck=1</script>"),
                ]
                await send(started)
                await send({"type": "http.response.body", "body": content})

        await self.app(scope, receive, rewrite)

    def rewritten(self, body: bytes, path: str) -> bytes:
        try:
            value = json.loads(body)
        except ValueError:
            return next(self.texts).encode() + b"\xff\xfe"
        changed = self._changed(value)
        if isinstance(changed, dict):
            changed[next(self.texts)] = next(self.texts)
            if path not in self.paths and changed.get("success"):
                self.paths.add(path)
                changed["message"] = LONG_TEXT
        return json.dumps(changed).encode()

    def _changed(self, value: Any, name: str = "") -> Any:
        if isinstance(value, dict):
            return {key: self._changed(item, key) for key, item in value.items()}
        if isinstance(value, list):
            return [self._changed(item, name) for item in value]
        if isinstance(value, str) and name not in NEEDED:
            return next(self.texts)
        return value
