"""The 88 endpoints, row by row, in the specification's order (chapter "Endpoints")."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Literal

Auth = Literal["none", "jwt", "unmarked"]
"""``unmarked``: the endpoint stands in a table that names no authentication and is not among the
pre-login endpoints (Authentication 2), so that it is only implied to need a token."""

Impact = Literal["read-only", "mutating", "disruptive"]
IMPACTS: tuple[Impact, ...] = ("read-only", "mutating", "disruptive")

Answer = Literal["shown", "N2", "N3", "N4", "N5"]


@dataclass(frozen=True)
class Operation:
    """One endpoint. ``data`` names the resource of a successful answer, ``[]`` behind it an array."""

    method: str
    path: str
    auth: Auth
    group: str
    data: str | None = None
    request: str | None = None
    impact: Impact = "read-only"
    encrypted: bool = False
    bot_challenge: bool = False
    gaps: tuple[str, ...] = ()
    number: int = field(default=0, compare=False)

    @cached_property
    def key(self) -> str:
        """The method and the path template, as reports and profiles name an endpoint."""
        return f"{self.method} {self.path}"

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
    def needs_body(self) -> bool:
        return self.request is not None

    def url(self, **parameters: str) -> str:
        """The path with its parameters filled in. KeyError: one is missing."""
        return re.sub(r"{(\w+)}", lambda found: parameters[found[1]], self.path)


SYSTEM = "/web/v1/system"
R: Impact = "read-only"
M: Impact = "mutating"
D: Impact = "disruptive"


def _rows() -> Iterator[Operation]:
    group = "Authentication endpoints"
    auth = f"{SYSTEM}/auth"
    yield Operation("POST", f"{auth}/login/initiate", "none", group, "LoginInitiated", "LoginInitiate")
    yield Operation("POST", f"{auth}/login/mfa/send", "none", group, "MfaSent", "MfaSend")
    yield Operation("POST", f"{auth}/login/complete", "none", group, "LoginCompleted", "LoginComplete")
    yield Operation("POST", f"{auth}/logout", "jwt", group, "LoggedOut", impact=D)
    yield Operation("POST", f"{auth}/token/refresh", "none", group, "TokenPair", "TokenRefresh")
    yield Operation(
        "POST",
        f"{auth}/password/forgot",
        "none",
        group,
        "PasswordForgotten",
        "PasswordForgot",
        M,
        bot_challenge=True,
    )
    yield Operation(
        "POST",
        f"{auth}/password/reset",
        "none",
        group,
        None,
        "Encrypted",
        D,
        encrypted=True,
        gaps=("N5", "N6"),
    )
    yield Operation(
        "POST",
        f"{auth}/password/init",
        "none",
        group,
        None,
        "Encrypted",
        D,
        encrypted=True,
        gaps=("N5", "N6"),
    )
    yield Operation(
        "POST",
        f"{auth}/password/change",
        "jwt",
        group,
        None,
        "Encrypted",
        D,
        encrypted=True,
        gaps=("N5", "N6"),
    )

    group = "Secure channel"
    channel = "/web/v1/secure-channel"
    yield Operation("GET", f"{channel}/public-key", "none", group, "PublicKey", gaps=("N2",))
    yield Operation("POST", f"{channel}/session", "none", group, "SecureSession", "SecureSessionCreate")
    yield Operation("POST", f"{channel}/session/close", "none", group, None, "Open", gaps=("N3",))

    group = "Security endpoints"
    security = f"{SYSTEM}/security"
    yield Operation("GET", f"{security}/ip-whitelist", "jwt", group, "IpWhitelist")
    yield Operation("POST", f"{security}/ip-whitelist", "jwt", group, None, "IpWhitelistSet", D, gaps=("N5",))
    yield Operation("POST", f"{security}/ip-whitelist/enable", "jwt", group, impact=D, gaps=("N5",))
    yield Operation("POST", f"{security}/ip-whitelist/disable", "jwt", group, impact=D, gaps=("N5",))
    yield Operation("GET", f"{security}/mfa", "jwt", group, "MfaSetting[]")
    yield Operation("POST", f"{security}/mfa/otp/setup", "jwt", group, impact=D, gaps=("N5",))
    yield Operation("POST", f"{security}/mfa/otp/verify", "jwt", group, None, "Open", D, gaps=("N1", "N5"))
    yield Operation("POST", f"{security}/mfa/otp/revoke", "jwt", group, impact=D, gaps=("N5",))
    yield Operation("GET", f"{security}/mfa/backup-codes", "jwt", group, "BackupCodeSummary")
    yield Operation("POST", f"{security}/mfa/backup-codes/generate", "jwt", group, impact=D, gaps=("N5",))
    yield Operation("GET", f"{security}/sessions", "jwt", group, "ActiveSession[]")
    yield Operation("GET", f"{security}/sessions/config", "jwt", group, "SessionConfig")
    yield Operation(
        "POST", f"{security}/sessions/config", "jwt", group, None, "SessionConfigSet", M, gaps=("N5",)
    )
    yield Operation("GET", f"{security}/sessions/history", "jwt", group, "LoginHistoryPage")
    yield Operation(
        "POST", f"{security}/sessions/terminate", "jwt", group, None, "Open", D, gaps=("N1", "N5")
    )
    yield Operation("POST", f"{security}/sessions/terminate-all", "jwt", group, impact=D, gaps=("N5",))

    group = "Profile and workspaces"
    profile = f"{SYSTEM}/profile"
    yield Operation("GET", profile, "jwt", group, "Profile")
    yield Operation("POST", f"{profile}/update", "jwt", group, "Profile", "ProfileUpdate", M)
    yield Operation("GET", f"{profile}/invitations", "jwt", group, "Invitation[]")
    yield Operation(
        "POST", f"{profile}/invitations/accept", "jwt", group, None, "InvitationAccept", D, gaps=("N5",)
    )
    yield Operation(
        "POST", f"{profile}/invitations/decline", "jwt", group, None, "InvitationDecline", D, gaps=("N5",)
    )
    yield Operation("GET", f"{SYSTEM}/workspaces/current", "jwt", group, "Workspace")
    yield Operation("GET", f"{SYSTEM}/workspaces/mine", "jwt", group, gaps=("N4",))

    group = "Admin accounts"
    accounts = f"{SYSTEM}/accounts/admin"
    yield Operation("POST", f"{accounts}/query", "unmarked", group, "AccountPage", "AccountQuery")
    yield Operation("GET", f"{accounts}/{{userBizId}}", "unmarked", group, gaps=("N5",))
    yield Operation(
        "POST", f"{accounts}/update", "unmarked", group, None, "AccountUpdate", M, gaps=("N1", "N5")
    )
    yield Operation("POST", f"{accounts}/status", "unmarked", group, None, "Open", D, gaps=("N1", "N5"))
    yield Operation(
        "POST", f"{accounts}/password/reset", "unmarked", group, None, "Open", D, gaps=("N1", "N5")
    )

    group = "Constants"
    for suffix in CONSTANT_LISTS:
        yield Operation(
            "GET", f"{SYSTEM}/constants/{suffix}", "unmarked", group, f"{CONSTANT_LISTS[suffix]}[]"
        )

    group = "Currency grants, institutions, invitations"
    yield Operation("GET", f"{SYSTEM}/currency-grants", "unmarked", group, "CurrencyGrant[]")
    yield Operation(
        "POST", f"{SYSTEM}/currency-grants", "unmarked", group, None, "Open", M, gaps=("N1", "N5")
    )
    yield Operation(
        "POST", f"{SYSTEM}/currency-grants/revoke", "unmarked", group, None, "Open", M, gaps=("N1", "N5")
    )
    yield Operation("GET", f"{SYSTEM}/institutions/{{institutionBizId}}", "unmarked", group, "Institution")
    yield Operation("GET", f"{SYSTEM}/invitations", "unmarked", group, "InvitationRecord[]")
    yield Operation(
        "POST", f"{SYSTEM}/invitations", "unmarked", group, None, "InvitationCreate", M, gaps=("N5",)
    )
    yield Operation(
        "POST", f"{SYSTEM}/invitations/cancel", "unmarked", group, None, "InvitationCancel", M, gaps=("N5",)
    )

    group = "Notifications"
    notifications = f"{SYSTEM}/notifications"
    yield Operation(
        "POST",
        f"{notifications}/channel-types/query",
        "unmarked",
        group,
        "ChannelTypePage",
        "ChannelTypeQuery",
    )
    for verb in ("create", "update", "delete", "enable", "disable"):
        yield Operation(
            "POST",
            f"{notifications}/channel-types/{verb}",
            "unmarked",
            group,
            None,
            "Open",
            M,
            gaps=("N1", "N5"),
        )
    yield Operation(
        "POST", f"{notifications}/channels/query", "unmarked", group, "ChannelPage", "ChannelQuery"
    )
    for verb in ("create", "update", "delete", "activate", "deactivate"):
        yield Operation(
            "POST", f"{notifications}/channels/{verb}", "unmarked", group, None, "Open", M, gaps=("N1", "N5")
        )
    yield Operation(
        "POST", f"{notifications}/email/validate/imap", "unmarked", group, None, "Open", M, gaps=("N1", "N5")
    )
    yield Operation(
        "POST", f"{notifications}/email/validate/smtp", "unmarked", group, None, "Open", M, gaps=("N1", "N5")
    )
    yield Operation(
        "POST",
        "/web/v1/notification-channels/command/deactivate",
        "jwt",
        group,
        "NotificationChannel",
        "ChannelDeactivate",
        M,
        bot_challenge=True,
    )

    group = "Roles"
    yield Operation("GET", f"{SYSTEM}/roles", "jwt", group, "Role[]")
    yield Operation("GET", f"{SYSTEM}/roles/{{roleBizId}}", "jwt", group, "Role")
    yield Operation("GET", f"{SYSTEM}/roles/{{roleBizId}}/permissions", "jwt", group, "RolePermission[]")

    yield Operation("GET", f"{SYSTEM}/files/{{fileBizId}}", "jwt", "Files", "FileRecord")

    yield Operation(
        "GET",
        "/web/v1/admin/transfer/query/orders/workspace/{workspaceId}",
        "jwt",
        "Transfer orders",
        "TransferOrderPage",
        bot_challenge=True,
    )


CONSTANT_LISTS: Mapping[str, str] = MappingProxyType(
    {
        "countries": "Country",
        "timezones": "Timezone",
        "us-states": "UsState",
        "currency-config-statuses": "Constant",
        "notification-channel-statuses": "Constant",
        "notification-channel-type-statuses": "Constant",
        "notification-channel-types": "Constant",
        "order-statuses": "Constant",
        "transfer-statuses": "Constant",
        "user-account-statuses": "Constant",
        "user-institution-statuses": "Constant",
        "user-institution-types": "Constant",
        "user-invitation-statuses": "Constant",
        "user-join-sources": "Constant",
        "user-mfa-methods": "Constant",
        "user-permission-statuses": "Constant",
        "user-permission-types": "Constant",
        "user-portal-types": "Constant",
        "user-workspace-statuses": "Constant",
        "wallet-statuses": "Constant",
        "workspace-role-types": "Constant",
    }
)
"""The path suffix of each constants list, with the model of its items."""

OPERATIONS: tuple[Operation, ...] = tuple(
    Operation(**{**{name: getattr(row, name) for name in row.__dataclass_fields__}, "number": number})
    for number, row in enumerate(_rows(), 1)
)

BY_KEY: Mapping[str, Operation] = MappingProxyType({operation.key: operation for operation in OPERATIONS})

_TEMPLATED = tuple(operation for operation in OPERATIONS if operation.parameters)

_TEMPLATES = re.compile(
    "|".join(f"({row.method} " + re.sub(r"{\w+}", "[^/]+", row.path) + r")\Z" for row in _TEMPLATED)
)
"""Method and path of those with parameters, each as a group."""


def operation(key: str) -> Operation:
    """The row named by method and path template. KeyError: it is none of the 88."""
    return BY_KEY[key]


@lru_cache(maxsize=4096)
def operation_of(method: str, path: str) -> Operation | None:
    """The row that a request's method and path belong to; a prefix before ``/web/v1/`` is passed over."""
    start = path.find("/web/v1/")
    if start < 0:
        return None
    path = path[start:].rstrip("/")
    asked = f"{method} {path}"
    fixed = BY_KEY.get(asked)
    if fixed is not None:
        return fixed
    found = _TEMPLATES.match(asked)
    return _TEMPLATED[found.lastindex - 1] if found is not None and found.lastindex else None
