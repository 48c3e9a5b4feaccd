"""Headers that may be left out, and what becomes of requests without the others."""

from __future__ import annotations

import pytest

from cases.authentication.steps import factor_at_hand, right_code
from cases.premises import answered, authorized, granted, outcome, refusal_text
from conformance.cases import (
    BY_KEY,
    KNOWN_CODES,
    UNFILTERED,
    Account,
    Exchange,
    Portal,
    Steps,
    Untestable,
    Verify,
    chosen_factor,
    is_refused,
    is_success,
    mark,
    op,
)

EDGE = ("CF-Connecting-IP", "Cf-Ray", "cf-ipcountry", "CF-Visitor", "X-Real-IP", "X-Forwarded-For")
PLACES = (op.PROFILE, op.COUNTRIES, op.PUBLIC_KEY)


@mark.requirement("HEADER-005", "HEADER-006")
@pytest.mark.parametrize("key", PLACES)
@pytest.mark.parametrize(
    "requirement_id, header", [("HEADER-005", "Accept-Language"), ("HEADER-006", "Accept")]
)
def test_an_optional_header_may_be_left_out(
    portal: Portal, verify: Verify, admin: Account, key: str, requirement_id: str, header: str
) -> None:
    token = None if BY_KEY[key].is_prelogin else admin.token
    everything = {"Accept-Language": "en", "Accept": "application/json"}
    with_it = granted(portal.call(key, token=token, headers=everything))
    without_it = answered(portal.call(key, token=token, headers={**everything, header: None}))
    verify(requirement_id, is_success(without_it, with_it))


LEFT_OUT = {
    "without-client-hash": ("HEADER-010", ("X-Client-Hash",)),
    "without-request-id": ("HEADER-011", ("X-Request-Id",)),
    "without-forwarded-proto": ("HEADER-012", ("X-Forwarded-Proto",)),
    "without-locale": ("HEADER-013", ("X-LOCALE",)),
    "without-edge-headers": ("HEADER-014", EDGE),
}
OF_THE_EDGE = ("without-forwarded-proto", "without-edge-headers")


@pytest.mark.parametrize("key", PLACES)
@pytest.mark.parametrize(
    "reading",
    [pytest.param(reading, marks=pytest.mark.requirement(row[0])) for reading, row in LEFT_OUT.items()],
)
def test_a_request_without_a_listed_header_is_answered_somehow(
    portal: Portal, verify: Verify, admin: Account, key: str, reading: str
) -> None:
    if reading in OF_THE_EDGE and not portal.profile.portal.edge_headers:
        raise Untestable("an edge proxy sets these headers, so that none can be left out", "environment")
    token = None if BY_KEY[key].is_prelogin else admin.token
    granted(portal.call(key, token=token))

    exchange = answered(portal.call(key, token=token, headers=dict.fromkeys(LEFT_OUT[reading][1])))

    verify.observe(reading, exchange, outcome(exchange))


@mark.requirement("HEADER-017")
def test_a_repeated_request_id_is_answered_somehow(portal: Portal, verify: Verify, admin: Account) -> None:
    name = {"X-Request-Id": portal.unique()}
    granted(portal.call(op.PROFILE, token=admin.token, headers=name))
    repeated = answered(portal.call(op.PROFILE, token=admin.token, headers=name))
    verify.observe("repeated-request-id", repeated, outcome(repeated))


@mark.requirement("HEADER-009")
def test_the_workspace_header_may_be_left_out(portal: Portal, verify: Verify, admin: Account) -> None:
    exchange = authorized(
        portal.call(op.WORKSPACES_CURRENT, token=admin.token, headers={"X-Workspace-Id": None})
    )
    is_own = exchange.code is not None and exchange.code not in KNOWN_CODES - {"GA2031"}
    if not exchange.success and (is_own or (exchange.status == 404 and exchange.code is not None)):
        raise Untestable(f"the account has no current workspace ({refusal_text(exchange)})", "environment")
    verify("HEADER-009", is_success(exchange))


@mark.requirement("HEADER-015")
def test_a_body_may_name_its_charset(portal: Portal, verify: Verify, admin: Account) -> None:
    plain = granted(_accounts(portal, admin, content_type="application/json"))
    labelled = answered(_accounts(portal, admin, content_type="application/json;charset=UTF-8"))
    verify("HEADER-015", is_success(labelled, plain))


@mark.requirement("HEADER-016")
def test_a_body_of_another_content_type_is_answered_somehow(
    portal: Portal, verify: Verify, admin: Account
) -> None:
    exchange = answered(_accounts(portal, admin, content_type="text/plain"))
    verify.observe("wrong-content-type", exchange, outcome(exchange))


def _accounts(portal: Portal, admin: Account, *, content_type: str) -> Exchange:
    body = UNFILTERED[op.ACCOUNTS_QUERY]
    return portal.call(op.ACCOUNTS_QUERY, json=body, token=admin.token, content_type=content_type)


NO_METHOD = 10019999
"""An MFA method that none of the constants names."""


@mark.requirement("HEADER-019", "LOGIN-065")
@mark.sign_ins(1)
def test_another_client_hash_at_the_end_of_a_sign_in_is_answered_somehow(
    portal: Portal, verify: Verify, admin: Account
) -> Steps:
    """The code is right, and so its refusal under no method tells of the method."""
    yield from factor_at_hand(portal, admin)
    session = granted(portal.login.initiate(admin, client_hash="a" * 32))
    method = chosen_factor(session, admin.ready_factors)
    code = yield from right_code(portal, admin, session, method)

    nowhere = answered(portal.login.complete(session, method=NO_METHOD, code=code))
    verify("LOGIN-065", is_refused(nowhere, session, message=f"a code was accepted under method {NO_METHOD}"))
    if nowhere.success:
        raise Untestable("a code completed the login session under no method", "target")

    completed = answered(portal.login.complete(session, method=method, code=code, client_hash="b" * 32))

    verify.observe("client-hash-change", completed, outcome(completed))
