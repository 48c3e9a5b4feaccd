"""Secrets as they pass between a client and a portal, and whether any stands in a file."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reference_impl import serve as reference

PLACES = {
    "password", "oldPassword", "newPassword", "code", "accessToken", "refreshToken", "turnstileToken",
    "secret", "codes",
}  # fmt: skip

MADE_UP = re.compile(r"Wrong-[0-9a-f]{16}!")
"""A password that the suite makes up as a wrong one: nobody's secret."""


class Listener:
    """Hears every secret that passes between the suite and the portal."""

    def __init__(self) -> None:
        self.heard: set[str] = set()

    def wrap(self, app: ASGIApp) -> ASGIApp:
        async def listening(scope: Scope, receive: Receive, send: Send) -> None:
            for name, value in scope.get("headers", []):
                if name == b"authorization" and value.lower().startswith(b"bearer "):
                    self._keep(value.decode("latin-1").partition(" ")[2])

            async def hear() -> Message:
                message = await receive()
                self._read(message.get("body", b""))
                return message

            async def tell(message: Message) -> None:
                self._read(message.get("body", b""))
                await send(message)

            await app(scope, hear, tell)

        return listening

    def know(self, running: reference.Running) -> None:
        """Adds what the portal holds: passwords, TOTP seeds, keys of its channels, its own tokens."""
        held, seeded = running.portal, running.seeded.sign_ins.values()
        self.heard |= {held.access_code, held.bot_token, held.other_access_code, held.api_key}
        self.heard |= {account.password for account in seeded}
        self.heard |= {account.otp_secret for account in seeded if account.otp_secret}
        for session in held.secure_sessions.values():
            self.heard.add(base64.b64encode(session.request_key).decode())
            self.heard.add(session.request_key.hex())

    def _read(self, body: bytes) -> None:
        try:
            self._walk(json.loads(body))
        except ValueError:
            return

    def _walk(self, value: Any, name: str = "") -> None:
        if isinstance(value, dict):
            if value.get("success") in (True, False) and isinstance(value.get("code"), str):
                value = value.get("data")
            for key, inner in value.items() if isinstance(value, dict) else ():
                self._walk(inner, key)
        elif isinstance(value, list):
            for inner in value:
                self._walk(inner, name)
        elif isinstance(value, str) and name in PLACES:
            self._keep(value)

    def _keep(self, secret: str) -> None:
        """Enumeration codes and made-up words are no secrets; what could be one is long, or digits."""
        if MADE_UP.fullmatch(secret):
            return
        if re.fullmatch(r"\d{6}|\d{4}-\d{4}", secret) or (len(secret) >= 16 and re.search(r"\d", secret)):
            self.heard.add(secret)


def standing(heard: Iterable[str], *files: Path) -> list[tuple[str, str]]:
    """The files in which a secret stands in some encoding, with the beginning of what stands there."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in files}
    return [
        (name, form[:24])
        for secret in sorted(heard)
        for form in forms(secret)
        for name, text in texts.items()
        if stands_in(form, text)
    ]


def forms(secret: str) -> set[str]:
    """A secret raw and as it may be written; short ones raw only, as they stand everywhere by chance."""
    octets = secret.encode()
    if len(secret) < 12:
        return {secret}
    return {
        secret,
        quote(secret, safe=""),
        json.dumps(secret)[1:-1],
        octets.hex(),
        octets.hex().upper(),
        base64.b64encode(octets).decode().rstrip("="),
        base64.urlsafe_b64encode(octets).decode().rstrip("="),
    }


def stands_in(form: str, text: str) -> bool:
    if form not in text:
        return False
    if form.replace("-", "").isdigit():
        return re.search(rf"(?<![\w.:-]){form}(?![\w.:-])", text) is not None
    return True
