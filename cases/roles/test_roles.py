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


ROLES_READ = 5
"""Roles whose permissions are compared with their codes."""


@requirement("ROLE-015")
def test_the_permissions_of_a_role_are_its_own(portal: Portal, verify: Verify, admin: Account) -> None:
    """Which field of a permission holds its code is not shown: any that holds one of the role's may."""
    roles = listed(granted(portal.call(ROLES, token=admin.token)))
    compared = False
    for id in [role["bizId"] for role in roles if isinstance(role.get("bizId"), str)][:ROLES_READ]:
        role = granted(portal.call(ROLE, token=admin.token, roleBizId=id))
        permissions = granted(portal.call(ROLE_PERMISSIONS, token=admin.token, roleBizId=id))
        codes = role.at("data.permissionCodes")
        if not isinstance(codes, list) or not codes or not isinstance(permissions.data, list):
            continue
        items = [texts_of(item) for item in permissions.data]
        if any(item & set(map(str, codes)) for item in items):
            compared = True
            others = [sorted(item) for item in items if not item & set(map(str, codes))]
            verify("ROLE-015", holds(permissions, "data", not others, codes, role, actual=others[:3]))
    if not compared:
        raise Untestable("no role names its permissions by the codes that it shows", "environment")


def texts_of(item: Json) -> set[str]:
    """The texts of a permission, which may be one itself."""
    values = item.values() if isinstance(item, dict) else [item]
    return {value for value in values if isinstance(value, str)}


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
