"""The caller's current workspace (chapter "Profile and workspaces")."""

from __future__ import annotations

import pytest

from cases.authentication.steps import an_account
from cases.nobody import unknown_id
from cases.premises import answered, authorized, code_of, granted, outcome, text
from conformance.cases import Account, Exchange, Portal, Untestable, Verify, equal, holds, mark, op, records


def current(portal: Portal, caller: Account, workspace: str | None = None) -> Exchange:
    exchange = authorized(
        portal.call(op.WORKSPACES_CURRENT, token=caller.token, headers={"X-Workspace-Id": workspace})
    )
    if exchange.code == "GA2031":
        raise Untestable("there is no such current workspace for the account (GA2031)", "environment")
    return granted(exchange)


@mark.requirement("WORKSPACE-014", "STATE-003")
def test_the_current_workspace_stays_the_same(portal: Portal, verify: Verify, admin: Account) -> None:
    first = current(portal, admin)
    repeated = current(portal, admin)
    verify("WORKSPACE-014", equal(repeated, "data.bizId", text(first, "data.bizId"), first))


@mark.requirement("WORKSPACE-011")
@pytest.mark.parametrize("name", ["workspace", "other_workspace"])
def test_a_workspace_is_chosen_by_its_id(portal: Portal, verify: Verify, admin: Account, name: str) -> None:
    chosen = portal.record(name)
    verify("WORKSPACE-011", equal(current(portal, admin, chosen), "data.bizId", chosen))


@mark.requirement("WORKSPACE-012", "WORKSPACE-016")
def test_an_unknown_workspace_is_answered_somehow(portal: Portal, verify: Verify, admin: Account) -> None:
    """But not as if another had been asked for."""
    workspace = unknown_id(portal.record("workspace"))
    exchange = portal.call(op.WORKSPACES_CURRENT, token=admin.token, headers={"X-Workspace-Id": workspace})
    verify.observe("unknown-workspace", exchange, outcome(exchange))
    shown = exchange.at("data.bizId")
    is_another = exchange.success and isinstance(shown, str) and shown != workspace
    verify("WORKSPACE-016", holds(exchange, "data.bizId", not is_another, "no other workspace"))


SOME = 3
"""Of how many of the caller's workspaces each is read as the current one."""


@mark.requirement("WORKSPACE-013", "WORKSPACE-015", "AGREE-003")
@pytest.mark.parametrize("name", ["admin", pytest.param("spare", marks=mark.needs("accounts.spare"))])
def test_the_callers_workspaces_have_some_form(portal: Portal, verify: Verify, name: str) -> None:
    """Each is read as the current one between two listings: what differs is judged on the wire."""
    caller = an_account(portal, name)
    mine = granted(portal.call(op.WORKSPACES_MINE, token=caller.token))
    for record in [each for _, each in records(mine)][:SOME]:
        id = record.get("bizId")
        if isinstance(id, str):
            chosen = {"X-Workspace-Id": id}
            shown = answered(portal.call(op.WORKSPACES_CURRENT, token=caller.token, headers=chosen))
            if code_of(record, "workspaceStatus") == "ACTIVE":
                verify("WORKSPACE-015", holds(shown, "data.bizId", shown.at("data.bizId") == id, id, mine))
    portal.call(op.WORKSPACES_MINE, token=caller.token)
