"""Roles and files (chapters of these names)."""

from typing import Any

from starlette.types import Scope

from reference_impl.changes import data_rewritten, row
from reference_impl.errors import INVALID
from reference_impl.faults import operations as op
from reference_impl.faults.fault import Call, renamed, reported, served
from reference_impl.faults.requests import Names, adding, signed_in
from reference_impl.faults.verbs import unrefused
from reference_impl.portal import Portal


def _api_key_signs_in(scope: Scope, names: Names) -> Names:
    """Whoever sends an API key is taken for somebody who may read files."""
    if not any("api-key" in name or value.startswith("ApiKey ") for name, value in names.items()):
        return names
    return _signed_in_to_read(scope, names)


def _issued_api_key_signs_in(scope: Scope, names: Names) -> Names:
    """So is whoever sends one that the portal has issued."""
    key = scope["app"].state.portal.api_key
    return _signed_in_to_read(scope, names) if names.get("x-api-key") == key else names


def _signed_in_to_read(scope: Scope, names: Names) -> Names:
    portal: Portal = scope["app"].state.portal
    accounts = ((each, portal.find("account", each.account_id)) for each in portal.sessions.values())
    able = (each for each, account in accounts if "file:read" in portal.permissions(account))
    return signed_in(names, portal, next(able, None))


def _by_its_beginning(call: Call) -> Any:
    """The first role whose id begins so is given."""
    begins = (id for id in call.portal.records["role"] if id.startswith(call.body["roleBizId"]))
    return call.run(roleBizId=next(begins, call.body["roleBizId"]))


ROWS = {
    "FILE-022 api-key-opens-the-file": adding(_api_key_signs_in, op.FILE),
    "FILE-022 issued-api-key-opens-the-file": adding(_issued_api_key_signs_in, op.FILE),
    "ROLE-010 a-role-is-read-by-the-beginning-of-its-id": served(op.ROLE, _by_its_beginning),
    "ROLE-015 the-permissions-of-a-role-are-the-readers": served(
        op.ROLE_PERMISSIONS, lambda call: call.run(roleBizId=call.caller.account["roleBizIds"][0])
    ),
    "ROLE-014 an-unknown-role-has-no-permissions": unrefused(op.ROLE_PERMISSIONS, []),
    "ROLE-011 unknown-role-is-400": renamed(op.ROLE, "RESOURCE.NOT_FOUND", INVALID),
    "ROLE-013 a-role-twice": data_rewritten(lambda roles: [*roles, *roles[:1]], op.ROLES),
    "FILE-020 file-needs-no-permission": row(op.FILE, permission=None),
    "FILE-021 missing-permission-is-404": renamed(op.FILE, "ACCESS.PERMISSION_DENIED", "RESOURCE.NOT_FOUND"),
    "FILE-023 another-file-is-read": reported(op.FILE, "", bizId=lambda id: id[::-1]),
    "FILE-024 unknown-file-is-400": renamed(op.FILE, "RESOURCE.NOT_FOUND", INVALID),
    "FILE-026 file-of-negative-size": reported(op.FILE, "", fileSize=lambda size: size - 2**33),
    "FILE-027 content-type-is-a-file-extension": reported(
        op.FILE, "", contentType=lambda media_type: media_type.rpartition("/")[2]
    ),
    "ROLE-016 a-role-lacks-its-last-permission": data_rewritten(lambda data: data[:-1], op.ROLE_PERMISSIONS),
}
