"""The 88 endpoints, row by row, in the specification's order (chapter "Endpoints")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Literal

from conformance.spec import endpoints

Auth = Literal["none", "jwt", "unmarked"]
"""``unmarked``: the endpoint stands in a table that names no authentication and is not among the
pre-login endpoints (Authentication 2), so that it is only implied to need a token."""

Impact = Literal["read-only", "mutating", "disruptive"]
IMPACTS: tuple[Impact, ...] = ("read-only", "mutating", "disruptive")


@dataclass(frozen=True)
class Operation:
    """One endpoint, and the requirement that it is offered.

    ``key`` is the method and the path template, as reports and profiles name an endpoint. ``data`` names the
    resource of a successful answer, ``[]`` behind it an array; ``group`` is the chapter's heading.
    """

    requirement: str
    key: str
    auth: Auth
    data: str | None = None
    request: str | None = None
    impact: Impact = "read-only"
    bot_challenge: bool = False
    gaps: tuple[str, ...] = ()
    group: str = ""

    @cached_property
    def number(self) -> int:
        """The number in the requirement's id: it stays when a row is inserted before this one."""
        return int(self.requirement.rpartition("-")[2])

    @cached_property
    def method(self) -> str:
        return self.key.partition(" ")[0]

    @cached_property
    def path(self) -> str:
        """The path template."""
        return self.key.partition(" ")[2]

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names in braces in the path."""
        return tuple(re.findall(r"{(\w+)}", self.path))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", self.path) + r"/?\Z")

    @property
    def is_prelogin(self) -> bool:
        return self.auth == "none"

    @property
    def encrypted(self) -> bool:
        return self.request == "Encrypted"

    @property
    def needs_body(self) -> bool:
        return self.request is not None

    def url(self, **parameters: str) -> str:
        """The path with its parameters filled in. KeyError: one is missing."""
        return re.sub(r"{(\w+)}", lambda match: parameters[match[1]], self.path)


M: Impact = "mutating"
D: Impact = "disruptive"
N5 = ("N5",)
N1_N5 = ("N1", "N5")
N5_N6 = ("N5", "N6")


def _group(name: str, *rows: Operation) -> tuple[Operation, ...]:
    return tuple(replace(row, group=name) for row in rows)


OPERATIONS: tuple[Operation, ...] = (
    *_group(
        "Authentication endpoints",
        Operation("OP-001", endpoints.LOGIN_INITIATE, "none", "LoginInitiated", "LoginInitiate"),
        Operation("OP-002", endpoints.LOGIN_MFA_SEND, "none", "MfaSent", "MfaSend"),
        Operation("OP-003", endpoints.LOGIN_COMPLETE, "none", "LoginCompleted", "LoginComplete"),
        Operation("OP-004", endpoints.LOGOUT, "jwt", "LoggedOut", impact=D),
        Operation("OP-005", endpoints.TOKEN_REFRESH, "none", "TokenPair", "TokenRefresh"),
        Operation(
            "OP-006",
            endpoints.PASSWORD_FORGOT,
            "none",
            "PasswordForgotten",
            "PasswordForgot",
            impact=M,
            bot_challenge=True,
        ),
        Operation("OP-007", endpoints.PASSWORD_RESET, "none", request="Encrypted", impact=D, gaps=N5_N6),
        Operation("OP-008", endpoints.PASSWORD_INIT, "none", request="Encrypted", impact=D, gaps=N5_N6),
        Operation("OP-009", endpoints.PASSWORD_CHANGE, "jwt", request="Encrypted", impact=D, gaps=N5_N6),
    ),
    *_group(
        "Secure channel",
        Operation("OP-010", endpoints.PUBLIC_KEY, "none", "PublicKey", gaps=("N2",)),
        Operation("OP-011", endpoints.SECURE_SESSION, "none", "SecureSession", "SecureSessionCreate"),
        Operation("OP-012", endpoints.SECURE_SESSION_CLOSE, "none", request="Open", gaps=("N3",)),
    ),
    *_group(
        "Security endpoints",
        Operation("OP-013", endpoints.IP_WHITELIST, "jwt", "IpWhitelist"),
        Operation("OP-014", endpoints.IP_WHITELIST_SET, "jwt", request="IpWhitelistSet", impact=D, gaps=N5),
        Operation("OP-015", endpoints.IP_WHITELIST_ENABLE, "jwt", impact=D, gaps=N5),
        Operation("OP-016", endpoints.IP_WHITELIST_DISABLE, "jwt", impact=D, gaps=N5),
        Operation("OP-017", endpoints.MFA, "jwt", "MfaSetting[]"),
        Operation("OP-018", endpoints.OTP_SETUP, "jwt", impact=D, gaps=N5),
        Operation("OP-019", endpoints.OTP_VERIFY, "jwt", request="Open", impact=D, gaps=N1_N5),
        Operation("OP-020", endpoints.OTP_REVOKE, "jwt", impact=D, gaps=N5),
        Operation("OP-021", endpoints.BACKUP_CODES, "jwt", "BackupCodeSummary"),
        Operation("OP-022", endpoints.BACKUP_CODES_GENERATE, "jwt", impact=D, gaps=N5),
        Operation("OP-023", endpoints.SESSIONS, "jwt", "ActiveSession[]"),
        Operation("OP-024", endpoints.SESSIONS_CONFIG, "jwt", "SessionConfig"),
        Operation(
            "OP-025", endpoints.SESSIONS_CONFIG_SET, "jwt", request="SessionConfigSet", impact=M, gaps=N5
        ),
        Operation("OP-026", endpoints.SESSIONS_HISTORY, "jwt", "LoginHistoryPage"),
        Operation("OP-027", endpoints.SESSIONS_TERMINATE, "jwt", request="Open", impact=D, gaps=N1_N5),
        Operation("OP-028", endpoints.SESSIONS_TERMINATE_ALL, "jwt", impact=D, gaps=N5),
    ),
    *_group(
        "Profile and workspaces",
        Operation("OP-029", endpoints.PROFILE, "jwt", "Profile"),
        Operation("OP-030", endpoints.PROFILE_UPDATE, "jwt", "Profile", "ProfileUpdate", impact=M),
        Operation("OP-031", endpoints.OWN_INVITATIONS, "jwt", "Invitation[]"),
        Operation(
            "OP-032", endpoints.INVITATION_ACCEPT, "jwt", request="InvitationAccept", impact=D, gaps=N5
        ),
        Operation(
            "OP-033", endpoints.INVITATION_DECLINE, "jwt", request="InvitationDecline", impact=D, gaps=N5
        ),
        Operation("OP-034", endpoints.WORKSPACES_CURRENT, "jwt", "Workspace"),
        Operation("OP-035", endpoints.WORKSPACES_MINE, "jwt", gaps=("N4",)),
    ),
    *_group(
        "Admin accounts",
        Operation("OP-036", endpoints.ACCOUNTS_QUERY, "unmarked", "AccountPage", "AccountQuery"),
        Operation("OP-037", endpoints.ACCOUNT, "unmarked", gaps=N5),
        Operation(
            "OP-038", endpoints.ACCOUNT_UPDATE, "unmarked", request="AccountUpdate", impact=M, gaps=N1_N5
        ),
        Operation("OP-039", endpoints.ACCOUNT_STATUS, "unmarked", request="Open", impact=D, gaps=N1_N5),
        Operation(
            "OP-040", endpoints.ACCOUNT_PASSWORD_RESET, "unmarked", request="Open", impact=D, gaps=N1_N5
        ),
    ),
    *_group(
        "Constants",
        Operation("OP-041", endpoints.COUNTRIES, "unmarked", "Country[]"),
        Operation("OP-042", endpoints.TIMEZONES, "unmarked", "Timezone[]"),
        Operation("OP-043", endpoints.US_STATES, "unmarked", "UsState[]"),
        Operation("OP-044", endpoints.CURRENCY_CONFIG_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-045", endpoints.NOTIFICATION_CHANNEL_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-046", endpoints.NOTIFICATION_CHANNEL_TYPE_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-047", endpoints.NOTIFICATION_CHANNEL_TYPES, "unmarked", "Constant[]"),
        Operation("OP-048", endpoints.ORDER_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-049", endpoints.TRANSFER_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-050", endpoints.USER_ACCOUNT_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-051", endpoints.USER_INSTITUTION_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-052", endpoints.USER_INSTITUTION_TYPES, "unmarked", "Constant[]"),
        Operation("OP-053", endpoints.USER_INVITATION_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-054", endpoints.USER_JOIN_SOURCES, "unmarked", "Constant[]"),
        Operation("OP-055", endpoints.USER_MFA_METHODS, "unmarked", "Constant[]"),
        Operation("OP-056", endpoints.USER_PERMISSION_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-057", endpoints.USER_PERMISSION_TYPES, "unmarked", "Constant[]"),
        Operation("OP-058", endpoints.USER_PORTAL_TYPES, "unmarked", "Constant[]"),
        Operation("OP-059", endpoints.USER_WORKSPACE_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-060", endpoints.WALLET_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-061", endpoints.WORKSPACE_ROLE_TYPES, "unmarked", "Constant[]"),
    ),
    *_group(
        "Currency grants, institutions, invitations",
        Operation("OP-062", endpoints.CURRENCY_GRANTS, "unmarked", "CurrencyGrant[]"),
        Operation("OP-063", endpoints.CURRENCY_GRANT, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation(
            "OP-064", endpoints.CURRENCY_GRANT_REVOKE, "unmarked", request="Open", impact=M, gaps=N1_N5
        ),
        Operation("OP-065", endpoints.INSTITUTION, "unmarked", "Institution"),
        Operation("OP-066", endpoints.INVITATIONS, "unmarked", "InvitationRecord[]"),
        Operation("OP-067", endpoints.INVITE, "unmarked", request="InvitationCreate", impact=M, gaps=N5),
        Operation(
            "OP-068", endpoints.INVITATION_CANCEL, "unmarked", request="InvitationCancel", impact=M, gaps=N5
        ),
    ),
    *_group(
        "Notifications",
        Operation("OP-069", endpoints.CHANNEL_TYPES_QUERY, "unmarked", "ChannelTypePage", "ChannelTypeQuery"),
        Operation("OP-070", endpoints.CHANNEL_TYPE_CREATE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-071", endpoints.CHANNEL_TYPE_UPDATE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-072", endpoints.CHANNEL_TYPE_DELETE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-073", endpoints.CHANNEL_TYPE_ENABLE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-074", endpoints.CHANNEL_TYPE_DISABLE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-075", endpoints.CHANNELS_QUERY, "unmarked", "ChannelPage", "ChannelQuery"),
        Operation("OP-076", endpoints.CHANNEL_CREATE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-077", endpoints.CHANNEL_UPDATE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-078", endpoints.CHANNEL_DELETE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-079", endpoints.CHANNEL_ACTIVATE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-080", endpoints.CHANNEL_DEACTIVATE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-081", endpoints.EMAIL_VALIDATE_IMAP, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-082", endpoints.EMAIL_VALIDATE_SMTP, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation(
            "OP-083",
            endpoints.CHANNEL_COMMAND_DEACTIVATE,
            "jwt",
            "NotificationChannel",
            "ChannelDeactivate",
            impact=M,
            bot_challenge=True,
        ),
    ),
    *_group(
        "Roles",
        Operation("OP-084", endpoints.ROLES, "jwt", "Role[]"),
        Operation("OP-085", endpoints.ROLE, "jwt", "Role"),
        Operation("OP-086", endpoints.ROLE_PERMISSIONS, "jwt", "RolePermission[]"),
    ),
    *_group("Files", Operation("OP-087", endpoints.FILE, "jwt", "FileRecord")),
    *_group(
        "Transfer orders",
        Operation("OP-088", endpoints.TRANSFER_ORDERS, "jwt", "TransferOrderPage", bot_challenge=True),
    ),
)

BY_KEY: Mapping[str, Operation] = MappingProxyType({operation.key: operation for operation in OPERATIONS})

_AROUND_PARAMETER: Mapping[tuple[str, ...], Operation] = MappingProxyType(
    {tuple(re.split(r"/{\w+}/?", row.key)): row for row in OPERATIONS if row.parameters}
)
"""The rows with a parameter, by method and path before it, and what follows it."""


def operation(key: str) -> Operation:
    """The row named by method and path template. KeyError: it is none of the 88."""
    return BY_KEY[key]


@lru_cache(maxsize=4096)
def operation_of(method: str, path: str) -> Operation | None:
    """The row that a request's method and path belong to; a prefix before ``/web/v1/`` is ignored."""
    start = path.find(endpoints.PORTAL_PATH)
    if start < 0:
        return None
    requested = f"{method} {path[start:].rstrip('/')}"
    row = BY_KEY.get(requested)
    if row is None:
        before, _, last = requested.rpartition("/")
        row = _AROUND_PARAMETER.get((before, ""))
        if row is None:
            before, _, value = before.rpartition("/")
            row = _AROUND_PARAMETER.get((before, last)) if value else None
    return row
