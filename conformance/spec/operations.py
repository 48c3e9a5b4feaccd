"""The 88 endpoints, row by row, in the specification's order (chapter "Endpoints")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Literal

from conformance.impacts import IMPACTS as IMPACTS
from conformance.impacts import Impact as Impact
from conformance.spec import endpoints as op

Auth = Literal["none", "jwt", "unmarked"]
"""``unmarked``: the endpoint stands in a table that names no authentication and is not among the
pre-login endpoints (Authentication 2), so that it is only implied to need a token."""


@dataclass(frozen=True)
class Operation:
    """One endpoint of the portal, and the requirement that the portal offers it.

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
        Operation("OP-001", op.LOGIN_INITIATE, "none", "LoginInitiated", "LoginInitiate"),
        Operation("OP-002", op.LOGIN_MFA_SEND, "none", "MfaSent", "MfaSend"),
        Operation("OP-003", op.LOGIN_COMPLETE, "none", "LoginCompleted", "LoginComplete"),
        Operation("OP-004", op.LOGOUT, "jwt", "LoggedOut", impact=D),
        Operation("OP-005", op.TOKEN_REFRESH, "none", "TokenPair", "TokenRefresh"),
        Operation(
            "OP-006",
            op.PASSWORD_FORGOT,
            "none",
            "PasswordForgotten",
            "PasswordForgot",
            impact=M,
            bot_challenge=True,
        ),
        Operation("OP-007", op.PASSWORD_RESET, "none", request="Encrypted", impact=D, gaps=N5_N6),
        Operation("OP-008", op.PASSWORD_INIT, "none", request="Encrypted", impact=D, gaps=N5_N6),
        Operation("OP-009", op.PASSWORD_CHANGE, "jwt", request="Encrypted", impact=D, gaps=N5_N6),
    ),
    *_group(
        "Secure channel",
        Operation("OP-010", op.PUBLIC_KEY, "none", "PublicKey", gaps=("N2",)),
        Operation("OP-011", op.SECURE_SESSION, "none", "SecureSession", "SecureSessionCreate"),
        Operation("OP-012", op.SECURE_SESSION_CLOSE, "none", request="Open", gaps=("N3",)),
    ),
    *_group(
        "Security endpoints",
        Operation("OP-013", op.IP_WHITELIST, "jwt", "IpWhitelist"),
        Operation("OP-014", op.IP_WHITELIST_SET, "jwt", request="IpWhitelistSet", impact=D, gaps=N5),
        Operation("OP-015", op.IP_WHITELIST_ENABLE, "jwt", impact=D, gaps=N5),
        Operation("OP-016", op.IP_WHITELIST_DISABLE, "jwt", impact=D, gaps=N5),
        Operation("OP-017", op.MFA, "jwt", "MfaSetting[]"),
        Operation("OP-018", op.OTP_SETUP, "jwt", impact=D, gaps=N5),
        Operation("OP-019", op.OTP_VERIFY, "jwt", request="Open", impact=D, gaps=N1_N5),
        Operation("OP-020", op.OTP_REVOKE, "jwt", impact=D, gaps=N5),
        Operation("OP-021", op.BACKUP_CODES, "jwt", "BackupCodeSummary"),
        Operation("OP-022", op.BACKUP_CODES_GENERATE, "jwt", impact=D, gaps=N5),
        Operation("OP-023", op.SESSIONS, "jwt", "ActiveSession[]"),
        Operation("OP-024", op.SESSIONS_CONFIG, "jwt", "SessionConfig"),
        Operation("OP-025", op.SESSIONS_CONFIG_SET, "jwt", request="SessionConfigSet", impact=M, gaps=N5),
        Operation("OP-026", op.SESSIONS_HISTORY, "jwt", "LoginHistoryPage"),
        Operation("OP-027", op.SESSIONS_TERMINATE, "jwt", request="Open", impact=D, gaps=N1_N5),
        Operation("OP-028", op.SESSIONS_TERMINATE_ALL, "jwt", impact=D, gaps=N5),
    ),
    *_group(
        "Profile and workspaces",
        Operation("OP-029", op.PROFILE, "jwt", "Profile"),
        Operation("OP-030", op.PROFILE_UPDATE, "jwt", "Profile", "ProfileUpdate", impact=M),
        Operation("OP-031", op.OWN_INVITATIONS, "jwt", "Invitation[]"),
        Operation("OP-032", op.INVITATION_ACCEPT, "jwt", request="InvitationAccept", impact=D, gaps=N5),
        Operation("OP-033", op.INVITATION_DECLINE, "jwt", request="InvitationDecline", impact=D, gaps=N5),
        Operation("OP-034", op.WORKSPACES_CURRENT, "jwt", "Workspace"),
        Operation("OP-035", op.WORKSPACES_MINE, "jwt", gaps=("N4",)),
    ),
    *_group(
        "Admin accounts",
        Operation("OP-036", op.ACCOUNTS_QUERY, "unmarked", "AccountPage", "AccountQuery"),
        Operation("OP-037", op.ACCOUNT, "unmarked", gaps=N5),
        Operation("OP-038", op.ACCOUNT_UPDATE, "unmarked", request="AccountUpdate", impact=M, gaps=N1_N5),
        Operation("OP-039", op.ACCOUNT_STATUS, "unmarked", request="Open", impact=D, gaps=N1_N5),
        Operation("OP-040", op.ACCOUNT_PASSWORD_RESET, "unmarked", request="Open", impact=D, gaps=N1_N5),
    ),
    *_group(
        "Constants",
        Operation("OP-041", op.COUNTRIES, "unmarked", "Country[]"),
        Operation("OP-042", op.TIMEZONES, "unmarked", "Timezone[]"),
        Operation("OP-043", op.US_STATES, "unmarked", "UsState[]"),
        Operation("OP-044", op.CURRENCY_CONFIG_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-045", op.NOTIFICATION_CHANNEL_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-046", op.NOTIFICATION_CHANNEL_TYPE_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-047", op.NOTIFICATION_CHANNEL_TYPES, "unmarked", "Constant[]"),
        Operation("OP-048", op.ORDER_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-049", op.TRANSFER_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-050", op.USER_ACCOUNT_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-051", op.USER_INSTITUTION_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-052", op.USER_INSTITUTION_TYPES, "unmarked", "Constant[]"),
        Operation("OP-053", op.USER_INVITATION_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-054", op.USER_JOIN_SOURCES, "unmarked", "Constant[]"),
        Operation("OP-055", op.USER_MFA_METHODS, "unmarked", "Constant[]"),
        Operation("OP-056", op.USER_PERMISSION_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-057", op.USER_PERMISSION_TYPES, "unmarked", "Constant[]"),
        Operation("OP-058", op.USER_PORTAL_TYPES, "unmarked", "Constant[]"),
        Operation("OP-059", op.USER_WORKSPACE_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-060", op.WALLET_STATUSES, "unmarked", "Constant[]"),
        Operation("OP-061", op.WORKSPACE_ROLE_TYPES, "unmarked", "Constant[]"),
    ),
    *_group(
        "Currency grants, institutions, invitations",
        Operation("OP-062", op.CURRENCY_GRANTS, "unmarked", "CurrencyGrant[]"),
        Operation("OP-063", op.CURRENCY_GRANT, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-064", op.CURRENCY_GRANT_REVOKE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-065", op.INSTITUTION, "unmarked", "Institution"),
        Operation("OP-066", op.INVITATIONS, "unmarked", "InvitationRecord[]"),
        Operation("OP-067", op.INVITE, "unmarked", request="InvitationCreate", impact=M, gaps=N5),
        Operation("OP-068", op.INVITATION_CANCEL, "unmarked", request="InvitationCancel", impact=M, gaps=N5),
    ),
    *_group(
        "Notifications",
        Operation("OP-069", op.CHANNEL_TYPES_QUERY, "unmarked", "ChannelTypePage", "ChannelTypeQuery"),
        Operation("OP-070", op.CHANNEL_TYPE_CREATE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-071", op.CHANNEL_TYPE_UPDATE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-072", op.CHANNEL_TYPE_DELETE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-073", op.CHANNEL_TYPE_ENABLE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-074", op.CHANNEL_TYPE_DISABLE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-075", op.CHANNELS_QUERY, "unmarked", "ChannelPage", "ChannelQuery"),
        Operation("OP-076", op.CHANNEL_CREATE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-077", op.CHANNEL_UPDATE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-078", op.CHANNEL_DELETE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-079", op.CHANNEL_ACTIVATE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-080", op.CHANNEL_DEACTIVATE, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-081", op.EMAIL_VALIDATE_IMAP, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation("OP-082", op.EMAIL_VALIDATE_SMTP, "unmarked", request="Open", impact=M, gaps=N1_N5),
        Operation(
            "OP-083",
            op.CHANNEL_COMMAND_DEACTIVATE,
            "jwt",
            "NotificationChannel",
            "ChannelDeactivate",
            impact=M,
            bot_challenge=True,
        ),
    ),
    *_group(
        "Roles",
        Operation("OP-084", op.ROLES, "jwt", "Role[]"),
        Operation("OP-085", op.ROLE, "jwt", "Role"),
        Operation("OP-086", op.ROLE_PERMISSIONS, "jwt", "RolePermission[]"),
    ),
    *_group("Files", Operation("OP-087", op.FILE, "jwt", "FileRecord")),
    *_group(
        "Transfer orders",
        Operation("OP-088", op.TRANSFER_ORDERS, "jwt", "TransferOrderPage", bot_challenge=True),
    ),
)

BY_KEY: Mapping[str, Operation] = MappingProxyType({operation.key: operation for operation in OPERATIONS})

_AROUND_PARAMETER: Mapping[tuple[str, ...], Operation] = MappingProxyType(
    {tuple(re.split(r"/{\w+}/?", row.key)): row for row in OPERATIONS if row.parameters}
)
"""The rows with a parameter, by method and path before it, and what follows it."""


UNDESCRIBED = "undescribed"
"""Stands for the key of an operation where a path of the portal is none of the 88."""

_NAME = r"(?:[A-Za-z]{1,40}\d{0,2}|[A-Za-z]\d{1,2}[A-Za-z])"
_WORD = re.compile(rf"{_NAME}(?:[-_.](?:{_NAME}|\d{{1,4}}))*", re.ASCII)
"""A segment of a path that may name something, also ``i18n`` and ``k8s``; any other is taken for an id."""

_CODE = re.compile(r"[A-Z][A-Z0-9_-]+", re.ASCII)
"""A code such as ``USD`` or ``WLT-1001``, which is an id as well."""


def is_word(segment: str) -> bool:
    """Whether a segment of a path, or a name in an object, names something, and is no id."""
    return _WORD.fullmatch(segment) is not None and _CODE.fullmatch(segment) is None


def operation(key: str) -> Operation:
    """The row named by method and path template. KeyError: it is none of the 88."""
    return BY_KEY[key]


@lru_cache(maxsize=4096)
def operation_of(method: str, path: str) -> Operation | None:
    """The row that a request's method and path belong to; a prefix before ``/web/v1/`` is ignored."""
    start = path.find(op.PORTAL_PATH)
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


@lru_cache(maxsize=4096)
def endpoint_key(method: str, path: str) -> str | None:
    """The key of the operation that a request's method and path belong to. Of another path of the portal the
    method and a template, in which ``{id}`` stands for each id; None of a path outside the portal.

    The specification describes 88 of 199 endpoints, and states the general rules of all ("What the service
    does").
    """
    row = operation_of(method, path)
    start = path.find(op.PORTAL_PATH)
    if row is not None or start < 0:
        return None if row is None else row.key
    segments = path[start:].strip("/").split("/")
    words = (name if is_word(name) else "{id}" for name in segments[:MOST_SEGMENTS])
    return f"{method} /{'/'.join(words)}"


MOST_SEGMENTS = 12
"""Segments of a path in its template."""
