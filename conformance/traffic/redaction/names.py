"""Which names say that their value is a secret, in any style of writing."""

from __future__ import annotations

import re
from functools import lru_cache

from conformance.traffic.redaction.headers import DESCRIBED_HEADERS, HARMLESS_BEGINNINGS, TRACING

STRONG = {
    "token": "token",
    "secret": "secret",
    "password": "password",
    "passwd": "password",
    "passcode": "code",
    "passphrase": "password",
    "challenge": "challenge",
    "credential": "secret",
    "otp": "code",
    "totp": "code",
    "pwd": "password",
    "pw": "password",
    "passwort": "password",
    "mnemonic": "secret",
    "signature": "secret",
    "sig": "secret",
    "hmac": "secret",
    "jwt": "token",
    "bearer": "token",
    "authorization": "token",
    "csrf": "token",
    "xsrf": "token",
    "captcha": "challenge",
}
"""Words in a name that make its value a secret, with the kind of secret."""

STRONG_TOGETHER = {
    "key": frozenset(
        ["api", "access", "private", "signing", "encryption", "shared", "master", "recovery", "vault", "auth"]
    ),
    "phrase": frozenset(["recovery", "seed", "secret", "backup", "pass"]),
}
"""Words that make a name's value a secret beside one of these, with the kind of the first."""

WEAK = {"code": "code", "pin": "code", "key": "key", "auth": "token", "pass": "password"}
"""Words that do so where the value looks like a code or a key: codes name states and countries as well."""

META = frozenset(
    [
        "id",
        "ids",
        "type",
        "types",
        "at",
        "on",
        "in",
        "expires",
        "expiry",
        "expired",
        "expiration",
        "ttl",
        "lifetime",
        "length",
        "count",
        "total",
        "remaining",
        "policy",
        "required",
        "enabled",
        "disabled",
        "allowed",
        "valid",
        "active",
        "status",
        "state",
        "name",
        "hint",
        "url",
        "uri",
        "field",
        "format",
        "version",
        "size",
        "limit",
        "min",
        "max",
        "created",
        "updated",
        "changed",
        "used",
        "sent",
        "method",
        "methods",
        "attempts",
        "label",
        "description",
        "window",
    ]
)
"""Last words of names that say something about a secret, and hold none."""

PUBLIC = frozenset(
    {"public", "pub", "wrapped", "enc", "encrypted", "error", "country", "language", "currency"}
)

_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


@lru_cache(maxsize=8192)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in any style: camelCase, snake_case, kebab-case, or run together."""
    return tuple(word.lower() for word in _WORDS.findall(name))


@lru_cache(maxsize=8192)
def kind_of_name(name: str) -> tuple[str, bool] | None:
    """The kind of secret that a name speaks of, and whether any value under it is one; None where none."""
    words = words_of(name)
    if not words or words[-1] in META or not PUBLIC.isdisjoint(words):
        return None
    strong = _strong_kind(words)
    if strong is not None:
        return strong, True
    weak = (
        kind
        for word, kind in WEAK.items()
        if any(part == word or part.endswith((word, f"{word}s")) for part in words)
    )
    return next(((kind, False) for kind in weak), None)


def _strong_kind(words: tuple[str, ...]) -> str | None:
    if words == ("pass",):
        return "password"
    joined, singular = "".join(words), {word.removesuffix("s") for word in words}
    for word, kind in STRONG.items():
        if word in words or word in singular or (len(word) > 4 and word in joined):
            return kind
    together = (kind for kind, others in STRONG_TOGETHER.items() if kind in singular)
    return next((kind for kind in together if not STRONG_TOGETHER[kind].isdisjoint(words)), None)


@lru_cache(maxsize=4096)
def is_harmless(name: str) -> bool:
    """Whether a header of this name holds no secret, or one that is redacted by its place."""
    lower = name.lower()
    if lower in DESCRIBED_HEADERS or lower.startswith(HARMLESS_BEGINNINGS):
        return True
    return kind_of_name(lower) is None and not TRACING.isdisjoint(words_of(lower))
