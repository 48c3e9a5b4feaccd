"""``manifest.dsse.json``: the manifest in a DSSE envelope, signed by an Ed25519 key."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

from conformance.errors import UsageError
from conformance.report.formats.manifest import ENVELOPE, MANIFEST
from conformance.report.model.evidence import UNREADABLE
from conformance.report.model.visible import json_text
from conformance.traffic.documents import user_text
from conformance.traffic.replacing import write_report

PAYLOAD = "application/vnd.in-toto+json"
WRONG_KEY = (
    "this is no Ed25519 {} key in PEM, without a password. `openssl genpkey -algorithm ed25519` makes one."
)


class Envelope(msgspec.Struct, rename="camel"):
    payload: str
    payload_type: str
    signatures: list[dict[str, str]]


def sign(folder: Path, key: Path) -> None:
    """Writes the signed envelope of a folder's manifest. UsageError: the key is none."""
    private = _loaded(key, partial(load_pem_private_key, password=None))
    if not isinstance(private, Ed25519PrivateKey):
        raise UsageError(f"{key}: {WRONG_KEY.format('private')}")
    payload = (folder / MANIFEST).read_bytes()
    signature = {"sig": b64encode(private.sign(_signed(payload))).decode()}
    write_report(folder / ENVELOPE, json_text(Envelope(b64encode(payload).decode(), PAYLOAD, [signature])))


def signature_problem(folder: Path, key: Path) -> str:
    """Why a public key did not sign a folder's manifest, as a sentence; empty where it did. UsageError."""
    public = _loaded(key, load_pem_public_key)
    if not isinstance(public, Ed25519PublicKey):
        raise UsageError(f"{key}: {WRONG_KEY.format('public')}")
    try:
        envelope = msgspec.json.decode((folder / ENVELOPE).read_bytes(), type=Envelope)
        payload = b64decode(envelope.payload, validate=True)
        signatures = [b64decode(each.get("sig", ""), validate=True) for each in envelope.signatures]
    except FileNotFoundError:
        return f"{ENVELOPE}: there is no such file: nobody signed the manifest."
    except UNREADABLE as wrong:
        return f"{ENVELOPE}: this is no envelope ({wrong})."
    if envelope.payload_type != PAYLOAD or payload != (folder / MANIFEST).read_bytes():
        return f"{ENVELOPE}: it signs another manifest."
    for signature in signatures:
        with suppress(InvalidSignature):
            public.verify(signature, _signed(payload))
            return ""
    return f"{ENVELOPE}: no signature in it is of this key."


def _signed(payload: bytes) -> bytes:
    """The bytes that a signature is of: DSSE's pre-authentication encoding."""
    return b"DSSEv1 %d %b %d %b" % (len(PAYLOAD), PAYLOAD.encode(), len(payload), payload)


def _loaded(path: Path, load: Callable[[bytes], object]) -> object:
    """The key of a file; None where it has none. UsageError: it cannot be read."""
    text = user_text(path, error=UsageError, missing="Check the path.")
    with suppress(ValueError, TypeError, UnsupportedAlgorithm):
        return load(text.encode())
    return None
