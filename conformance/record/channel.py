"""The man in the middle of a secure channel: offers a key of its own, and so reads wrapped keys and bodies.

The specification leaves the padding, the cipher's mode and the order of a payload's parts open; they are
found by trying, which authenticated encryption makes safe.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import permutations
from typing import TypeAlias

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.padding import PKCS7

from conformance.spec.endpoints import PUBLIC_KEY, SECURE_SESSION
from conformance.traffic.capture.bodies import body_of
from conformance.traffic.exchange import ABSENT, Json, Plain, Request, Response
from conformance.traffic.redaction.redact import Secrets

KEY_BITS = 2048
KEY_SIZES = (16, 24, 32)
"""Bytes of an AES key."""

Padding = padding.AsymmetricPadding
PADDINGS: tuple[Callable[[], Padding], ...] = (
    lambda: padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None),
    lambda: padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA256(), None),
    lambda: padding.OAEP(padding.MGF1(hashes.SHA1()), hashes.SHA1(), None),
    padding.PKCS1v15,
)
"""PKCS #1 v1.5 last: a library may give random bytes for what is not padded so, instead of an error."""


@dataclass(frozen=True, slots=True)
class WrappedKey:
    """An AES key as a client sent it; ``raw`` is what was under the RSA encryption, ``key`` the key in it."""

    raw: bytes
    key: bytes
    padding: Padding


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=KEY_BITS)


def unwrapped(wrapped: Json, private: rsa.RSAPrivateKey) -> WrappedKey | None:
    """What a base64 text holds that was encrypted for ``private``, of whatever length; None where it was not.

    What PKCS #1 v1.5 gives is a key only where it is as long as one: it may be random bytes.
    """
    octets = _octets(wrapped)
    for make in PADDINGS if octets else ():
        scheme = make()
        try:
            raw = private.decrypt(octets, scheme)
        except ValueError:
            continue
        inner = b"" if len(raw) in KEY_SIZES else _octets(raw.decode("latin-1"))
        key = inner if len(inner) in KEY_SIZES else raw
        if len(key) in KEY_SIZES or make is not padding.PKCS1v15:
            return WrappedKey(raw, key, scheme)
    return None


def wrapped_again(key: WrappedKey, public: rsa.RSAPublicKey) -> str:
    """The same key, wrapped in the same way for somebody else, in base64. ValueError: it is too long."""
    return base64.b64encode(public.encrypt(key.raw, key.padding)).decode()


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
    for plain in _readings(payload, key):
        try:
            return msgspec.json.decode(plain)
        except (ValueError, RecursionError):
            continue
    return ABSENT


def _readings(payload: bytes, key: bytes) -> Iterator[bytes]:
    """What a payload may say: GCM with its parts in every order first, then CBC."""
    for order in permutations(("iv", "ciphertext", "tag")) if len(payload) >= 28 else ():
        parts = _parts(payload, order)
        try:
            yield AESGCM(key).decrypt(parts["iv"], parts["ciphertext"] + parts["tag"], None)
        except InvalidTag:
            continue
    if len(payload) >= 32 and len(payload) % 16 == 0:
        for iv, ciphertext in ((payload[:16], payload[16:]), (payload[-16:], payload[:-16])):
            yield from _cbc(key, iv, ciphertext)


def _parts(payload: bytes, order: tuple[str, ...]) -> dict[str, bytes]:
    sizes = {"iv": 12, "tag": 16, "ciphertext": len(payload) - 28}
    parts: dict[str, bytes] = {}
    for name in order:
        parts[name], payload = payload[: sizes[name]], payload[sizes[name] :]
    return parts


def _cbc(key: bytes, iv: bytes, ciphertext: bytes) -> Iterator[bytes]:
    decryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).decryptor()
    unpadder = PKCS7(128).unpadder()
    try:
        yield unpadder.update(decryptor.update(ciphertext) + decryptor.finalize()) + unpadder.finalize()
    except ValueError:
        return


def with_another_key(value: Json, mine: rsa.RSAPublicKey) -> tuple[Json, rsa.RSAPublicKey | None]:
    """An answer with ``mine`` in place of the RSA public key somewhere in it, in the same form; and that key.

    The shape of the answer is open (N2): PEM, base64 of the SubjectPublicKeyInfo, or JWK are known by
    what they are, wherever they stand.
    """
    if isinstance(value, str):
        key = _public_key(value)
        return (value, None) if key is None else (_in_form_of(value, mine), key)
    if isinstance(value, dict) and value.get("kty") == "RSA" and isinstance(value.get("n"), str):
        numbers = mine.public_numbers()
        return {**value, "n": _base64url(numbers.n), "e": _base64url(numbers.e)}, _jwk(value)
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for at, inner in pairs:
            replaced, key = with_another_key(inner, mine)
            if key is not None:
                changed = value.copy()
                changed[at] = replaced
                return changed, key
    return value, None


def _public_key(text: str) -> rsa.RSAPublicKey | None:
    if len(text) < 200:
        return None
    try:
        if "-----BEGIN" in text:
            key = serialization.load_pem_public_key(text.encode())
        else:
            key = serialization.load_der_public_key(_octets(text))
    except (ValueError, TypeError):
        return None
    return key if isinstance(key, rsa.RSAPublicKey) else None


def _in_form_of(text: str, key: rsa.RSAPublicKey) -> str:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    if "-----BEGIN" in text:
        return key.public_bytes(serialization.Encoding.PEM, form).decode()
    return base64.b64encode(key.public_bytes(serialization.Encoding.DER, form)).decode()


def _jwk(value: dict[str, Json]) -> rsa.RSAPublicKey | None:
    try:
        modulus, exponent = (int.from_bytes(_octets(value[name])) for name in ("n", "e"))
        return rsa.RSAPublicNumbers(exponent, modulus).public_key()
    except (KeyError, ValueError):
        return None


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
        if len(self.sessions) > REMEMBERED_CHANNELS:
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
