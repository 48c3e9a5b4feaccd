"""Each of the 88 endpoints, once not offered and once with data of another shape (chapter "Endpoints")."""

from typing import Any

from reference_impl.changes import Change, data_rewritten, together
from reference_impl.faults import operations as op
from reference_impl.faults.fault import erring, refusing
from reference_impl.routes import ROWS as ROUTES
from reference_impl.routes import Row

# Their answers are not shown (N4, N5), so that no shape of data contradicts anything.
NOT_SHOWN = frozenset({op.ACCOUNT, op.MY_WORKSPACES, op.OTP_SETUP, op.BACKUP_GENERATE})
OFFERED = {
    op.INITIATE: "OP-001",
    op.SEND: "OP-002",
    op.COMPLETE: "OP-003",
    op.LOGOUT: "OP-004",
    op.REFRESH: "OP-005",
    op.FORGOT: "OP-006",
    op.RESET: "OP-007",
    op.INIT: "OP-008",
    op.CHANGE: "OP-009",
    op.PUBLIC_KEY: "OP-010",
    op.SECURE_SESSION: "OP-011",
    op.SECURE_CLOSE: "OP-012",
    op.WHITELIST: "OP-013",
    op.SET_WHITELIST: "OP-014",
    op.ENABLE_WHITELIST: "OP-015",
    op.DISABLE_WHITELIST: "OP-016",
    op.MFA: "OP-017",
    op.OTP_SETUP: "OP-018",
    op.OTP_VERIFY: "OP-019",
    op.OTP_REVOKE: "OP-020",
    op.BACKUP_CODES: "OP-021",
    op.BACKUP_GENERATE: "OP-022",
    op.SESSIONS: "OP-023",
    op.SESSION_CONFIG: "OP-024",
    op.SET_SESSION_CONFIG: "OP-025",
    op.HISTORY: "OP-026",
    op.TERMINATE: "OP-027",
    op.TERMINATE_ALL: "OP-028",
    op.PROFILE: "OP-029",
    op.PROFILE_UPDATE: "OP-030",
    op.OWN_INVITATIONS: "OP-031",
    op.ACCEPT: "OP-032",
    op.DECLINE: "OP-033",
    op.CURRENT_WORKSPACE: "OP-034",
    op.MY_WORKSPACES: "OP-035",
    op.ACCOUNTS_QUERY: "OP-036",
    op.ACCOUNT: "OP-037",
    op.ACCOUNT_UPDATE: "OP-038",
    op.ACCOUNT_STATUS: "OP-039",
    op.ACCOUNT_PASSWORD: "OP-040",
    "GET /web/v1/system/constants/countries": "OP-041",
    "GET /web/v1/system/constants/timezones": "OP-042",
    "GET /web/v1/system/constants/us-states": "OP-043",
    "GET /web/v1/system/constants/currency-config-statuses": "OP-044",
    "GET /web/v1/system/constants/notification-channel-statuses": "OP-045",
    "GET /web/v1/system/constants/notification-channel-type-statuses": "OP-046",
    "GET /web/v1/system/constants/notification-channel-types": "OP-047",
    "GET /web/v1/system/constants/order-statuses": "OP-048",
    "GET /web/v1/system/constants/transfer-statuses": "OP-049",
    "GET /web/v1/system/constants/user-account-statuses": "OP-050",
    "GET /web/v1/system/constants/user-institution-statuses": "OP-051",
    "GET /web/v1/system/constants/user-institution-types": "OP-052",
    "GET /web/v1/system/constants/user-invitation-statuses": "OP-053",
    "GET /web/v1/system/constants/user-join-sources": "OP-054",
    "GET /web/v1/system/constants/user-mfa-methods": "OP-055",
    "GET /web/v1/system/constants/user-permission-statuses": "OP-056",
    "GET /web/v1/system/constants/user-permission-types": "OP-057",
    "GET /web/v1/system/constants/user-portal-types": "OP-058",
    "GET /web/v1/system/constants/user-workspace-statuses": "OP-059",
    "GET /web/v1/system/constants/wallet-statuses": "OP-060",
    "GET /web/v1/system/constants/workspace-role-types": "OP-061",
    op.GRANTS: "OP-062",
    op.GRANT: "OP-063",
    op.REVOKE: "OP-064",
    op.INSTITUTION: "OP-065",
    op.INVITATIONS: "OP-066",
    op.INVITE: "OP-067",
    op.CANCEL: "OP-068",
    op.TYPES_QUERY: "OP-069",
    op.TYPE_CREATE: "OP-070",
    op.TYPE_UPDATE: "OP-071",
    op.TYPE_DELETE: "OP-072",
    op.TYPE_ENABLE: "OP-073",
    op.TYPE_DISABLE: "OP-074",
    op.CHANNELS_QUERY: "OP-075",
    op.CHANNEL_CREATE: "OP-076",
    op.CHANNEL_UPDATE: "OP-077",
    op.CHANNEL_DELETE: "OP-078",
    op.CHANNEL_ACTIVATE: "OP-079",
    op.CHANNEL_DEACTIVATE: "OP-080",
    op.VALIDATE_IMAP: "OP-081",
    op.VALIDATE_SMTP: "OP-082",
    op.COMMAND: "OP-083",
    op.ROLES: "OP-084",
    op.ROLE: "OP-085",
    op.ROLE_PERMISSIONS: "OP-086",
    op.FILE: "OP-087",
    op.ORDERS: "OP-088",
}
"""The requirement that an endpoint is offered. An id is not moved by an endpoint that is inserted."""


def _slug(row: Row) -> str:
    path = row.path.removeprefix("/web/v1/").removeprefix("system/").replace("{", "").replace("}", "")
    return f"{row.method.lower()}-{path.replace('/', '-').lower()}"


def _wrapped(data: Any) -> Any:
    """A list within an object, or an object within a list."""
    return {"list": data} if isinstance(data, list) else [data]


def _misshapen(row: Row) -> tuple[str, Change]:
    """Every second endpoint answers nothing, and so does that of the public key."""
    if int(OFFERED[row.name][-1]) % 2 == 1 or row.name == op.PUBLIC_KEY:
        return f"{_slug(row)}-answers-nothing", data_rewritten(lambda data: None, row.name)
    return f"{_slug(row)}-answers-another-shape", data_rewritten(_wrapped, row.name)


def _failing(operation: str) -> Change:
    return together(erring("BROKEN", "INTERNAL_ERROR", 500), refusing(operation, "BROKEN"))


REFUSED = {
    f"{OFFERED[row.name]} {_slug(row)}-is-not-offered": refusing(row.name, "METHOD_NOT_ALLOWED")
    for row in ROUTES
}
MISSHAPEN = {
    f"{OFFERED[row.name]} {name}": change
    for row in ROUTES
    if row.answer == "shown" and row.name not in NOT_SHOWN
    for name, change in [_misshapen(row)]
}

ROWS = {
    **REFUSED,
    **MISSHAPEN,
    "OP-084 ENV-018 roles-always-fail": _failing(op.ROLES),
    "OP-023 sessions-are-an-unknown-path": refusing(op.SESSIONS, "PATH_UNKNOWN"),
}
