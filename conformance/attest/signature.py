"""``manifest.dsse.json``: the manifest in a DSSE envelope, signed by an Ed25519 key."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path

import msgspec
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from conformance.errors import UsageError
from conformance.report.formats.manifest import ENVELOPE, MANIFEST
from conformance.report.model.evidence import UNREADABLE
from conformance.report.model.visible import json_text
from conformance.traffic.documents import user_text
from conformance.traffic.replacing import write_report

PAYLOAD = "application/vnd.in-toto+json"


class Signature(msgspec.Struct):
    keyid: str
    sig: str


class Envelope(msgspec.Struct, rename="camel"):
    payload: str
    payload_type: str
    signatures: list[Signature]


def sign(folder: Path, key: Path) -> None:
    """Writes the signed envelope of a folder's manifest. UsageError: the key is none."""
    payload, private = (folder / MANIFEST).read_bytes(), _private_key(key)
    signature = Signature(_id_of(private.public_key()), b64encode(private.sign(_signed(payload))).decode())
    envelope = Envelope(b64encode(payload).decode(), PAYLOAD, [signature])
    write_report(folder / ENVELOPE, json_text(envelope))


def signature_problem(folder: Path, key: Path) -> str:
    """Why a folder's envelope proves nothing by this public key, as a sentence; empty where the key signed
    the manifest. UsageError: the key is none."""
    public = _public_key(key)
    try:
        envelope = msgspec.json.decode((folder / ENVELOPE).read_bytes(), type=Envelope)
        payload = b64decode(envelope.payload, validate=True)
        signatures = [b64decode(each.sig, validate=True) for each in envelope.signatures]
    except FileNotFoundError:
        return f"{ENVELOPE}: there is no such file: nobody signed the manifest."
    except UNREADABLE as wrong:
        return f"{ENVELOPE}: this is no envelope ({wrong})."
    if envelope.payload_type != PAYLOAD or payload != (folder / MANIFEST).read_bytes():
        return f"{ENVELOPE}: it signs another manifest."
    if not any(_holds(public, signature, payload) for signature in signatures):
        return f"{ENVELOPE}: no signature in it is of this key."
    return ""


def _holds(key: Ed25519PublicKey, signature: bytes, payload: bytes) -> bool:
    try:
        key.verify(signature, _signed(payload))
    except InvalidSignature:
        return False
    return True


def _signed(payload: bytes) -> bytes:
    """The bytes that a signature is of: DSSE's pre-authentication encoding."""
    return b"DSSEv1 %d %b %d %b" % (len(PAYLOAD), PAYLOAD.encode(), len(payload), payload)


def _id_of(key: Ed25519PublicKey) -> str:
    return sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def _private_key(path: Path) -> Ed25519PrivateKey:
    key = _loaded(path, partial(load_pem_private_key, password=None))
    if not isinstance(key, Ed25519PrivateKey):
        raise UsageError(
            f"{path}: this is no Ed25519 private key in PEM, without a password."
            " `openssl genpkey -algorithm ed25519` makes one."
        )
    return key


def _public_key(path: Path) -> Ed25519PublicKey:
    key = _loaded(path, load_pem_public_key)
    if not isinstance(key, Ed25519PublicKey):
        raise UsageError(
            f"{path}: this is no Ed25519 public key in PEM. `openssl pkey -in KEY.pem -pubout` prints that"
            " of a private one."
        )
    return key


def _loaded(path: Path, load: Callable[[bytes], object]) -> object:
    """The key of a file; None where it has none. UsageError: it cannot be read."""
    text = user_text(path, error=UsageError, missing="Check the path.")
    with suppress(ValueError, TypeError, UnsupportedAlgorithm):
        return load(text.encode())
    return None
