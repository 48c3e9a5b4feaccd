"""Roles and their permissions (chapter "Roles")."""

from typing import Any

from reference_impl.handlers.grants import in_workspace
from reference_impl.portal import Caller, Portal
from reference_impl.shapes import Body


def roles(portal: Portal, caller: Caller, body: Body) -> Any:
    return portal.views("role", in_workspace(caller, portal.newest("role")))


def role(portal: Portal, caller: Caller, body: Body) -> Any:
    return portal.view("role", portal.find("role", body["roleBizId"]))


def permissions(portal: Portal, caller: Caller, body: Body) -> Any:
    codes = portal.find("role", body["roleBizId"])["permissionCodes"]
    if portal.choices.permission_items == "codes":
        return list(codes)
    permissions = portal.records["permission"].values()
    return portal.views("permission", (record for record in permissions if record["permissionCode"] in codes))
