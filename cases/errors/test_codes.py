"""The codes of the error table, each brought about by what the table says of it (chapter "Errors")."""

from __future__ import annotations

import pytest

from cases.nobody import asked_for_nobody, free_id, unknown_id
from cases.premises import answered, authorized
from conformance.cases import BY_KEY, LANGUAGES, Account, Portal, Untestable, Verify, impact, op, requirement
from conformance.spec.requests import UNFILTERED


@requirement("ERROR-002")
def test_an_unknown_session_is_not_found(portal: Portal) -> None:
    answered(portal.login.refresh("a-refresh-token-of-nobody"))
    answered(portal.login.complete(portal.unique(), method="OTP", code="000000"))


@requirement("ERROR-003", "ERROR-014")
def test_a_body_that_breaks_its_rules_is_an_invalid_parameter(portal: Portal, admin: Account) -> None:
    authorized(
        portal.call(
            op.ACCOUNTS_QUERY, json={**UNFILTERED[op.ACCOUNTS_QUERY], "page": "first"}, token=admin.token
        )
    )
    answered(portal.call(op.TOKEN_REFRESH, json={}))


@requirement("ERROR-004")
def test_a_missing_token_is_unauthorized(portal: Portal) -> None:
    answered(portal.call(op.PROFILE))


@requirement("ERROR-006")
def test_an_unknown_id_is_not_found(portal: Portal, admin: Account) -> None:
    token = admin.token
    asked_for_nobody(
        portal,
        portal.record("account"),
        lambda id: authorized(portal.call(op.ACCOUNT, token=token, userBizId=id)),
    )
    asked_for_nobody(
        portal,
        portal.record("institution"),
        lambda id: authorized(portal.call(op.INSTITUTION, token=token, institutionBizId=id)),
    )


@requirement("ERROR-007", "ERROR-012")
def test_an_unknown_workspace_says_so_by_its_code(portal: Portal, verify: Verify, admin: Account) -> None:
    """In every language: the message is no text."""
    workspace = unknown_id(portal.record("workspace"))
    for language in LANGUAGES:
        headers = {"X-Workspace-Id": workspace, "Accept-Language": language}
        exchange = authorized(portal.call(op.WORKSPACES_CURRENT, token=admin.token, headers=headers))
        if exchange.code != "GA2031":
            raise Untestable("the code GA2031 was not met; when it is given is not described", "target")


@requirement("ERROR-008")
def test_an_invalid_secure_channel_key_is_a_bad_request(portal: Portal) -> None:
    answered(
        portal.call(
            op.SECURE_SESSION, json={"keyId": portal.unique(), "encReqKey": "AAAA", "encRespKey": "AAAA"}
        )
    )


@requirement("ERROR-009")
def test_an_invalid_token_for_orders_is_unauthorized(portal: Portal) -> None:
    workspace = "00000000-0000-4000-8000-000000000000"
    answered(portal.call(op.TRANSFER_ORDERS, token="not-a-token", workspaceId=workspace))


@requirement("ERROR-010", "AUTHN-015")
@pytest.mark.parametrize(
    "key",
    [op.TRANSFER_ORDERS, pytest.param(op.CHANNEL_COMMAND_DEACTIVATE, marks=pytest.mark.impact("mutating"))],
)
def test_a_bot_challenge_that_is_left_out_is_answered_somehow(
    portal: Portal, admin: Account, key: str
) -> None:
    """For the command the channel is nobody's, so that a portal which asks for nothing does nothing."""
    if BY_KEY[key].parameters:
        answered(
            portal.call(key, token=admin.token, bot_challenge=False, workspaceId=portal.record("workspace"))
        )
    else:
        channel = free_id(portal, admin.token, "channel")
        answered(portal.call(key, json={"bizId": channel}, token=admin.token, bot_challenge=False))


@requirement("ERROR-011")
@impact("mutating")
def test_an_unknown_channel_has_a_code_of_its_own(portal: Portal, admin: Account) -> None:
    channel = free_id(portal, admin.token, "channel")
    authorized(portal.call(op.CHANNEL_COMMAND_DEACTIVATE, json={"bizId": channel}, token=admin.token))


@requirement("ERROR-013")
@pytest.mark.parametrize("key", [op.ACCOUNTS_QUERY, op.PROFILE])
def test_further_codes_are_written_down(portal: Portal, key: str) -> None:
    """Whatever code a refusal carries beyond the table is recorded on the wire."""
    answered(
        portal.call(
            key, json=UNFILTERED.get(key, {}), token="not-a-token", headers={"X-PORTAL-ACCESS-CODE": "other"}
        )
    )
