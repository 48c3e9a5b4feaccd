"""What an access token tells of its account, by what the profile shows of it (chapter "Authentication")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from conformance.checks.access.sign_in import (
    OF_THE_ISSUER,
    OF_THE_TOKEN,
    PROFILE_CLAIMS,
    SUBJECT,
    claims_of,
    is_jwt,
)
from conformance.checks.registry import check, successes
from conformance.spec.endpoints import LOGIN_COMPLETE, PROFILE, TOKEN_REFRESH
from conformance.traffic.exchange import Exchange, Json, dig
from conformance.traffic.hidden import CLAIMS
from conformance.traffic.values import placed_texts
from conformance.verdicts.comparisons import holds
from conformance.verdicts.findings import Comparison

OF_NO_ACCOUNT = OF_THE_ISSUER | OF_THE_TOKEN | {SUBJECT}
"""Claims that name the token, its issuer or its subject: what stands there is an id."""

NAMES_SOMETHING_ELSE = re.compile(r"role|realm|group|portal|tenant|workspace|institution|client|scope", re.I)
"""Claims under which a name may be alike the account's by chance."""

LEAST_DIGITS = 7
"""Digits from which a phone number is no other number by chance."""


@check(
    "TOKEN-018",
    on=successes(LOGIN_COMPLETE, TOKEN_REFRESH)
    .at_its_moment()
    .where(lambda exchange: isinstance(_kinds_of(exchange), dict)),
)
def no_hidden_claim_is_profile_data(exchange: Exchange) -> Iterator[Comparison]:
    """By the kinds of the claims, where the token itself is hidden: a name of several words, or an address,
    under the name of profile data. What may repeat the subject, or be an id with a realm, tells nothing."""
    kinds = _kinds_of(exchange)
    named = sorted(
        claim
        for claim, kind in kinds.items()
        if claim in PROFILE_CLAIMS and kind in ("email", "text") and kind != kinds.get(SUBJECT)
    )
    if named or not (PROFILE_CLAIMS & kinds.keys() or "email" in kinds.values()):
        expected = "no claim with profile data"
        yield holds(exchange, "data.accessToken", not named, expected, actual={"claims": named})


def _kinds_of(exchange: Exchange) -> Json:
    """What the recorder says of the claims of a token that it put out of sight."""
    token = exchange.at("data.accessToken")
    return dig(exchange.hidden, [token, CLAIMS]) if exchange.hidden and isinstance(token, str) else None


@check("TOKEN-028", on=successes(PROFILE).at_its_moment())
def no_claim_repeats_the_profile(exchange: Exchange) -> Iterator[Comparison]:
    """A one-word name may equal an unrelated claim; a name of several words may not."""
    token = exchange.request.bearer
    texts = None if token is None else _texts_of(token)
    if texts is None:
        return
    name, phone = exchange.at("data.accountName"), _digits(exchange.at("data.accountPhone"))
    telling = sorted(
        {claim for claim, text in texts if _repeats(claim, text, name) or _is_phone(text, phone)}
    )
    expected = "no claim with the account's name or phone"
    yield holds(exchange, "headers.authorization", not telling, expected, actual={"claims": telling})


@lru_cache(maxsize=256)
def _texts_of(token: str) -> tuple[tuple[str, str], ...] | None:
    """The texts in the claims of a token that may speak of its account, with the claims' names; None where it
    shows no claims."""
    claims = claims_of(token)
    if claims is None:
        return None
    return tuple(placed_texts({name: claims[name] for name in claims.keys() - OF_NO_ACCOUNT}))


def _repeats(claim: str, text: str, name: Json) -> bool:
    if not isinstance(name, str) or not name or text != name:
        return False
    return not NAMES_SOMETHING_ELSE.search(claim) and (" " in name or "name" in claim.lower())


def _is_phone(text: str, phone: str) -> bool:
    return len(phone) >= LEAST_DIGITS and _digits(text) == phone and not re.search(r"[A-Za-z]", text)


def _digits(text: Json) -> str:
    return re.sub(r"\D", "", text) if isinstance(text, str) else ""


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
