"""Short names of the endpoints, in the specification's order, and the requirement that each is offered."""

from collections.abc import Mapping

_AUTH = "/web/v1/system/auth"
INITIATE = f"POST {_AUTH}/login/initiate"
SEND = f"POST {_AUTH}/login/mfa/send"
COMPLETE = f"POST {_AUTH}/login/complete"
LOGOUT = f"POST {_AUTH}/logout"
REFRESH = f"POST {_AUTH}/token/refresh"
FORGOT = f"POST {_AUTH}/password/forgot"
RESET = f"POST {_AUTH}/password/reset"
INIT = f"POST {_AUTH}/password/init"
CHANGE = f"POST {_AUTH}/password/change"

PUBLIC_KEY = "GET /web/v1/secure-channel/public-key"
SECURE_SESSION = "POST /web/v1/secure-channel/session"
SECURE_CLOSE = "POST /web/v1/secure-channel/session/close"

_SECURITY = "/web/v1/system/security"
WHITELIST = f"GET {_SECURITY}/ip-whitelist"
SET_WHITELIST = f"POST {_SECURITY}/ip-whitelist"
ENABLE_WHITELIST = f"POST {_SECURITY}/ip-whitelist/enable"
DISABLE_WHITELIST = f"POST {_SECURITY}/ip-whitelist/disable"
MFA = f"GET {_SECURITY}/mfa"
OTP_SETUP = f"POST {_SECURITY}/mfa/otp/setup"
OTP_VERIFY = f"POST {_SECURITY}/mfa/otp/verify"
OTP_REVOKE = f"POST {_SECURITY}/mfa/otp/revoke"
BACKUP_CODES = f"GET {_SECURITY}/mfa/backup-codes"
BACKUP_GENERATE = f"POST {_SECURITY}/mfa/backup-codes/generate"
SESSIONS = f"GET {_SECURITY}/sessions"
SESSION_CONFIG = f"GET {_SECURITY}/sessions/config"
SET_SESSION_CONFIG = f"POST {_SECURITY}/sessions/config"
HISTORY = f"GET {_SECURITY}/sessions/history"
TERMINATE = f"POST {_SECURITY}/sessions/terminate"
TERMINATE_ALL = f"POST {_SECURITY}/sessions/terminate-all"

PROFILE = "GET /web/v1/system/profile"
PROFILE_UPDATE = "POST /web/v1/system/profile/update"
OWN_INVITATIONS = "GET /web/v1/system/profile/invitations"
ACCEPT = "POST /web/v1/system/profile/invitations/accept"
DECLINE = "POST /web/v1/system/profile/invitations/decline"
CURRENT_WORKSPACE = "GET /web/v1/system/workspaces/current"
MY_WORKSPACES = "GET /web/v1/system/workspaces/mine"

_ACCOUNTS = "/web/v1/system/accounts/admin"
ACCOUNTS_QUERY = f"POST {_ACCOUNTS}/query"
ACCOUNT = f"GET {_ACCOUNTS}/{{userBizId}}"
ACCOUNT_UPDATE = f"POST {_ACCOUNTS}/update"
ACCOUNT_STATUS = f"POST {_ACCOUNTS}/status"
ACCOUNT_PASSWORD = f"POST {_ACCOUNTS}/password/reset"

GRANTS = "GET /web/v1/system/currency-grants"
GRANT = "POST /web/v1/system/currency-grants"
REVOKE = "POST /web/v1/system/currency-grants/revoke"
INSTITUTION = "GET /web/v1/system/institutions/{institutionBizId}"
INVITATIONS = "GET /web/v1/system/invitations"
INVITE = "POST /web/v1/system/invitations"
CANCEL = "POST /web/v1/system/invitations/cancel"

_TYPES = "POST /web/v1/system/notifications/channel-types"
TYPES_QUERY = f"{_TYPES}/query"
TYPE_CREATE = f"{_TYPES}/create"
TYPE_UPDATE = f"{_TYPES}/update"
TYPE_DELETE = f"{_TYPES}/delete"
TYPE_ENABLE = f"{_TYPES}/enable"
TYPE_DISABLE = f"{_TYPES}/disable"
_CHANNELS = "POST /web/v1/system/notifications/channels"
CHANNELS_QUERY = f"{_CHANNELS}/query"
CHANNEL_CREATE = f"{_CHANNELS}/create"
CHANNEL_UPDATE = f"{_CHANNELS}/update"
CHANNEL_DELETE = f"{_CHANNELS}/delete"
CHANNEL_ACTIVATE = f"{_CHANNELS}/activate"
CHANNEL_DEACTIVATE = f"{_CHANNELS}/deactivate"
VALIDATE_IMAP = "POST /web/v1/system/notifications/email/validate/imap"
VALIDATE_SMTP = "POST /web/v1/system/notifications/email/validate/smtp"
COMMAND = "POST /web/v1/notification-channels/command/deactivate"

