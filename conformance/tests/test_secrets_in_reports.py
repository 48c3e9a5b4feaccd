"""No secret of a run stands in any file that it writes, in any encoding."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from conformance.tests.deployment import deployed

PLACES = {
    "password", "oldPassword", "newPassword", "code", "accessToken", "refreshToken", "turnstileToken",
    "secret",
}  # fmt: skip


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
        """Enumeration codes and made-up words are no secrets; what could be one is long, or six digits."""
        if re.fullmatch(r"\d{6}", secret) or (len(secret) >= 16 and re.search(r"\d", secret)):
            self.heard.add(secret)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[set[str], Path]:
    """A whole run: the secrets that passed, and the folder it wrote."""
    folder = tmp_path_factory.mktemp("secrets")
    listener = Listener()
    with deployed(folder, wrap=listener.wrap) as portal:
        run = portal.run("--impact", "disruptive")
        held = portal.running.portal
        seeded = portal.running.seeded.sign_ins.values()
        listener.heard |= {held.access_code, held.bot_token}
        listener.heard |= {one.password for one in seeded} | {
            one.otp_secret for one in seeded if one.otp_secret
        }
        listener.heard |= {
            base64.b64encode(session.request_key).decode() for session in held.secure_sessions.values()
        }
    assert run.code == 0, run.said
    (run.out / "terminal.txt").write_text(run.said, encoding="utf-8")
    return listener.heard, run.out


def test_secrets_of_every_kind_passed(run: tuple[set[str], Path]) -> None:
    heard, _ = run

    assert len([secret for secret in heard if re.fullmatch(r"\d{6}", secret)]) > 3
    assert len([secret for secret in heard if secret.count(".") == 2]) > 3
    assert len(heard) > 40


def test_none_stands_in_any_file_in_any_encoding(run: tuple[set[str], Path]) -> None:
    heard, folder = run
    files = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.is_file()}

    found = [
        (name, form[:24])
        for secret in sorted(heard)
        for form in forms(secret)
        for name, text in files.items()
        if stands_in(form, text)
    ]

    assert found == []


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
    if form.isdigit():
        return re.search(rf"(?<![\w.:-]){form}(?![\w.:-])", text) is not None
    return form in text
