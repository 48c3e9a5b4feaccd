"""The claims of a token by their kinds: what may be said of a token that is hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from conformance.checks.access.sign_in import claims_of, is_jwt
from conformance.traffic.exchange import Json

_NAME = re.compile(r"[\w.:/-]{1,60}")


def claim_kinds(token: str) -> dict[str, str] | None:
    """The kind of each claim of a JWT by its path, but for names that are no words; None of another token."""
    claims = claims_of(token)
    if claims is None:
        return {} if is_jwt(token) else None
    return dict(_kinds(claims, ""))


def _kinds(claims: Mapping[str, Json], path: str) -> Iterator[tuple[str, str]]:
    for name, value in claims.items():
        if not _NAME.fullmatch(name):
            continue
        if isinstance(value, dict):
            yield from _kinds(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", _kind(value)


def _kind(value: Json) -> str:
    if isinstance(value, str):
        return "email" if "@" in value else "text" if " " in value else "word"
    if isinstance(value, list):
        return "list"
    return "nothing" if value is None else "flag" if isinstance(value, bool) else "number"
