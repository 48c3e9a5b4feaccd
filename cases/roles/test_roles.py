"""Roles as they are listed, read one by one, and what they permit (chapter "Roles")."""

from __future__ import annotations

from cases.premises import asked_for_nobody, authorized, code_of, granted, listed
from conformance.cases import (
    Account,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    holds,
    is_error_of_table,
    requirement,
)
from conformance.spec.endpoints import ROLE, ROLE_PERMISSIONS, ROLES

SHOWN = ("bizId", "workspaceBizId", "roleName", "description")
"""What a role shows wherever it is shown; of its permissions a listing may show less."""


def a_role(listing: Exchange) -> dict[str, Json]:
    for record in listed(granted(listing)):
        if isinstance(record.get("bizId"), str):
            return record
    raise Untestable("the target lists no role", "environment")


@requirement("ROLE-010", "ROLE-012", "ROLE-013")
def test_a_role_is_read_as_it_is_listed(portal: Portal, verify: Verify, admin: Account) -> None:
    listing = portal.call(ROLES, token=admin.token)
    role = a_role(listing)

    read = granted(portal.call(ROLE, token=admin.token, roleBizId=role["bizId"]))
    expected = shown(role)
    detail = shown(read.data if isinstance(read.data, dict) else {})
    verify("ROLE-010", holds(read, "data", detail == expected, expected, listing, actual=detail))

    granted(portal.call(ROLE_PERMISSIONS, token=admin.token, roleBizId=role["bizId"]))


def shown(role: dict[str, Json]) -> dict[str, Json]:
    return {**{name: role.get(name) for name in SHOWN}, "roleType": code_of(role, "roleType")}


@requirement("ROLE-011")
def test_an_unknown_role_is_not_found(portal: Portal, verify: Verify, admin: Account) -> None:
    refused = asked_for_nobody(
        portal,
        portal.record("role"),
        lambda id: authorized(portal.call(ROLE, token=admin.token, roleBizId=id)),
    )
    verify("ROLE-011", is_error_of_table(refused, "RESOURCE.NOT_FOUND"))


@requirement("ROLE-014")
def test_an_unknown_role_has_no_permissions(portal: Portal, verify: Verify, admin: Account) -> None:
    refused = asked_for_nobody(
        portal,
        portal.record("role"),
        lambda id: authorized(portal.call(ROLE_PERMISSIONS, token=admin.token, roleBizId=id)),
    )
    verify("ROLE-014", is_error_of_table(refused, "RESOURCE.NOT_FOUND"))
