"""Encryption of the secure channel: AES keys wrapped with RSA, and bodies sealed with them."""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes, padding, serialization
from cryptography.hazmat.primitives.asymmetric import padding as rsa_padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey, RSAPublicNumbers
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from conformance.traffic.exchange import Json

VERSION = 2
TAG = 16


@dataclass(frozen=True)
class Scheme:
    """How bodies are sealed. ``payload`` is the order of its parts before base64."""

    aes_mode: str = "gcm"
    payload: str = "iv+ciphertext+tag"

    @property
    def parts(self) -> list[str]:
        return [part for part in self.payload.split("+") if part != "tag" or self.aes_mode == "gcm"]

    @property
    def iv_length(self) -> int:
        return 12 if self.aes_mode == "gcm" else 16


def seal(plain: bytes, key: bytes, scheme: Scheme) -> str:
    """The base64 payload of a plaintext."""
    iv = os.urandom(scheme.iv_length)
    if scheme.aes_mode == "gcm":
        sealed = AESGCM(key).encrypt(iv, plain, None)
        parts = {"iv": iv, "ciphertext": sealed[:-TAG], "tag": sealed[-TAG:]}
    else:
        padder = padding.PKCS7(128).padder()
        encryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor()
        padded = padder.update(plain) + padder.finalize()
        parts = {"iv": iv, "ciphertext": encryptor.update(padded) + encryptor.finalize()}
    return base64.b64encode(b"".join(parts[part] for part in scheme.parts)).decode()


def unseal(payload: str, key: bytes, scheme: Scheme) -> bytes:
    """The plaintext of a base64 payload. Raises ValueError where it cannot be opened."""
    try:
        return decrypted(base64.b64decode(payload, validate=True), key, scheme)
    except (InvalidTag, binascii.Error, ValueError) as problem:
        raise ValueError(
            f"the encrypted body cannot be decrypted: {problem or 'the tag does not fit'}"
        ) from None


def decrypted(sealed: bytes, key: bytes, scheme: Scheme) -> bytes:
    """The plaintext of the bytes of a payload. Raises InvalidTag, ValueError."""
    parts = _split(sealed, scheme)
    if scheme.aes_mode == "gcm":
        return AESGCM(key).decrypt(parts["iv"], parts["ciphertext"] + parts["tag"], None)
    decryptor = Cipher(algorithms.AES(key), modes.CBC(parts["iv"])).decryptor()
    unpadder = padding.PKCS7(128).unpadder()
    padded = decryptor.update(parts["ciphertext"]) + decryptor.finalize()
    return unpadder.update(padded) + unpadder.finalize()


def _split(sealed: bytes, scheme: Scheme) -> dict[str, bytes]:
    lengths = {"iv": scheme.iv_length, "tag": TAG}
    rest = len(sealed) - sum(lengths[part] for part in scheme.parts if part != "ciphertext")
    if rest < 0:
        raise ValueError("it is too short")
    parts: dict[str, bytes] = {}
    for part in scheme.parts:
        length = lengths.get(part, rest)
        parts[part], sealed = sealed[:length], sealed[length:]
    return parts


def wrap(key: bytes, public: RSAPublicKey, *, rsa: str, mgf1: str) -> str:
    """An AES key encrypted with an RSA key, in base64."""
    return base64.b64encode(public.encrypt(key, padding_of(rsa, mgf1))).decode()


PADDINGS = (("oaep-sha256", "sha256"), ("oaep-sha256", "sha1"), ("oaep-sha1", "sha1"), ("pkcs1v15", "sha256"))
"""The paddings of wrapped keys. PKCS #1 v1.5 last: a library may give random bytes for what is not padded so,
instead of an error."""


def padding_of(rsa: str, mgf1: str) -> rsa_padding.AsymmetricPadding:
    """The padding of a wrapped key: PKCS #1 v1.5, or OAEP with these digests."""
    if rsa == "pkcs1v15":
        return rsa_padding.PKCS1v15()
    digests: Mapping[str, type[hashes.HashAlgorithm]] = {"sha256": hashes.SHA256, "sha1": hashes.SHA1}
    label = digests[rsa.removeprefix("oaep-")]()
    return rsa_padding.OAEP(mgf=rsa_padding.MGF1(digests[mgf1]()), algorithm=label, label=None)


