"""Protected endpoints without a token, and with tokens that are none (chapter "Authentication", 2)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial

import pytest

from cases.every_endpoint.test_ended_tokens import READ_BY_TOKEN
from cases.every_endpoint.tokens import (
    NONE_AT_ALL,
    Forgery,
    changed_claims,
    changed_signature,
    forged,
    unsigned,
)
from cases.premises import answered, granted, outcome
from cases.reading import QUERIES, READABLE, ids_where_known, read, some_ids
from conformance.cases import (
    BY_KEY,
    HELD,
    OPERATIONS,
    Account,
    Exchange,
    Operation,
    ParameterSet,
    Portal,
    Untestable,
    Verify,
    equal,
    is_not_of_its_form,
    is_refused,
    judged_in,
    mark,
    may_keep_a_rate,
    offered,
    op,
)

PROTECTED = tuple(row for row in OPERATIONS if not row.is_prelogin)


@pytest.fixture(autouse=True)
def somebody(portal: Portal) -> None:
    """Somebody is signed in: a portal that loses track of its callers may take anyone for them."""
    with suppress(Untestable):
        portal.account("admin").signed_in()


def rows(
    of_jwt: tuple[str, ...], of_unmarked: tuple[str, ...], among: tuple[Operation, ...] = PROTECTED
) -> list[ParameterSet]:
    """Each endpoint, with what it decides and the most that asking it could do."""
    return [
        pytest.param(
            row,
            id=row.key,
            marks=[
                mark.requirement(*(of_jwt if row.auth == "jwt" else of_unmarked)),
                mark.impact(row.impact),
            ],
        )
        for row in among
    ]


def ask(
    portal: Portal, row: Operation, *, token: str | None = None, authorization: str | None = None
) -> Exchange:
    """A change names nothing that exists, so that a portal which lets it pass does no harm; what it does all
    the same stays. A read asks for a record that does: one that there is not is answered by 404 whether or
    not the token is looked at."""
    headers = {"Authorization": authorization} if authorization else None
    ids = ids_where_known(portal, row) if row.impact == "read-only" else some_ids(row)
    answer = answered(read(portal, row, token=token, headers=headers, ids=ids))
    if answer.success and row.impact != "read-only":
        portal.changes.leave(row.key, f"{row.key} accepted a request that it had to refuse")
    return answer


def verify_refusal(verify: Verify, row: Operation, exchange: Exchange, must: str) -> None:
    """Refused is stated for the endpoints marked JWT, and implied for those whose table names nothing."""
    if row.key == op.LOGOUT and exchange.at("data.terminatedSessions") == 0:
        raise Untestable(
            "logout of no session ended none: of it a bearer token is asked, and no more", "target"
        )
    verify(must if row.auth == "jwt" else "AUTHN-013", is_refused(exchange))
    if row.auth == "jwt":
        if not is_not_of_its_form(exchange) and not may_keep_a_rate(exchange):
            verify("AUTHN-009", equal(exchange, "status", 401))
        verify.observe("invalid-token", exchange, outcome(exchange))


def rows_without_a_token() -> list[ParameterSet]:
    """A refusal is what every endpoint can be brought to give: all that its errors show is named."""
    return [
        pytest.param(
            row,
            id=row.key,
            marks=[
                mark.requirement(
                    "AUTHN-003",
                    *(("AUTHN-023",) if row.auth == "jwt" and row.needs_body else ()),
                    *judged_in(row, "error"),
                ),
                mark.impact(row.impact),
            ],
        )
        for row in PROTECTED
    ]


@pytest.mark.parametrize("row", rows_without_a_token())
def test_without_a_token_an_endpoint_does_not_answer(portal: Portal, row: Operation) -> None:
    ask(portal, row)


def names_in_a_query() -> list[ParameterSet]:
    """The usual name of a token in a query at every endpoint that reads, and others at the profile."""
    usual = [(row, "access_token") for row in READ_BY_TOKEN]
    others = [(BY_KEY[op.PROFILE], name) for name in ("token", "accessToken", "authorization")]
    return [
        pytest.param(
            row,
            name,
            id=f"{row.key} {name}",
            marks=mark.requirement("AUTHN-001" if row.auth == "jwt" else "AUTHN-004"),
        )
        for row, name in usual + others
    ]


@pytest.mark.parametrize("row, name", names_in_a_query())
def test_a_token_in_the_query_is_no_bearer_token(
    portal: Portal, verify: Verify, admin: Account, row: Operation, name: str
) -> None:
    """Without the header the caller has no token. Its refusal may speak of the query's form, or be a
    firewall's: with a cookie the request is none of those that are judged as lacking a token and no more."""
    query = {**QUERIES.get(row.key, {}), name: admin.token}
    exchange = answered(read(portal, row, ids=some_ids(row), query=query, headers={"Cookie": "suite=none"}))
    refused = is_refused(exchange, message="a token in the query was accepted")
    if refused is not HELD and read(portal, row, ids=some_ids(row)).success:
        raise Untestable("the endpoint answers without any token", "target")
    verify("AUTHN-001" if row.auth == "jwt" else "AUTHN-004", refused)


NAMES_OF_COOKIES = ("access_token", "accessToken", "token", "Authorization", "jwt")


