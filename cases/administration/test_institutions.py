"""Institutions (chapter "Currency grants, institutions, invitations")."""

from __future__ import annotations

from cases.accounts.queries import accounts, matching
from cases.nobody import asked_for_nobody
from cases.premises import answered, authorized, granted
from conformance.cases import (
    Account,
    Portal,
    Untestable,
    Verify,
    is_error_of_table,
    is_success,
    op,
    requirement,
)
from conformance.checks.records import records

SOME = 3
"""How many other institutions are read."""


@requirement("INSTITUTION-010", "INSTITUTION-011", "STATE-002", "ERROR-006")
def test_an_institution_is_found_by_its_own_id_only(portal: Portal, verify: Verify, admin: Account) -> None:
    existing = portal.record("institution")
    granted(portal.call(op.INSTITUTION, token=admin.token, institutionBizId=existing))

    unknown = asked_for_nobody(
        portal,
        existing,
        lambda id: authorized(portal.call(op.INSTITUTION, token=admin.token, institutionBizId=id)),
    )

    verify("INSTITUTION-010", is_error_of_table(unknown, "RESOURCE.NOT_FOUND"))


@requirement("INSTITUTION-011", "INSTITUTION-012", "STATE-002")
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
