"""The man in the middle of a secure channel: offers a key of its own, and so reads wrapped keys and bodies.

The specification leaves the padding, the cipher's mode and the order of a payload's parts open; they are
found by trying, which authenticated encryption makes safe.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from itertools import permutations
from typing import TypeAlias

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from conformance.spec.endpoints import PUBLIC_KEY, SECURE_SESSION
from conformance.target.portal.channel import opened_answer
from conformance.target.portal.cipher import PADDINGS, Scheme, decrypted, padding_of, read_key, wrap
from conformance.traffic.capture.bodies import body_of
from conformance.traffic.exchange import ABSENT, Json, Plain, Request, Response
from conformance.traffic.redaction.redact import Secrets

KEY_BITS = 2048
KEY_SIZES = (16, 24, 32)
"""Bytes of an AES key."""

SHORTEST_KEY_TEXT = 200
"""Characters of the shortest text that may be an RSA public key."""

SCHEMES = (
    *(Scheme("gcm", "+".join(parts)) for parts in permutations(("iv", "ciphertext", "tag"))),
    Scheme("cbc", "iv+ciphertext"),
    Scheme("cbc", "ciphertext+iv"),
)
"""How a payload may be sealed: GCM first, which tells a wrong guess."""


@dataclass(frozen=True, slots=True)
class WrappedKey:
    """An AES key as a client sent it; ``raw`` is what was under the RSA encryption, ``key`` the key in it.
    ``padding`` and ``mgf1`` name how it was encrypted."""

    raw: bytes
    key: bytes
    padding: str
    mgf1: str


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS)


def unwrapped(wrapped: Json, private: rsa.RSAPrivateKey) -> WrappedKey | None:
    """What a base64 text holds that was encrypted for ``private``, of whatever length; None where it was not.

    What PKCS #1 v1.5 gives is a key only where it is as long as one: it may be random bytes.
    """
    octets = _octets(wrapped)
    for padding, mgf1 in PADDINGS if octets else ():
        try:
            raw = private.decrypt(octets, padding_of(padding, mgf1))
        except ValueError:
            continue
        inner = b"" if len(raw) in KEY_SIZES else _octets(raw.decode("latin-1"))
        key = inner if len(inner) in KEY_SIZES else raw
        if len(key) in KEY_SIZES or padding != "pkcs1v15":
            return WrappedKey(raw, key, padding, mgf1)
    return None


def opened(body: Json, key: bytes) -> Json:
    """The JSON inside an encrypted body; ABSENT where it is none, or the key is none, or another one's."""
    if len(key) not in KEY_SIZES:
        return ABSENT
    if isinstance(body, str):
        try:
            body = msgspec.json.decode(body)
        except (ValueError, RecursionError):
            return ABSENT
    payload = _octets(body.get("p")) if isinstance(body, dict) else b""
    for scheme in SCHEMES if payload else ():
        try:
            return msgspec.json.decode(decrypted(payload, key, scheme))
        except (InvalidTag, ValueError, RecursionError):
            continue
    return ABSENT


def with_another_key(value: Json, mine: rsa.RSAPublicKey) -> tuple[Json, rsa.RSAPublicKey | None]:
    """An answer with ``mine`` in place of the RSA public key somewhere in it, in the same form; and that key.

    The shape of the answer is open (N2): PEM, base64 of the SubjectPublicKeyInfo, or JWK are known by
    what they are, wherever they stand.
    """
    may_be_key = len(value) >= SHORTEST_KEY_TEXT if isinstance(value, str) else isinstance(value, dict)
    read = read_key(value) if may_be_key else None
    if read is not None and (isinstance(value, dict) or read[1] != "jwk"):
        return _in_form_of(value, mine), read[0]
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for at, inner in pairs:
            replaced, key = with_another_key(inner, mine)
            if key is not None:
                changed = value.copy()
                changed[at] = replaced
                return changed, key
    return value, None


def _in_form_of(value: Json, key: rsa.RSAPublicKey) -> Json:
    if isinstance(value, dict):
        numbers = key.public_numbers()
        return {**value, "n": _base64url(numbers.n), "e": _base64url(numbers.e)}
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    if "-----BEGIN" in value:
        return key.public_bytes(serialization.Encoding.PEM, form).decode()
    return base64.b64encode(key.public_bytes(serialization.Encoding.DER, form)).decode()


def _base64url(number: int) -> str:
    octets = number.to_bytes((number.bit_length() + 7) // 8)
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def _octets(text: Json) -> bytes:
    """Base64 of either alphabet, padded or not; empty where it is none."""
    if not isinstance(text, str):
        return b""
    plain = text.strip().replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (ValueError, binascii.Error):
        return b""


SESSION_HEADER = "x-secure-channel-session-id"
REMEMBERED_CHANNELS = 10_000
KEY_FIELDS = ("encReqKey", "encRespKey")

ClientKeys: TypeAlias = tuple[WrappedKey | None, WrappedKey | None]
"""The keys of a session for requests and for responses; None where one could not be opened."""

NO_KEYS: ClientKeys = (None, None)


@dataclass
class OpenChannel:
    """Keeps the portal's public key and the AES keys of the sessions that it saw made."""

    secrets: Secrets
    private: rsa.RSAPrivateKey = field(default_factory=new_key, repr=False)
    portals: rsa.RSAPublicKey | None = None
    sessions: dict[str, tuple[bytes, bytes]] = field(default_factory=dict, repr=False)
    """By session, its keys for requests and for responses."""

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
            return wrap(key.raw, self.portals, rsa=key.padding, mgf1=key.mgf1)
        except ValueError:
            return None

    def remember(self, keys: ClientKeys, answer: Response) -> None:
        """The session that a portal made of two keys, so that what goes under its id can be opened."""
        data = answer.json.get("data") if isinstance(answer.json, dict) else None
        session = data.get("sessionId") if isinstance(data, dict) else None
        if keys == NO_KEYS or not isinstance(session, str):
            return
        request, response = (b"" if key is None else key.key for key in keys)
        self.sessions[session] = request, response
        if len(self.sessions) > REMEMBERED_CHANNELS:
            del self.sessions[next(iter(self.sessions))]

    def plain(self, request: Request, response: Response | None) -> Plain | None:
        """The decrypted bodies of an exchange under a known session; None where nothing is encrypted."""
        keys = self.sessions.get(request.header(SESSION_HEADER) or "")
        if keys is None:
            return None
        sent = opened(request.json, keys[0])
        answered: Json = ABSENT
        if response is not None:
            answered = opened_answer(response.json, lambda body: opened(body, keys[1]))
        return None if sent is ABSENT and answered is ABSENT else Plain(request=sent, response=answered)
