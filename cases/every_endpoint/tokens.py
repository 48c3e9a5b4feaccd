"""Access tokens that no portal may accept, made from one that it issued."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable

from conformance.cases import Json, Portal

NONE_AT_ALL = "not-a-token"

Forgery = tuple[str, str]
"""A forged token, and how it differs from the one that it was made from."""


def forged(portal: Portal, token: str, forge: Callable[[str], Forgery], *, kind: str = "token") -> str:
    """A token made from one that the portal issued, and registered as such."""
    forgery, by = forge(token)
    return portal.secrets.altered(forgery, kind, of=token, by=by)


def changed_claims(token: str) -> Forgery:
    """A JWT with another claim under the old signature; of an opaque token another letter."""
    _, claims, signature = _parts(token) or ({}, None, "")
    if claims is None:
        return _other_letter(token, len(token) // 2)
    claimed = _encoded({**claims, "suite": True})
    return ".".join((token.split(".")[0], claimed, signature)), "another claim under the same signature"


def changed_signature(token: str) -> Forgery:
    """A JWT with another letter within its signature; of an opaque token another letter near its end."""
    start = token.rfind(".") + 1 if _parts(token) else len(token) // 2
    changed, by = _other_letter(token, start + (len(token) - start) // 3)
    return changed, "another signature" if _parts(token) else by


def unsigned(token: str, algorithm: str = "none") -> Forgery:
    """The same claims without a signature; for an opaque token claims of our own."""
    header, claims, _ = _parts(token) or ({}, {"sub": "suite", "iat": 1700000000, "exp": 4100000000}, "")
    made = f"{_encoded({**header, 'typ': 'JWT', 'alg': algorithm})}.{_encoded(claims)}."
    return made, f"unsigned, with the algorithm {algorithm}"


def _parts(token: str) -> tuple[dict[str, Json], dict[str, Json], str] | None:
    """Header, claims and signature of a JWT; None where the token is opaque."""
    pieces = token.split(".")
    if len(pieces) != 3:
        return None
    header, claims = _decoded(pieces[0]), _decoded(pieces[1])
    return None if header is None or claims is None else (header, claims, pieces[2])


def _decoded(piece: str) -> dict[str, Json] | None:
    try:
        value = json.loads(base64.urlsafe_b64decode(piece + "=" * (-len(piece) % 4)))
    except (ValueError, binascii.Error):
        return None
    return value if isinstance(value, dict) else None


def _encoded(value: Json) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def _other_letter(text: str, place: int) -> Forgery:
    letter = "B" if text[place] == "A" else "A"
    return text[:place] + letter + text[place + 1 :], f"{letter} as its letter {place + 1}"
