"""The checks of ``conformance.checks.access.without_token``."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.checks.access.sign_in import PROTECTED
from conformance.checks.access.without_token import PRELOGIN, UNMARKED
from conformance.spec.endpoints import COUNTRIES, PASSWORD_FORGOT, PROFILE, PROFILE_UPDATE
from conformance.tests.proof import Proof
from conformance.tests.traffic import (
    NO_TOKEN,
    account,
    answer,
    contradicted_by,
    observed,
    refusal,
    verdict_on,
)
from conformance.traffic.exchange import Exchange
from conformance.verdicts.findings import Verdict


def bare(key: str, code: str = "ACCESS.TOKEN_MISSING", status: int = 401, **more: str | None) -> Exchange:
    headers: Mapping[str, str | None] = {
        **NO_TOKEN,
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    return refusal(key, code, status, headers=headers)


PROOFS = [
    Proof("AUTHN-001", bare(PROFILE, status=401), bare(PROFILE, status=403)),
    Proof("AUTHN-002", bare(PROFILE, "4010"), bare(PROFILE, "UNAUTHORIZED")),
    Proof(
        "AUTHN-023", bare(PROFILE_UPDATE), bare(PROFILE_UPDATE, "VALIDATION.INVALID_PARAMETER", status=400)
    ),
    Proof("AUTHN-004", bare(COUNTRIES, "ANY"), bare(COUNTRIES, status=200)),
    Proof(
        "AUTHN-005",
        refusal(PASSWORD_FORGOT, "4000", 400, headers=NO_TOKEN),
        refusal(PASSWORD_FORGOT, "ACCESS.TOKEN_MISSING", 401, headers=NO_TOKEN),
    ),
]


def test_every_protected_endpoint_is_held_to_401() -> None:
    assert [key for key in PROTECTED if "AUTHN-001" not in contradicted_by(bare(key, status=400))] == []


def test_an_endpoint_that_is_not_marked_is_only_implied_to_want_a_token() -> None:
    verdicts = {key: verdict_on("AUTHN-004", [bare(key, status=400)]) for key in UNMARKED}

    assert set(verdicts.values()) == {Verdict.WARN}, verdicts


def test_a_prelogin_endpoint_that_wants_a_token_is_found() -> None:
    assert [key for key in PRELOGIN if "AUTHN-005" not in contradicted_by(bare(key))] == []


@pytest.mark.parametrize(
    "header, value",
    [("Authorization", "Bearer x"), ("Cookie", "session=1"), ("X-API-Key", "key"), ("X-Client-Hash", None)],
)
def test_a_request_that_may_be_refused_for_another_reason_is_not_judged(
    header: str, value: str | None
) -> None:
    exchange = refusal(PROFILE, "X", 403, headers={**NO_TOKEN, header: value})
    assert not contradicted_by(exchange) & {"AUTHN-001", "AUTHN-002"}


@pytest.mark.parametrize("status, code", [(429, "RATE"), (503, "X"), (403, "4030")])
def test_what_was_held_back_says_nothing_of_tokens(status: int, code: str) -> None:
    assert not contradicted_by(bare(PROFILE, code, status)) & {"AUTHN-001", "AUTHN-002"}


@pytest.mark.parametrize("status", [401, 403, 404])
@pytest.mark.parametrize("code", ["ACCESS.PORTAL_MISMATCH", "PORTAL_MISMATCH", "INGRESS_REFUSED"])
def test_a_portal_mismatch_says_nothing_of_tokens(code: str, status: int) -> None:
    judged = {"AUTHN-001", "AUTHN-002", "AUTHN-004"}
    assert not contradicted_by(bare(PROFILE, code, status)) & judged
    assert not contradicted_by(bare(COUNTRIES, code, status)) & judged


def test_a_source_that_never_records_the_authorization_shows_no_missing_token() -> None:
    lacking = answer(PROFILE, account(), headers=NO_TOKEN, lacks=("authorization",))
    assert not contradicted_by(lacking)


@pytest.mark.parametrize("code", ["4010", "ACCESS.TOKEN_MISSING"])
def test_the_code_of_a_missing_token_is_read(code: str) -> None:
    assert observed("missing-token-code", bare(PROFILE, code)) == [code]
