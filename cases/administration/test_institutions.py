"""Institutions (chapter "Currency grants, institutions, invitations")."""

from __future__ import annotations

from cases.premises import asked_for_nobody, authorized, granted
from conformance.cases import Account, Portal, Verify, is_error_of_table, requirement
from conformance.spec.endpoints import INSTITUTION


@requirement("INSTITUTION-010", "INSTITUTION-011", "STATE-002")
def test_an_institution_is_found_by_its_own_id_only(portal: Portal, verify: Verify, admin: Account) -> None:
    existing = portal.record("institution")
    granted(portal.call(INSTITUTION, token=admin.token, institutionBizId=existing))

    unknown = asked_for_nobody(
        portal,
        existing,
        lambda id: authorized(portal.call(INSTITUTION, token=admin.token, institutionBizId=id)),
    )

    verify("INSTITUTION-010", is_error_of_table(unknown, "RESOURCE.NOT_FOUND"))
