"""The checks of ``conformance.checks.access.without_token``."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from conformance.checks.access.sign_in import PROTECTED
from conformance.checks.access.without_token import PRELOGIN, UNMARKED
from conformance.spec.endpoints import COUNTRIES, PROFILE, PROFILE_UPDATE
from conformance.tests.proof import Bound, Proof, Reading
from conformance.tests.traffic import NO_TOKEN, account, answer, refusal, verdict_on
from conformance.traffic.exchange import Exchange
from conformance.verdicts.findings import Verdict


def bare(key: str, code: str = "ACCESS.TOKEN_MISSING", status: int = 401, **more: str | None) -> Exchange:
    headers: Mapping[str, str | None] = {
        **NO_TOKEN,
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    return refusal(key, code, status, headers=headers)


def slash_behind(exchange: Exchange) -> Exchange:
    request = exchange.request
    return replace(exchange, request=replace(request, url=f"{request.url}/"))


PROOFS = [
    Proof("AUTHN-023", bare(PROFILE_UPDATE), bare(PROFILE_UPDATE, "VALIDATION.INVALID_PARAMETER", status=400))
]

MISMATCHES = [
    bare(key, code, status)
    for key in (PROFILE, COUNTRIES)
    for code in ("ACCESS.PORTAL_MISMATCH", "PORTAL_MISMATCH", "INGRESS_REFUSED")
    for status in (401, 403, 404)
]
OTHER_REASONS: list[dict[str, str | None]] = [
    {"Authorization": "Bearer x"},
    {"Cookie": "session=1"},
    {"X-API-Key": "key"},
    {"X-Client-Hash": None},
]
BOUNDS = [
    Bound(
        "a request that may be refused for another reason is not judged",
        "AUTHN-001 AUTHN-002",
        lawful=[refusal(PROFILE, "X", 403, headers={**NO_TOKEN, **other}) for other in OTHER_REASONS],
    ),
    Bound(
        "what was held back says nothing of tokens",
        "AUTHN-001 AUTHN-002",
        lawful=[bare(PROFILE, "RATE", 429), bare(PROFILE, "X", 503), bare(PROFILE, "4030", 403)],
    ),
    Bound(
        "a language that is refused says nothing of tokens, and 406 for none does",
        "AUTHN-001 AUTHN-002",
        lawful=[bare(PROFILE, "X", 406, Accept_Language="vi")],
        wrong=[bare(PROFILE, "X", 406)],
    ),
    Bound(
        "a slash behind the path may make it an address that the portal does not have",
        "AUTHN-001 AUTHN-002",
        lawful=[slash_behind(bare(PROFILE, "NOT_FOUND", status)) for status in (308, 404)],
        wrong=[slash_behind(bare(PROFILE, "X", 200))],
    ),
    Bound("a portal mismatch says nothing of tokens", "AUTHN-001 AUTHN-002 AUTHN-004", lawful=MISMATCHES),
    Bound(
        "a source that never records the authorization shows no missing token",
        "",
        lawful=[answer(PROFILE, account(), headers=NO_TOKEN, lacks=("authorization",))],
    ),
    *(
        Bound("every protected endpoint is held to 401", "AUTHN-001", wrong=[bare(key, status=400)])
        for key in PROTECTED
    ),
    *(
        Bound("a prelogin endpoint that wants a token is found", "AUTHN-005", wrong=[bare(key)])
        for key in PRELOGIN
    ),
]
READ = [
    Reading("missing-token-code", bare(PROFILE, code), [code]) for code in ("4010", "ACCESS.TOKEN_MISSING")
]


def test_an_endpoint_that_is_not_marked_is_only_implied_to_want_a_token() -> None:
    verdicts = {key: verdict_on("AUTHN-004", [bare(key, status=400)]) for key in UNMARKED}

    assert set(verdicts.values()) == {Verdict.WARN}, verdicts
