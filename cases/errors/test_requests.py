"""Requests that no endpoint takes: other methods, unknown paths, bodies that are no JSON objects."""

from __future__ import annotations

import pytest

from cases.premises import answered, authorized, outcome
from cases.reading import some_ids
from conformance.cases import (
    BY_KEY,
    OPERATIONS,
    Account,
    Exchange,
    Json,
    Operation,
    Portal,
    Verify,
    holds,
    mark,
    op,
    operation_of,
)

TAKE_JSON = (
    op.ACCOUNTS_QUERY,
    op.CHANNEL_TYPES_QUERY,
    op.CHANNELS_QUERY,
    op.LOGIN_COMPLETE,
    op.TOKEN_REFRESH,
    op.SECURE_SESSION,
)
"""They change nothing, and no sign-in is used up by asking them."""


def token_for(key: str, admin: Account) -> str | None:
    return None if BY_KEY[key].is_prelogin else admin.token


def is_client_error(exchange: Exchange) -> bool:
    return not exchange.success and 400 <= (exchange.status or 0) < 500


@mark.requirement("ERROR-015")
@pytest.mark.parametrize("key", TAKE_JSON)
@pytest.mark.parametrize(
    "raw", [b"{", b'{"email": }', b"no json", b"\xff\xfe"], ids=["cut off", "no value", "text", "no text"]
)
def test_a_body_that_is_no_json_is_refused(
    portal: Portal, verify: Verify, admin: Account, key: str, raw: bytes
) -> None:
    refused = authorized(portal.call(key, raw=raw, token=token_for(key, admin)))
    verify("ERROR-015", holds(refused, "status", is_client_error(refused), "a client error, 400 to 499"))


@mark.requirement("ERROR-015")
@mark.sign_ins(1)
def test_a_sign_in_that_is_no_json_is_refused(portal: Portal, verify: Verify) -> None:
    """Once only: it may count among the sign-ins of a window."""
    refused = answered(portal.call(op.LOGIN_INITIATE, raw=b'{"email": '))
    verify("ERROR-015", holds(refused, "status", is_client_error(refused), "a client error, 400 to 499"))


@mark.requirement("ERROR-016")
@pytest.mark.parametrize("key", TAKE_JSON)
@pytest.mark.parametrize("body", [[], "suite", 1, True], ids=["array", "text", "number", "boolean"])
def test_a_body_that_is_no_object_is_refused(
    portal: Portal, verify: Verify, admin: Account, key: str, body: Json
) -> None:
    refused = authorized(portal.call(key, json=body, token=token_for(key, admin)))
    verify("ERROR-016", holds(refused, "status", is_client_error(refused), "a client error, 400 to 499"))


@mark.requirement("ERROR-017")
@pytest.mark.parametrize(
    "path", ["/web/v1/system/suite-unknown", "/web/v1/suite-unknown/1", "/web/v2/system/profile"]
)
def test_an_unknown_path_is_answered_somehow(
    portal: Portal, verify: Verify, admin: Account, path: str
) -> None:
    exchange = answered(portal.get(path, token=admin.token))
    verify.observe("unknown-path", exchange, outcome(exchange))


def is_of_another_endpoint(row: Operation, method: str) -> bool:
    """Whether the path under the other method is one of the 88 as well."""
    return operation_of(method, row.url(**some_ids(row))) is not None


POSTS = tuple(row for row in OPERATIONS if row.method == "POST" and not is_of_another_endpoint(row, "GET"))
GETS = tuple(row for row in OPERATIONS if row.method == "GET" and not is_of_another_endpoint(row, "POST"))


@mark.requirement("ERROR-018")
@pytest.mark.parametrize("row", [pytest.param(row, id=row.key) for row in POSTS])
def test_a_get_where_a_post_belongs_is_answered_somehow(
    portal: Portal, verify: Verify, admin: Account, row: Operation
) -> None:
    exchange = answered(portal.get(row.path, token=admin.token))
    verify.observe("wrong-method", exchange, outcome(exchange))


@mark.requirement("ERROR-018")
@pytest.mark.impact("mutating")
@pytest.mark.parametrize("row", [pytest.param(row, id=row.key) for row in GETS])
def test_a_post_where_a_get_belongs_is_answered_somehow(
    portal: Portal, verify: Verify, row: Operation
) -> None:
    """Without a token: the portal has more endpoints than are described, and one of them may stand here."""
    exchange = answered(portal.get(row.url(**some_ids(row)), method="POST"))
    verify.observe("wrong-method", exchange, outcome(exchange))
