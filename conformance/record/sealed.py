"""What a secure channel hides, for one who holds its keys: wrapped keys and encrypted bodies, in any form.

The specification leaves the padding, the cipher's mode and the order of a payload's parts open; they are
found by trying, which authenticated encryption makes safe.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.padding import PKCS7

from conformance.traffic.exchange import ABSENT, Json

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
