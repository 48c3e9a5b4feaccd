"""The man in the middle of a secure channel: offers a key of its own, and so sees the plaintext."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import msgspec
from cryptography.hazmat.primitives.asymmetric import rsa

from conformance.record.sealed import (
    KEY_SIZES,
    WrappedKey,
    new_key,
    opened,
    unwrapped,
    with_another_key,
    wrapped_again,
)
from conformance.spec.endpoints import PUBLIC_KEY, SECURE_SESSION
from conformance.traffic.capture.bodies import body_of
from conformance.traffic.exchange import ABSENT, Json, Plain, Request, Response
from conformance.traffic.redaction.redact import Secrets

SESSION_HEADER = "x-secure-channel-session-id"
REMEMBERED = 10_000
KEY_FIELDS = ("encReqKey", "encRespKey")

ClientKeys: TypeAlias = tuple[WrappedKey | None, WrappedKey | None]
"""The keys of a session for requests and for responses; None where one could not be opened."""

NO_KEYS: ClientKeys = (None, None)


@dataclass(frozen=True, slots=True)
class Keys:
    request: bytes
    response: bytes


@dataclass
class OpenChannel:
    """Keeps the portal's public key and the AES keys of the sessions that it saw made."""

    secrets: Secrets
    private: rsa.RSAPrivateKey = field(default_factory=new_key, repr=False)
    portals: rsa.RSAPublicKey | None = None
    sessions: dict[str, Keys] = field(default_factory=dict, repr=False)

    def answer_to_client(self, operation: str, body: Json) -> Json:
        """What the client is told instead of ``body``; ABSENT where it is told the same."""
        if operation != PUBLIC_KEY:
            return ABSENT
        changed, key = with_another_key(body, self.private.public_key())
        if key is None:
            return ABSENT
        self.portals = key
        return changed

    def request_to_portal(self, operation: str, content: bytes) -> tuple[bytes, ClientKeys]:
        """The body that the portal gets: the client's keys wrapped for it, each as it is, and unchanged what
        holds none."""
        if operation != SECURE_SESSION or self.portals is None:
            return content, NO_KEYS
        body, _ = body_of(content)
        if not isinstance(body, dict):
            return content, NO_KEYS
        keys = {name: unwrapped(body.get(name), self.private) for name in KEY_FIELDS}
        rewrapped = {name: self._wrapped_again(key) for name, key in keys.items() if key is not None}
        changed = {name: text for name, text in rewrapped.items() if text is not None}
        if not changed:
            return content, NO_KEYS
        return msgspec.json.encode({**body, **changed}), (keys[KEY_FIELDS[0]], keys[KEY_FIELDS[1]])

    def _wrapped_again(self, key: WrappedKey) -> str | None:
        """A client's key, wrapped for the portal; None where that has no room for it."""
        if len(key.key) >= min(KEY_SIZES):
            self.secrets.add(key.key, "aes-key")
        assert self.portals is not None
        try:
            return wrapped_again(key, self.portals)
        except ValueError:
            return None

    def remember(self, keys: ClientKeys, answer: Response) -> None:
        """The session that a portal made of two keys, so that what goes under its id can be opened."""
        data = answer.json.get("data") if isinstance(answer.json, dict) else None
        session = data.get("sessionId") if isinstance(data, dict) else None
        if keys == NO_KEYS or not isinstance(session, str):
            return
        request, response = (b"" if key is None else key.key for key in keys)
        self.sessions[session] = Keys(request, response)
        if len(self.sessions) > REMEMBERED:
            del self.sessions[next(iter(self.sessions))]

    def plain(self, request: Request, response: Response | None) -> Plain | None:
        """The decrypted bodies of an exchange under a known session; None where nothing is encrypted."""
        keys = self.sessions.get(request.header(SESSION_HEADER) or "")
        if keys is None:
            return None
        sent = opened(request.json, keys.request)
        answered = ABSENT if response is None else _answer(response.json, keys.response)
        return None if sent is ABSENT and answered is ABSENT else Plain(request=sent, response=answered)


def _answer(body: Json, key: bytes) -> Json:
    """The plaintext of an encrypted answer, or of one whose ``data`` is encrypted; else ABSENT."""
    whole = opened(body, key)
    if whole is not ABSENT or not isinstance(body, dict):
        return whole
    data = opened(body.get("data"), key)
    return ABSENT if data is ABSENT else {**body, "data": data}
