"""Access tokens that no portal may accept, made from one that it issued."""

from __future__ import annotations

import base64
import binascii
import json

from conformance.cases import Json

NONE_AT_ALL = "not-a-token"


def changed_claims(token: str) -> str:
    """A JWT with another claim under the old signature; of an opaque token another letter."""
    _, claims, signature = _parts(token) or ({}, None, "")
    if claims is None:
        return _other_letter(token, len(token) // 2)
    return ".".join((token.split(".")[0], _encoded({**claims, "suite": True}), signature))


def changed_signature(token: str) -> str:
    """A JWT with another letter within its signature; of an opaque token another letter near its end."""
    start = token.rfind(".") + 1 if _parts(token) else len(token) // 2
    return _other_letter(token, start + (len(token) - start) // 3)


def unsigned(token: str, algorithm: str = "none") -> str:
    """The same claims without a signature; for an opaque token claims of our own."""
    header, claims, _ = _parts(token) or ({}, {"sub": "suite", "iat": 1700000000, "exp": 4100000000}, "")
    return f"{_encoded({**header, 'typ': 'JWT', 'alg': algorithm})}.{_encoded(claims)}."


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


def _other_letter(text: str, place: int) -> str:
    return text[:place] + ("B" if text[place] == "A" else "A") + text[place + 1 :]