ROLES = "GET /web/v1/system/roles"
ROLE = "GET /web/v1/system/roles/{roleBizId}"
ROLE_PERMISSIONS = "GET /web/v1/system/roles/{roleBizId}/permissions"
FILE = "GET /web/v1/system/files/{fileBizId}"
ORDERS = "GET /web/v1/admin/transfer/query/orders/workspace/{workspaceId}"


def constants(suffix: str) -> str:
    return f"GET /web/v1/system/constants/{suffix}"


OFFERED: Mapping[str, str] = {
    INITIATE: "OP-001",
    SEND: "OP-002",
    COMPLETE: "OP-003",
    LOGOUT: "OP-004",
    REFRESH: "OP-005",
    FORGOT: "OP-006",
    RESET: "OP-007",
    INIT: "OP-008",
    CHANGE: "OP-009",
    PUBLIC_KEY: "OP-010",
    SECURE_SESSION: "OP-011",
    SECURE_CLOSE: "OP-012",
    WHITELIST: "OP-013",
    SET_WHITELIST: "OP-014",
    ENABLE_WHITELIST: "OP-015",
    DISABLE_WHITELIST: "OP-016",
    MFA: "OP-017",
    OTP_SETUP: "OP-018",
    OTP_VERIFY: "OP-019",
    OTP_REVOKE: "OP-020",
    BACKUP_CODES: "OP-021",
    BACKUP_GENERATE: "OP-022",
    SESSIONS: "OP-023",
    SESSION_CONFIG: "OP-024",
    SET_SESSION_CONFIG: "OP-025",
    HISTORY: "OP-026",
    TERMINATE: "OP-027",
    TERMINATE_ALL: "OP-028",
    PROFILE: "OP-029",
    PROFILE_UPDATE: "OP-030",
    OWN_INVITATIONS: "OP-031",
    ACCEPT: "OP-032",
    DECLINE: "OP-033",
    CURRENT_WORKSPACE: "OP-034",
    MY_WORKSPACES: "OP-035",
    ACCOUNTS_QUERY: "OP-036",
    ACCOUNT: "OP-037",
    ACCOUNT_UPDATE: "OP-038",
    ACCOUNT_STATUS: "OP-039",
    ACCOUNT_PASSWORD: "OP-040",
    constants("countries"): "OP-041",
    constants("timezones"): "OP-042",
    constants("us-states"): "OP-043",
    constants("currency-config-statuses"): "OP-044",
    constants("notification-channel-statuses"): "OP-045",
    constants("notification-channel-type-statuses"): "OP-046",
    constants("notification-channel-types"): "OP-047",
    constants("order-statuses"): "OP-048",
    constants("transfer-statuses"): "OP-049",
    constants("user-account-statuses"): "OP-050",
    constants("user-institution-statuses"): "OP-051",
    constants("user-institution-types"): "OP-052",
    constants("user-invitation-statuses"): "OP-053",
    constants("user-join-sources"): "OP-054",
    constants("user-mfa-methods"): "OP-055",
    constants("user-permission-statuses"): "OP-056",
    constants("user-permission-types"): "OP-057",
    constants("user-portal-types"): "OP-058",
    constants("user-workspace-statuses"): "OP-059",
    constants("wallet-statuses"): "OP-060",
    constants("workspace-role-types"): "OP-061",
    GRANTS: "OP-062",
    GRANT: "OP-063",
    REVOKE: "OP-064",
    INSTITUTION: "OP-065",
    INVITATIONS: "OP-066",
    INVITE: "OP-067",
    CANCEL: "OP-068",
    TYPES_QUERY: "OP-069",
    TYPE_CREATE: "OP-070",
    TYPE_UPDATE: "OP-071",
    TYPE_DELETE: "OP-072",
    TYPE_ENABLE: "OP-073",
    TYPE_DISABLE: "OP-074",
    CHANNELS_QUERY: "OP-075",
    CHANNEL_CREATE: "OP-076",
    CHANNEL_UPDATE: "OP-077",
    CHANNEL_DELETE: "OP-078",
    CHANNEL_ACTIVATE: "OP-079",
    CHANNEL_DEACTIVATE: "OP-080",
    VALIDATE_IMAP: "OP-081",
    VALIDATE_SMTP: "OP-082",
    COMMAND: "OP-083",
    ROLES: "OP-084",
    ROLE: "OP-085",
    ROLE_PERMISSIONS: "OP-086",
    FILE: "OP-087",
    ORDERS: "OP-088",
}
