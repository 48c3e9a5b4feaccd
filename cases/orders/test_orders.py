"""Orders, who may query them, and workspaces that do not exist (chapter "Transfer orders (admin)")."""

from __future__ import annotations

from cases.orders.queries import asked, matching
from cases.premises import answered, authorized, listed, outcome, unknown_id
from conformance.cases import Account, Portal, Untestable, Verify, is_error, needs, requirement


@requirement("ORDER-025", "ORDER-026", "ORDER-027", "ORDER-034", "STATE-007")
def test_orders_are_listed(portal: Portal, admin: Account) -> None:
    """What they say of themselves is judged on the wire."""
    if not listed(matching(portal, admin), "data.content"):
        raise Untestable("the workspace has no orders in the last 30 days", "environment")


@requirement("ORDER-028")
@needs("bot_challenge")
def test_the_query_wants_a_bot_challenge(portal: Portal, verify: Verify, admin: Account) -> None:
    served = matching(portal, admin)

    refused = answered(asked(portal, admin, bot_challenge=False))
    verify("ORDER-028", is_error(refused, "4030", served))


@requirement("ORDER-033")
def test_how_an_unknown_workspace_is_answered(portal: Portal, verify: Verify, admin: Account) -> None:
    unknown = unknown_id(portal.record("workspace"))

    exchange = authorized(asked(portal, admin, workspace=unknown))
    verify.observe("orders-unknown-workspace", exchange, outcome(exchange))
