"""Encrypted bodies that are opened although they are none (chapter "Secure channel")."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from starlette.types import ASGIApp, Receive, Scope, Send

from reference_impl.asked import read_body
from reference_impl.changes import Change, wrapped
from reference_impl.faults.fault import GONE, fault, reported
from reference_impl.faults.operations import CHANGE, PUBLIC_KEY
from reference_impl.portal import Portal, SecureSession
from reference_impl.wrappers import replayed

HEADER = b"x-secure-channel-session-id"
IV, TAG = 12, 16

Sealed = dict[str, Any]
Turning = Callable[[Sealed, SecureSession], Sealed]


@dataclass
class Turned:
    """What is asked of a password change reaches the portal as its own clients would have sent it."""

    app: ASGIApp
    turn: Turning

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        octets = await read_body(receive, 1 << 20) or b""
        session = _session(scope)
        sealed = _opened(octets)
        if session is not None and sealed is not None:
            octets = json.dumps(json.dumps(self.turn(sealed, session))).encode()
        await self.app(scope, replayed(octets), send)


@dataclass
class NewestChannel:
    """A body that names no session is of the newest one."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        names = {name for name, _ in scope.get("headers", [])}
        if HEADER not in names:
            portal: Portal = scope["app"].state.portal
            newest = next(reversed(portal.secure_sessions), "")
            scope = {**scope, "headers": [*scope["headers"], (HEADER, newest.encode())]}
        await self.app(scope, receive, send)


def _session(scope: Scope) -> SecureSession | None:
    portal: Portal = scope["app"].state.portal
    return portal.secure_sessions.get(dict(scope["headers"]).get(HEADER, b"").decode())


def _opened(octets: bytes) -> Sealed | None:
    try:
        sealed = json.loads(json.loads(octets))
    except (ValueError, TypeError):
        return None
    return sealed if isinstance(sealed, dict) and isinstance(sealed.get("p"), str) else None


def _with_version(sealed: Sealed, session: SecureSession) -> Sealed:
    return {"v": 2} | sealed


def _of_any_version(sealed: Sealed, session: SecureSession) -> Sealed:
    return sealed | ({"v": 2} if "v" in sealed else {})


def _sealed_anew(sealed: Sealed, session: SecureSession) -> Sealed:
    """The tag is not looked at."""
    try:
        octets = base64.b64decode(sealed["p"], validate=True)
    except ValueError:
        return sealed
    iv, ciphertext = octets[:IV], octets[IV:-TAG]
    counter = modes.CTR(iv + (2).to_bytes(4, "big"))
    decryptor = Cipher(algorithms.AES(session.request_key), counter).decryptor()
    plain = decryptor.update(ciphertext) + decryptor.finalize()
    anew = iv + AESGCM(session.request_key).encrypt(iv, plain, None)
    return sealed | {"p": base64.b64encode(anew).decode()}


def _turned(turn: Turning) -> Change:
    return wrapped(lambda app: Turned(app, turn), CHANGE)


FAULTS = (
    fault(
        "SECURE-003",
        "the-public-key-has-no-id",
        reported(PUBLIC_KEY, "", keyId=GONE),
        also="SECURE-004 SECURE-014",
    ),
    fault("SECURE-028", "a-body-without-a-session-is-of-the-newest", wrapped(NewestChannel, CHANGE)),
    fault("SECURE-029", "a-body-without-a-version-is-opened", _turned(_with_version)),
    fault("SECURE-030", "a-body-of-any-version-is-opened", _turned(_of_any_version)),
    fault("SECURE-031", "the-tag-is-not-looked-at", _turned(_sealed_anew)),
)
