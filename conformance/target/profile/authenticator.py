"""The secret of an authenticator: base32, or an otpauth URI that also says how its codes are made."""

from __future__ import annotations

import base64
import re
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

STEP = 30
"""Seconds that a code of an authenticator is shown (RFC 6238)."""

SCHEME = "otpauth://"
ALGORITHMS = ("SHA1", "SHA256", "SHA512")
LENGTHS = ("6", "7", "8")
_BASE32 = re.compile(r"[A-Z2-7]+=*")


class CodeMaking(NamedTuple):
    """How the codes of an authenticator are made."""

    key: bytes
    digest: str
    digits: int


def normal_secret(text: str) -> str | None:
    """The secret without blanks and dashes; of a URI also unusual parameters. None for an invalid secret, and
    for another code period."""
    if not text.lower().startswith(SCHEME):
        plain = re.sub(r"[\s-]", "", text).upper()
        return plain if _BASE32.fullmatch(plain) else None
    parameters = {name: values[0] for name, values in parse_qs(urlsplit(text).query).items()}
    plain = re.sub(r"[\s-]", "", parameters.get("secret", "")).upper()
    algorithm = parameters.get("algorithm", "SHA1").upper().replace("-", "")
    digits = parameters.get("digits", "6")
    lasts = parameters.get("period", str(STEP)) == str(STEP)
    is_known = lasts and algorithm in ALGORITHMS and digits in LENGTHS
    if not is_known or not _BASE32.fullmatch(plain):
        return None
    if (algorithm, digits) == ("SHA1", "6"):
        return plain
    return f"{SCHEME}totp/?secret={plain}&algorithm={algorithm}&digits={digits}"


def making_of(secret: str) -> CodeMaking:
    """Of a secret of any length, as ``normal_secret`` gives it."""
    parameters = {}
    if secret.startswith(SCHEME):
        parameters = {name: values[0] for name, values in parse_qs(urlsplit(secret).query).items()}
    plain = parameters.get("secret", secret)
    key = base64.b32decode(plain + "=" * (-len(plain) % 8), casefold=True)
    return CodeMaking(key, parameters.get("algorithm", "SHA1").lower(), int(parameters.get("digits", "6")))
