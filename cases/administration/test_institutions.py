"""Institutions (chapter "Currency grants, institutions, invitations")."""

from __future__ import annotations

from cases.accounts.queries import accounts, matching
from cases.premises import answered
from conformance.cases import Account, Portal, Untestable, Verify, is_success, mark, op, records

SOME = 3
"""How many other institutions are read."""


@mark.requirement("INSTITUTION-011", "INSTITUTION-012", "STATE-002")
def test_other_institutions_than_the_callers_are_read(portal: Portal, verify: Verify, admin: Account) -> None:
    """Those of accounts and workspaces: that each is the one asked for is judged on the wire."""
    own = portal.record("institution")
    mine = answered(portal.call(op.WORKSPACES_MINE, token=admin.token))
    shown = [*(record for _, record in records(mine)), *accounts(matching(portal, admin))]
    named = [id for record in shown if isinstance(id := record.get("institutionBizId"), str) and id != own]
    if not named:
        raise Untestable("what is listed is of one institution only", "environment")
    for id in list(dict.fromkeys(named))[:SOME]:
        read = answered(portal.call(op.INSTITUTION, token=admin.token, institutionBizId=id))
        if read.success or read.code == "RESOURCE.NOT_FOUND":
            verify("INSTITUTION-012", is_success(read, mine))
