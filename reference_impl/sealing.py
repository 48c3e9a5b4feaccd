"""Encrypted bodies: RSA-wrapped AES-256 keys, and payloads under them (chapter "Secure channel")."""

import base64
from collections.abc import Callable
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.padding import PKCS7

from reference_impl import wire
from reference_impl.choices import Choices

VERSION = 2
_IV = {"gcm": 12, "cbc": 16}
_TAG = {"gcm": 16, "cbc": 0}
_HASHES: dict[str, Callable[[], hashes.HashAlgorithm]] = {"sha1": hashes.SHA1, "sha256": hashes.SHA256}


class Unreadable(ValueError):
    """What was sent is no body, or no key, that this portal can open."""


def public_key(key: rsa.RSAPrivateKey, form: str) -> Any:
    """The public half as ``spki-base64``, ``pem`` or ``jwk``."""
    if form == "jwk":
        numbers = key.public_key().public_numbers()
        return {"kty": "RSA", "n": _base64url(numbers.n), "e": _base64url(numbers.e)}
    encoding = serialization.Encoding.PEM if form == "pem" else serialization.Encoding.DER
    octets = key.public_key().public_bytes(encoding, serialization.PublicFormat.SubjectPublicKeyInfo)
    return octets.decode() if form == "pem" else base64.b64encode(octets).decode()


def unwrap(wrapped: str, key: rsa.RSAPrivateKey, choices: Choices) -> bytes:
    """The AES-256 key inside; raises Unreadable."""
    try:
        plain = key.decrypt(base64.b64decode(wrapped, validate=True), _padding(choices))
        if choices.wrapped_key == "base64":
            plain = base64.b64decode(plain, validate=True)
    except ValueError:
        raise Unreadable("the key cannot be decrypted") from None
    if len(plain) != 32:
        raise Unreadable("not an AES-256 key")
    return plain


def is_sealed(body: Any) -> bool:
    """Whether a body looks like an encrypted one, in either form."""
    return isinstance(body, str) or (isinstance(body, dict) and body.keys() == {"v", "p"})


def open_body(body: Any, key: bytes, choices: Choices) -> Any:
    """The JSON inside an encrypted body; raises Unreadable."""
    payload = _payload(body, choices.encrypted_body)
    try:
        iv, ciphertext, tag = _split(base64.b64decode(payload, validate=True), choices)
        return wire.decoded(_decrypt(key, iv, ciphertext, tag, choices.aes_mode))
    except (ValueError, InvalidTag):
        raise Unreadable("the payload cannot be opened") from None


def seal(plain: bytes, key: bytes, iv: bytes, choices: Choices) -> Any:
    """An encrypted body in the form the portal uses; of ``iv`` as many octets are taken as the mode needs."""
    iv = iv[: _IV[choices.aes_mode]]
    ciphertext, tag = _encrypt(key, iv, plain, choices.aes_mode)
    parts = {"iv": iv, "ciphertext": ciphertext, "tag": tag}
    octets = b"".join(parts[name] for name in choices.payload.split("+") if name in parts)
    sealed = {"v": VERSION, "p": base64.b64encode(octets).decode()}
    return sealed if choices.encrypted_body == "object" else wire.encoded(sealed).decode()


def _payload(body: Any, form: str) -> str:
    if isinstance(body, str) and form != "object":
        body = _json(body)
    elif form == "string":
        raise Unreadable("the body is to be a JSON string")
    version = body.get("v") if isinstance(body, dict) else None
    if version != VERSION or isinstance(version, bool) or not isinstance(body.get("p"), str):
        raise Unreadable("the body is to have v and p")
    payload: str = body["p"]
    return payload


def _json(text: str) -> Any:
    try:
        return wire.decoded(text.encode())
    except ValueError:
        raise Unreadable("the string is not JSON") from None


def _split(octets: bytes, choices: Choices) -> tuple[bytes, bytes, bytes]:
    sizes = {"iv": _IV[choices.aes_mode], "tag": _TAG[choices.aes_mode]}
    order = choices.payload.split("+")
    sizes["ciphertext"] = len(octets) - sum(sizes[name] for name in order if name != "ciphertext")
    if sizes["ciphertext"] < 0:
        raise Unreadable("too short")
    parts = {"tag": b""}
    for name in order:
        parts[name], octets = octets[: sizes[name]], octets[sizes[name] :]
    return parts["iv"], parts["ciphertext"], parts["tag"]


def _decrypt(key: bytes, iv: bytes, ciphertext: bytes, tag: bytes, mode: str) -> bytes:
    if mode == "gcm":
        return AESGCM(key).decrypt(iv, ciphertext + tag, None)
    decryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).decryptor()
    unpadder = PKCS7(128).unpadder()
    padded = decryptor.update(ciphertext) + decryptor.finalize()
    return unpadder.update(padded) + unpadder.finalize()


def _encrypt(key: bytes, iv: bytes, plain: bytes, mode: str) -> tuple[bytes, bytes]:
    if mode == "gcm":
        octets = AESGCM(key).encrypt(iv, plain, None)
        return octets[: -_TAG["gcm"]], octets[-_TAG["gcm"] :]
    padder = PKCS7(128).padder()
    encryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor()
    return encryptor.update(padder.update(plain) + padder.finalize()) + encryptor.finalize(), b""


def _padding(choices: Choices) -> padding.AsymmetricPadding:
    if choices.rsa_padding == "pkcs1v15":
        return padding.PKCS1v15()
    mask, digest = _HASHES[choices.mgf1](), _HASHES[choices.rsa_padding.removeprefix("oaep-")]()
    return padding.OAEP(mgf=padding.MGF1(mask), algorithm=digest, label=None)


def _base64url(number: int) -> str:
    octets = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()