@mark.requirement("AUTHN-022")
def test_a_token_in_a_cookie_is_no_bearer_token(portal: Portal, verify: Verify, admin: Account) -> None:
    cookies = "; ".join(f"{name}={admin.token}" for name in NAMES_OF_COOKIES)
    exchange = answered(portal.call(op.PROFILE, headers={"Cookie": cookies}))
    verify("AUTHN-022", is_refused(exchange, message="a token in a cookie was accepted"))


NO_TOKEN = ("AUTHN-006", "AUTHN-009", "AUTHN-010", "ERROR-009")


@pytest.mark.parametrize("row", rows(NO_TOKEN, ("AUTHN-013",)))
def test_a_token_that_is_none_is_refused(portal: Portal, verify: Verify, row: Operation) -> None:
    none_at_all = portal.secrets.made_up(NONE_AT_ALL)
    verify_refusal(verify, row, ask(portal, row, token=none_at_all), "AUTHN-006")


FORGED = ("AUTHN-007", "AUTHN-008", "AUTHN-009", "AUTHN-010")
HARMLESS = tuple(row for row in PROTECTED if row.impact == "read-only" or row.needs_body)
"""What takes no body acts on the caller at once: there a forged token that is accepted would end sessions, or
switch factors and whitelists, of an account that is not to be changed."""


@pytest.mark.parametrize("row", rows(FORGED, ("AUTHN-013",), HARMLESS))
def test_a_forged_token_is_refused(portal: Portal, verify: Verify, admin: Account, row: Operation) -> None:
    forge = changed_claims if row.number % 2 else changed_signature
    for way, must in ((forge, "AUTHN-007"), (unsigned, "AUTHN-008")):
        verify_refusal(verify, row, ask(portal, row, token=forged(portal, admin.token, way)), must)


@mark.requirement("AUTHN-007", "AUTHN-009", "AUTHN-010")
@pytest.mark.parametrize("forge", [changed_claims, changed_signature])
def test_every_part_of_a_token_is_guarded(
    portal: Portal, verify: Verify, admin: Account, forge: Callable[[str], Forgery]
) -> None:
    row = BY_KEY[op.PROFILE]
    verify_refusal(verify, row, ask(portal, row, token=forged(portal, admin.token, forge)), "AUTHN-007")


@mark.requirement("AUTHN-008", "AUTHN-009", "AUTHN-010")
@pytest.mark.parametrize("algorithm", ["None", "NONE", "nOnE"])
def test_no_spelling_of_none_is_an_algorithm(
    portal: Portal, verify: Verify, admin: Account, algorithm: str
) -> None:
    row, token = BY_KEY[op.PROFILE], forged(portal, admin.token, partial(unsigned, algorithm=algorithm))
    verify_refusal(verify, row, ask(portal, row, token=token), "AUTHN-008")


@mark.requirement("AUTHN-006", "AUTHN-009", "AUTHN-010")
@pytest.mark.parametrize("authorization", ["Basic c3VpdGU6c3VpdGU=", "Bearer", "Bearer null", "not-a-token"])
def test_an_authorization_without_a_token_is_refused(
    portal: Portal, verify: Verify, authorization: str
) -> None:
    verify_refusal(
        verify, BY_KEY[op.PROFILE], ask(portal, BY_KEY[op.PROFILE], authorization=authorization), "AUTHN-006"
    )


@mark.requirement("AUTHN-020")
@pytest.mark.parametrize("scheme", ["Token", "Basic"])
@pytest.mark.parametrize("key", [op.PROFILE, op.ROLES])
def test_a_token_under_another_scheme_is_no_bearer_token(
    portal: Portal, verify: Verify, admin: Account, key: str, scheme: str
) -> None:
    accepted = granted(read(portal, BY_KEY[key], token=admin.token))
    exchange = ask(portal, BY_KEY[key], authorization=f"{scheme} {admin.token}")
    message = f"a token under the scheme {scheme} was accepted"
    verify("AUTHN-020", is_refused(exchange, accepted, message=message))


@mark.requirement("AUTHN-017", "ERROR-005")
@mark.needs("accounts.limited")
def test_an_account_without_permissions_is_answered_somehow(
    portal: Portal, verify: Verify, limited: Account
) -> None:
    unmarked = [row for row in READABLE if row.auth == "unmarked"]
    first = answered(read(portal, unmarked[0], token=limited.token, ids=some_ids(unmarked[0])))
    statuses = {first.status}
    for row in unmarked[1:]:
        # One answer at a time: each may be large.
        statuses.add(answered(read(portal, row, token=limited.token, ids=some_ids(row))).status)

    if 403 not in statuses:
        verify.observe("permission-denied", first, "nothing is refused")


PRELOGIN = tuple(row for row in OPERATIONS if row.is_prelogin and row.key != op.LOGIN_INITIATE)
"""All but the one of which only ten may be sent; whoever signs in has sent it without a token."""


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(
            row, id=row.key, marks=[mark.requirement("AUTHN-005", offered(row.key)), mark.impact(row.impact)]
        )
        for row in PRELOGIN
    ],
)
def test_a_prelogin_endpoint_wants_no_token(portal: Portal, row: Operation) -> None:
    """Where a body belongs it is an empty one, so that nothing comes of it: no mail, no password."""
    ask(portal, row)
