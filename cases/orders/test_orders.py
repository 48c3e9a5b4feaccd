"""Orders, who may query them, and workspaces that do not exist (chapter "Transfer orders (admin)")."""

from __future__ import annotations

from cases.nobody import free_id, unknown_id
from cases.orders.queries import asked, matching, orders
from cases.premises import answered, authorized, listed, outcome
from conformance.cases import (
    RECORD_UNKNOWN,
    Account,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    holds,
    is_error,
    is_refused,
    mark,
    op,
)


@mark.requirement("ORDER-025", "ORDER-026", "ORDER-027", "ORDER-034", "STATE-007")
def test_orders_are_listed(portal: Portal, admin: Account) -> None:
    """What they say of themselves is judged on the wire."""
    if not listed(matching(portal, admin), "data.content"):
        raise Untestable("the query shows no orders of the last 30 days", "environment")


@mark.requirement("ORDER-028", "ERROR-010", "AUTHN-015")
def test_the_query_wants_a_bot_challenge(portal: Portal, verify: Verify, admin: Account) -> None:
    """Without a token in the profile a refusal still tells; a success may be that of a deployment for tests,
    which asks nobody."""
    refused = answered(asked(portal, admin, bot_challenge=False))
    if portal.profile.bot_challenge.token is None:
        if refused.code != "4030":
            raise Untestable("the profile has no [bot_challenge] token to leave out")
        verify("ORDER-028", is_error(refused, "4030"))
        return
    served = matching(portal, admin)
    verify("ORDER-028", is_error(refused, "4030", served))
    further = answered(asked(portal, admin, {"page": "1"}, bot_challenge=False))
    verify("ORDER-028", is_error(further, "4030", served))


@mark.requirement("AUTHN-019")
@mark.needs("bot_challenge")
@mark.impact("mutating")
def test_a_token_that_one_endpoint_refuses_is_refused_by_all(
    portal: Portal, verify: Verify, admin: Account
) -> None:
    """A deployment for tests may take any token; then it does so everywhere."""
    made_up = portal.unique()
    body: Json = {"email": f"{made_up}@example.test", "turnstileToken": made_up}
    refused = answered(portal.call(op.PASSWORD_FORGOT, json=body, bot_challenge=False))
    if refused.code != "4030":
        raise Untestable("a forgotten password is not refused for a made-up token", "environment")
    served = matching(portal, admin)
    headers = {portal.profile.bot_challenge.header: made_up}
    taken = answered(asked(portal, admin, bot_challenge=False, headers=headers))
    message = "a bot-challenge token that another endpoint refused was taken"
    verify("AUTHN-019", is_refused(taken, refused, served, message=message))
    unknown = {"bizId": free_id(portal, admin.token, "channel")}
    named = portal.call(
        op.CHANNEL_COMMAND_DEACTIVATE, json=unknown, token=admin.token, bot_challenge=False, headers=headers
    )
    past_the_challenge = answered(named).success or named.code in RECORD_UNKNOWN or named.status == 404
    verify("AUTHN-019", holds(named, "code", not past_the_challenge, "4030", refused, message=message))


@mark.requirement("ORDER-038", "ORDER-040")
def test_the_orders_are_those_of_the_paths_workspace(portal: Portal, verify: Verify, admin: Account) -> None:
    """Whatever workspace a header names; orders may come meanwhile."""
    other = portal.record("other_workspace")
    plain = matching(portal, admin)
    named = authorized(asked(portal, admin, headers={"X-Workspace-Id": other}))
    if not named.success or not orders(plain):
        raise Untestable("the query lists nothing, or refuses the header of another workspace", "environment")
    shown, expected = ids_of(named), ids_of(plain)
    is_same = shown == expected or (
        bool(shown) and set(shown) <= {*expected, *ids_of(matching(portal, admin))}
    )
    verify("ORDER-038", holds(named, "data.content", is_same, expected, plain, actual=shown))
    elsewhere = authorized(asked(portal, admin, workspace=other))
    if elsewhere.success and other != portal.record("workspace"):
        both = sorted(map(str, set(ids_of(elsewhere)) & set(expected)))
        message = "orders of one workspace are listed for another"
        verify(
            "ORDER-040", holds(elsewhere, "data.content", not both, "none of them", plain, message=message)
        )


def ids_of(listing: Exchange) -> list[Json]:
    return [order.get("bizId", order.get("orderId")) for order in orders(listing)]


@mark.requirement("ORDER-033")
def test_how_an_unknown_workspace_is_answered(portal: Portal, verify: Verify, admin: Account) -> None:
    unknown = unknown_id(portal.record("workspace"))

    exchange = authorized(asked(portal, admin, workspace=unknown))
    verify.observe("orders-unknown-workspace", exchange, outcome(exchange))