@dataclass(frozen=True)
class FoundKey:
    """A public key with its place and encoding in the answer."""

    id: str
    id_field: str
    public: RSAPublicKey
    field: str
    format: str


ID_FIELDS = ("keyId", "kid", "id", "key_id", "keyID", "bizId")
KEY_FIELDS = ("publicKey", "public_key", "key", "jwk", "publicKeyJwk", "rsaPublicKey", "pem", "publicKeyPem")


MOST_PLACES = 500
"""Places of an answer of public-key that are looked at."""


def find_key(data: Json, *, id_field: str, key_field: str) -> FoundKey | None:
    """The RSA key in the answer of public-key, looked for under the usual names and then under all (N2)."""
    places = _places(data)
    usual = dict.fromkeys(name for name in (key_field, *KEY_FIELDS) if name in places)
    for field in dict.fromkeys((*usual, *places)):
        read = read_key(places[field])
        id = None if read is None else _id_in(places, id_field, beside=field)
        if read is not None and id is not None:
            return FoundKey(str(places[id]), id, read[0], field, read[1])
    return None


def find_id(data: Json, id_field: str) -> str | None:
    """The path within an answer of public-key at which the id of a key stands: where ``id_field`` says, be it
    a path or a name, else under a usual name."""
    return _id_in(_places(data), id_field)


def _id_in(places: Mapping[str, Json], id_field: str, *, beside: str = "") -> str | None:
    """Of several within lists or objects that which stands nearest to the key."""
    ids = [
        path
        for path, value in places.items()
        if isinstance(value, str | int) and not isinstance(value, bool) and value != ""
    ]
    names = (id_field, *ID_FIELDS)
    at_the_top = [name for name in names[1:] if name in ids]
    within = [path for name in names for path in ids if path.endswith(f".{name}")]
    around = beside.rpartition(".")[0]
    within.sort(key=lambda path: (not path.startswith(beside), not path.startswith(around)))
    named = [path for path in within if path.endswith(f".{id_field}")]
    exact = [id_field] if id_field in ids else []
    return next(iter((*exact, *named, *at_the_top, *within)), None)


def _places(data: Json) -> dict[str, Json]:
    """What stands in an answer, the outer before the inner, by paths such as ``publicKey.kid`` and
    ``keys[0].kid``; the whole of it last, as it may be a key itself."""
    places: dict[str, Json] = {}
    left: deque[tuple[str, Json]] = deque([("", data)])
    while left and len(places) < MOST_PLACES:
        path, value = left.popleft()
        if path:
            places[path] = value
        if isinstance(value, dict):
            left.extend((f"{path}.{name}" if path else name, member) for name, member in value.items())
        elif isinstance(value, list):
            left.extend((f"{path}[{number}]", member) for number, member in enumerate(value))
    return {**places, "": data}


def read_key(value: Json) -> tuple[RSAPublicKey, str] | None:
    """An RSA public key in PEM, base64 of DER, or JWK, with the name of its format; None where it is none."""
    if isinstance(value, dict):
        return _from_jwk(value)
    if not isinstance(value, str):
        return None
    try:
        if value.lstrip().startswith("{"):
            return _from_jwk(json.loads(value))
        if "BEGIN" in value:
            key, format = serialization.load_pem_public_key(value.replace("\\n", "\n").encode()), "pem"
        else:
            der = base64.b64decode("".join(value.split()), validate=True)
            key, format = serialization.load_der_public_key(der), "spki-base64"
    except (ValueError, RecursionError):
        return None
    return (key, format) if isinstance(key, RSAPublicKey) else None


def _from_jwk(jwk: Any) -> tuple[RSAPublicKey, str] | None:
    try:
        numbers = RSAPublicNumbers(_number(jwk["e"]), _number(jwk["n"]))
        return numbers.public_key(), "jwk"
    except (KeyError, TypeError, ValueError):
        return None


def _number(text: str) -> int:
    return int.from_bytes(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), "big")


def sealed_payload(body: Json) -> str | None:
    """The ciphertext of an encrypted body: an object with ``v`` and ``p``, or the JSON text of one."""
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return None
    if isinstance(body, dict) and isinstance(body.get("p"), str) and "v" in body:
        payload: str = body["p"]
        return payload
    return None
