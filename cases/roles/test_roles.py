"""Roles as they are listed, read one by one, and what they permit (chapter "Roles")."""

from __future__ import annotations

from cases.premises import authorized, code_of, granted, listed, texts_within
from conformance.cases import (
    RECORD_UNKNOWN,
    Account,
    Comparison,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    holds,
    is_success,
    mark,
    op,
)

SHOWN = ("bizId", "workspaceBizId", "roleName", "description")
"""What a role shows wherever it is shown; of its permissions a listing may show less."""


def a_role(listing: Exchange) -> dict[str, Json]:
    for record in listed(granted(listing)):
        if isinstance(record.get("bizId"), str):
            return record
    raise Untestable("the target lists no role", "environment")


@mark.requirement("ROLE-010", "ROLE-012", "ROLE-013")
def test_a_role_is_read_as_it_is_listed(portal: Portal, verify: Verify, admin: Account) -> None:
    listing = portal.call(op.ROLES, token=admin.token)
    role = a_role(listing)

    read = granted(portal.call(op.ROLE, token=admin.token, roleBizId=role["bizId"]))
    verify("ROLE-010", is_as_listed(read, role, listing))

    granted(portal.call(op.ROLE_PERMISSIONS, token=admin.token, roleBizId=role["bizId"]))


def is_as_listed(read: Exchange, role: dict[str, Json], listing: Exchange) -> Comparison:
    expected = shown(role)
    detail = shown(read.data if isinstance(read.data, dict) else {})
    return holds(read, "data", detail == expected, expected, listing, actual=detail)


def shown(role: dict[str, Json]) -> dict[str, Json]:
    return {**{name: role.get(name) for name in SHOWN}, "roleType": code_of(role, "roleType")}


ROLES_READ = 5
"""Roles whose permissions are compared with their codes."""


@mark.requirement("ROLE-010", "ROLE-015", "ROLE-016")
def test_the_permissions_of_a_role_are_its_own(portal: Portal, verify: Verify, admin: Account) -> None:
    """Which field of a permission holds its code is not shown: any that holds one of the role's may."""
    listing = granted(portal.call(op.ROLES, token=admin.token))
    compared = has_list = False
    for record in [role for role in listed(listing) if isinstance(role.get("bizId"), str)][:ROLES_READ]:
        id = record["bizId"]
        role = authorized(portal.call(op.ROLE, token=admin.token, roleBizId=id))
        if role.code in RECORD_UNKNOWN:
            verify("ROLE-010", is_success(role, listing))
        granted(role)
        verify("ROLE-010", is_as_listed(role, record, listing))
        permissions = granted(portal.call(op.ROLE_PERMISSIONS, token=admin.token, roleBizId=id))
        has_list = has_list or isinstance(permissions.data, list)
        codes = role.at("data.permissionCodes")
        if not isinstance(codes, list) or not codes or not isinstance(permissions.data, list):
            continue
        own, items = set(map(str, codes)), [texts_of(item) for item in permissions.data]
        if any(item & own for item in items):
            compared = True
            others = [sorted(item) for item in items if not item & own]
            verify("ROLE-015", holds(permissions, "data", not others, codes, role, actual=others[:3]))
            missing = sorted(own.difference(texts_within(permissions.data)))
            verify(
                "ROLE-016", holds(permissions, "data", not missing, codes, role, actual={"lacks": missing})
            )
    if not compared:
        why = "no role names its permissions by the codes that it shows"
        raise Untestable(why if has_list else "the permissions of no role are an array", "environment")


def texts_of(item: Json) -> set[str]:
    """The texts of a permission, which may be one itself."""
    values = item.values() if isinstance(item, dict) else [item]
    return {value for value in values if isinstance(value, str)}
