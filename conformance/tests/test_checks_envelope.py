"""The checks of ``conformance.checks.envelope``."""

from __future__ import annotations

import pytest
from msgspec import structs

from conformance.checks.envelope import is_mask
from conformance.spec.endpoints import (
    CHANNEL_UPDATE,
    LOGIN_COMPLETE,
    LOGIN_INITIATE,
    ROLES,
    SECURE_SESSION,
    TOKEN_REFRESH,
    TRANSFER_ORDERS,
)
from conformance.tests.proof import Proof
from conformance.tests.traffic import (
    ABSENT_STAMP,
    answer,
    completed,
    contradicted_by,
    envelope,
    observed,
    refusal,
    role,
)
from conformance.traffic.exchange import ABSENT, Exchange, Json

PENDING = "ACCOUNT_PENDING_APPROVAL"


def success(**fields: Json) -> Exchange:
    return answer(ROLES, body=envelope(data=[], **fields))


def asked_in(language: str, message: str) -> Exchange:
    return answer(ROLES, body=envelope(data=[], message=message), headers={"Accept-Language": language})


def error(code: str = "RESOURCE.NOT_FOUND", status: int = 404, **fields: Json) -> Exchange:
    return answer(ROLES, body=envelope(code, **fields), status=status)


def page_of_a_proxy(status: int, label: str = "text/html") -> Exchange:
    return answer(ROLES, body={"length": 6}, status=status, form="not-json", answered={"Content-Type": label})


OVERLOADED = refusal(LOGIN_INITIATE, "E-17", 503, answered={"Retry-After": "30"})
RATE_OF_A_GATEWAY = answer(ROLES, body={"error": "too many requests"}, status=429)


PROOFS = [
    Proof(
        "ENV-001",
        [success(), *map(page_of_a_proxy, (502, 429, 520, 403))],
        page_of_a_proxy(403, "text/plain"),
    ),
    Proof("ENV-002", [success(), RATE_OF_A_GATEWAY], success(success="true")),
    Proof("ENV-003", [success(), error("NEW.CODE", 418, success=False)], error(success=True, status=200)),
    Proof("ENV-004", success(), success(code=2000)),
    Proof("ENV-005", [success(), error("OTHER")], success(code="200", success=True)),
    Proof("ENV-006", success(message=""), success(message=None)),
    Proof("ENV-007", success(message="SUCCESS"), success(message="OK")),
    Proof("ENV-020", asked_in("vi", "SUCCESS"), asked_in("vi", "Thành công")),
    Proof("ENV-008", [error(data=ABSENT), error(PENDING, data={"a": 1})], error(data={})),
    Proof("ENV-009", [success(), success(version=None)], success(version=2)),
    Proof(
        "ENV-010", [success(timestamp=1.9e12), success(**ABSENT_STAMP)], success(timestamp="1900000000000")
    ),
    Proof("ENV-011", success(timestamp=1_000_000_000_000), success(timestamp=1_900_000_000)),
    Proof("ENV-014", error(), answer(ROLES, [], status=400)),
    Proof(
        "ENV-015",
        answer(ROLES, [], answered={"Content-Type": "application/problem+JSON"}),
        answer(ROLES, [], answered={"Content-Type": "text/html"}),
    ),
    Proof(
        "ENV-018",
        [error(), page_of_a_proxy(503), refusal(LOGIN_INITIATE, "RATE.SLOW_DOWN", 503), OVERLOADED],
        error("INTERNAL", 500),
    ),
    Proof(
        "ENV-019",
        [
            answer(LOGIN_COMPLETE, completed(), sent={"sessionId": "a", "code": "123456"}),
            answer(CHANNEL_UPDATE, {"password": "******"}, sent={"emailConfig": {"password": "******"}}),
        ],
        refusal(LOGIN_COMPLETE, "AUTH.MFA_CODE_INVALID", 400, message="123456", sent={"code": "123456"}),
    ),
    Proof(
        "VERSION-001",
        [
            success(),
            success(**ABSENT_STAMP),
            answer(TRANSFER_ORDERS, body=envelope(data={}, version="1.3.0")),
        ],
        success(version="2.1.0"),
    ),
    Proof(
        "VERSION-002",
        answer(SECURE_SESSION, body=envelope(data={}, version="1.3.0")),
        answer(SECURE_SESSION, body=envelope(data={}, version="2.0.0")),
    ),
]


@pytest.mark.parametrize(
    "answered",
    [
        refusal(LOGIN_INITIATE, "RATE.SLOW_DOWN", 500),
        refusal(LOGIN_INITIATE, "E-17", 500, answered={"Retry-After": "30"}),
        refusal(LOGIN_INITIATE, "SERVICE_UNAVAILABLE", 503),
        refusal(ROLES, "RATE.SLOW_DOWN", 503),
        refusal(ROLES, "E-17", 503, answered={"Retry-After": "30"}),
    ],
)
def test_a_server_error_is_one_unless_it_is_an_overload_of_a_stated_rate(answered: Exchange) -> None:
    assert "ENV-018" in contradicted_by(answered)


def test_an_overload_may_be_of_a_rate_where_its_headers_are_not_on_record() -> None:
    whole = refusal(LOGIN_INITIATE, "E-17", 503)
    assert whole.response is not None
    bare = structs.replace(whole, response=structs.replace(whole.response, headers=[], lacks=("*",)))

    assert "ENV-018" not in contradicted_by(bare)


def test_what_did_not_come_through_the_ingress_is_not_held_to_the_envelope() -> None:
    bare = answer(ROLES, body={"error": "no"}, status=403, headers={"X-PORTAL-ACCESS-CODE": None})
    assert not contradicted_by(bare)


def test_a_secret_within_a_settings_object_is_not_echoed() -> None:
    echoed = answer(
        CHANNEL_UPDATE, {"password": "open-sesame"}, sent={"emailConfig": {"password": "open-sesame"}}
    )
    assert "ENV-019" in contradicted_by(echoed)


def test_a_refresh_token_that_stays_is_no_echo() -> None:
    refresh = TOKEN_REFRESH
    kept = answer(refresh, completed(refreshToken="refresh-1"), sent={"refreshToken": "refresh-1"})
    assert not contradicted_by(kept)


@pytest.mark.parametrize(
    "topic, exchange, value",
    [
        ("envelope-version", success(version=ABSENT), "absent"),
        ("envelope-timestamp", success(), "present"),
        ("success-status", answer(ROLES, [], status=201), 201),
        ("null-data", error(data=ABSENT), "left out"),
        (
            "message-language",
            refusal(ROLES, "X", 400, message="错误", headers={"Accept-Language": "zh"}),
            "translated",
        ),
        ("bot-challenge-endpoints", refusal(ROLES, "4030", 403), ROLES),
    ],
)
def test_what_is_open_is_read(topic: str, exchange: Exchange, value: Json) -> None:
    assert observed(topic, exchange) == [value]


@pytest.mark.parametrize("text", ["******", "ab***yz", "••••", "xxxxxxxx", "####"])
def test_a_mask_is_known_as_one(text: str) -> None:
    assert is_mask(text)


@pytest.mark.parametrize("text", ["", "secret", "a*b*c", "xx", "extra"])
def test_a_password_is_no_mask(text: str) -> None:
    assert not is_mask(text)


def test_a_listing_that_is_all_right_contradicts_nothing() -> None:
    assert not contradicted_by(answer(ROLES, [role()]))
