"""The 88 endpoints, in the specification's order: path, who may call, what it takes, what handles it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from reference_impl import bodies, errors
from reference_impl.enumerations import CONSTANTS
from reference_impl.errors import Refusal
from reference_impl.handlers import (
    accounts,
    authentication,
    constants,
    files,
    grants,
    notifications,
    passwords,
    profile,
    roles,
    secure_channel,
    security,
    transfer_orders,
)
from reference_impl.portal import Caller, Portal
from reference_impl.shapes import NOTHING, Body, Shape

Handler = Callable[[Portal, Caller, Body], Any]
Auth = Literal["none", "JWT"]

# What a success answers. SHOWN: as the specification shows it, or what the caller cannot do without.
# The rest is gap N5 and follows ``Choices.changes_answer``.
Answer = Literal["shown", "created", "changed"]

NONE: Auth = "none"
JWT: Auth = "JWT"


@dataclass(frozen=True, slots=True)
class Row:
    method: str
    path: str
    auth: Auth
    handler: Handler
    takes: Shape = NOTHING
    permission: str | None = None
    answer: Answer = "shown"
    bot: Literal["", "body", "header"] = ""  # where the bot-challenge token is looked for
    sealed: bool = False  # the body must come encrypted
    dialect: errors.Dialect = field(default_factory=lambda: errors.NAMED)
    version: str = "2.0.0"

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"


def get(path: str, auth: Auth, handler: Handler, **more: Any) -> Row:
    return Row("GET", path, auth, handler, **more)


def post(path: str, auth: Auth, handler: Handler, **more: Any) -> Row:
    return Row("POST", path, auth, handler, **more)


def create(path: str, handler: Handler, permission: str, *, takes: Shape) -> Row:
    return Row("POST", path, JWT, handler, takes, permission, answer="created")


def change(path: str, handler: Handler, permission: str | None = None, *, takes: Shape = NOTHING) -> Row:
    return Row("POST", path, JWT, handler, takes, permission, answer="changed")


def sealed(path: str, auth: Auth, handler: Handler, *, takes: Shape) -> Row:
    return Row("POST", path, auth, handler, takes, answer="changed", sealed=True)


_AUTH = "/web/v1/system/auth"
AUTHENTICATION = (
    post(f"{_AUTH}/login/initiate", NONE, authentication.initiate, takes=bodies.LOGIN_INITIATE),
    post(f"{_AUTH}/login/mfa/send", NONE, authentication.send, takes=bodies.MFA_SEND),
    post(f"{_AUTH}/login/complete", NONE, authentication.complete, takes=bodies.LOGIN_COMPLETE),
    post(f"{_AUTH}/logout", JWT, authentication.logout),
    post(f"{_AUTH}/token/refresh", NONE, authentication.refresh, takes=bodies.TOKEN_REFRESH),
    post(f"{_AUTH}/password/forgot", NONE, passwords.forgot, takes=bodies.PASSWORD_FORGOT, bot="body"),
    sealed(f"{_AUTH}/password/reset", NONE, passwords.by_code, takes=bodies.PASSWORD_BY_CODE),
    sealed(f"{_AUTH}/password/init", NONE, passwords.by_code, takes=bodies.PASSWORD_BY_CODE),
    sealed(f"{_AUTH}/password/change", JWT, passwords.change, takes=bodies.PASSWORD_CHANGE),
)

_SESSION: dict[str, Any] = {"dialect": errors.SECURE_CHANNEL, "version": "1.3.0"}
_CHANNEL_PATH = "/web/v1/secure-channel"
SECURE_CHANNEL = (
    get(f"{_CHANNEL_PATH}/public-key", NONE, secure_channel.public_key, dialect=errors.SECURE_CHANNEL),
    post(f"{_CHANNEL_PATH}/session", NONE, secure_channel.session, takes=bodies.SECURE_SESSION, **_SESSION),
    post(
        f"{_CHANNEL_PATH}/session/close",
        NONE,
        secure_channel.close,
        takes=bodies.SECURE_SESSION_CLOSE,
        answer="changed",
        dialect=errors.SECURE_CHANNEL,
    ),
)

_SECURITY = "/web/v1/system/security"
SECURITY = (
    get(f"{_SECURITY}/ip-whitelist", JWT, security.whitelist),
    change(f"{_SECURITY}/ip-whitelist", security.set_whitelist, takes=bodies.IP_WHITELIST),
    change(f"{_SECURITY}/ip-whitelist/enable", security.enable_whitelist),
    change(f"{_SECURITY}/ip-whitelist/disable", security.disable_whitelist),
    get(f"{_SECURITY}/mfa", JWT, security.mfa),
    post(f"{_SECURITY}/mfa/otp/setup", JWT, security.set_up_otp),
    change(f"{_SECURITY}/mfa/otp/verify", security.verify_otp, takes=bodies.OTP_VERIFY),
    change(f"{_SECURITY}/mfa/otp/revoke", security.revoke_otp),
    get(f"{_SECURITY}/mfa/backup-codes", JWT, security.backup_codes),
    post(f"{_SECURITY}/mfa/backup-codes/generate", JWT, security.generate_backup_codes),
    get(f"{_SECURITY}/sessions", JWT, security.sessions),
    get(f"{_SECURITY}/sessions/config", JWT, security.config),
    change(f"{_SECURITY}/sessions/config", security.set_config, takes=bodies.SESSIONS_CONFIG),
    get(f"{_SECURITY}/sessions/history", JWT, security.history, takes=bodies.HISTORY),
    change(f"{_SECURITY}/sessions/terminate", security.terminate, takes=bodies.SESSION_TERMINATE),
    change(f"{_SECURITY}/sessions/terminate-all", security.terminate_all),
)

_PROFILE = "/web/v1/system/profile"
PROFILE_AND_WORKSPACES = (
    get(_PROFILE, JWT, profile.profile),
    post(f"{_PROFILE}/update", JWT, profile.update, takes=bodies.PROFILE_UPDATE),
    get(f"{_PROFILE}/invitations", JWT, profile.own_invitations, takes=bodies.STATUSES),
    change(f"{_PROFILE}/invitations/accept", profile.accept, takes=bodies.INVITATION_ACCEPT),
    change(f"{_PROFILE}/invitations/decline", profile.decline, takes=bodies.INVITATION_CLOSE),
    get("/web/v1/system/workspaces/current", JWT, profile.current_workspace),
    get("/web/v1/system/workspaces/mine", JWT, profile.workspaces),
)

_ACCOUNTS = "/web/v1/system/accounts/admin"
ACCOUNTS = (
    post(f"{_ACCOUNTS}/query", JWT, accounts.query, takes=bodies.ACCOUNTS_QUERY, permission="account:read"),
    get(f"{_ACCOUNTS}/{{userBizId}}", JWT, accounts.account, permission="account:read"),
    change(f"{_ACCOUNTS}/update", accounts.update, "account:write", takes=bodies.ACCOUNT_UPDATE),
    change(f"{_ACCOUNTS}/status", accounts.set_status, "account:write", takes=bodies.ACCOUNT_STATUS),
    change(
        f"{_ACCOUNTS}/password/reset",
        accounts.reset_password,
        "account:write",
        takes=bodies.ACCOUNT_PASSWORD_RESET,
    ),
)

CONSTANTS_LISTS = tuple(
    get(f"/web/v1/system/constants/{name}", JWT, constants.listed(name), permission="constants:read")
    for name in CONSTANTS
)

_GRANTS = "/web/v1/system/currency-grants"
_INVITATIONS = "/web/v1/system/invitations"
GRANTS_INSTITUTIONS_INVITATIONS = (
    get(_GRANTS, JWT, grants.currency_grants, permission="currency:read"),
    create(_GRANTS, grants.grant, "currency:write", takes=bodies.GRANT_CREATE),
    change(f"{_GRANTS}/revoke", grants.revoke, "currency:write", takes=bodies.BY_ID),
    get(
        "/web/v1/system/institutions/{institutionBizId}",
        JWT,
        grants.institution,
        permission="institution:read",
    ),
    get(_INVITATIONS, JWT, grants.sent_invitations, permission="invitation:read"),
    create(_INVITATIONS, grants.invite, "invitation:write", takes=bodies.INVITATION_CREATE),
    change(f"{_INVITATIONS}/cancel", grants.cancel, "invitation:write", takes=bodies.INVITATION_CLOSE),
)

_TYPES = "/web/v1/system/notifications/channel-types"
_CHANNELS = "/web/v1/system/notifications/channels"
_MAIL = "/web/v1/system/notifications/email/validate"
_READ, _WRITE = "notification:read", "notification:write"
NOTIFICATIONS = (
    post(f"{_TYPES}/query", JWT, notifications.query_types, takes=bodies.TYPES_QUERY, permission=_READ),
    create(f"{_TYPES}/create", notifications.create_type, _WRITE, takes=bodies.TYPE_CREATE),
    change(f"{_TYPES}/update", notifications.update_type, _WRITE, takes=bodies.TYPE_UPDATE),
    change(f"{_TYPES}/delete", notifications.delete_type, _WRITE, takes=bodies.BY_ID),
    change(f"{_TYPES}/enable", notifications.enable_type, _WRITE, takes=bodies.BY_ID),
    change(f"{_TYPES}/disable", notifications.disable_type, _WRITE, takes=bodies.BY_ID),
    post(
        f"{_CHANNELS}/query", JWT, notifications.query_channels, takes=bodies.CHANNELS_QUERY, permission=_READ
    ),
    create(f"{_CHANNELS}/create", notifications.create_channel, _WRITE, takes=bodies.CHANNEL_CREATE),
    change(f"{_CHANNELS}/update", notifications.update_channel, _WRITE, takes=bodies.CHANNEL_UPDATE),
    change(f"{_CHANNELS}/delete", notifications.delete_channel, _WRITE, takes=bodies.BY_ID),
    change(f"{_CHANNELS}/activate", notifications.activate_channel, _WRITE, takes=bodies.BY_ID),
    change(f"{_CHANNELS}/deactivate", notifications.deactivate_channel, _WRITE, takes=bodies.BY_ID),
    change(f"{_MAIL}/imap", notifications.validate_mail_server, _READ, takes=bodies.MAIL_SERVER),
    change(f"{_MAIL}/smtp", notifications.validate_mail_server, _READ, takes=bodies.MAIL_SERVER),
    post(
        "/web/v1/notification-channels/command/deactivate",
        JWT,
        notifications.deactivate_channel,
        takes=bodies.BY_ID,
        permission=_WRITE,
        bot="header",
        dialect=errors.COMMAND,
    ),
)

_ROLES = "/web/v1/system/roles"
ROLES = (
    get(_ROLES, JWT, roles.roles, permission="role:read"),
    get(f"{_ROLES}/{{roleBizId}}", JWT, roles.role, permission="role:read"),
    get(f"{_ROLES}/{{roleBizId}}/permissions", JWT, roles.permissions, permission="role:read"),
)

FILES = (get("/web/v1/system/files/{fileBizId}", JWT, files.file, permission="file:read"),)

TRANSFER_ORDERS = (
    get(
        "/web/v1/admin/transfer/query/orders/workspace/{workspaceId}",
        JWT,
        transfer_orders.orders,
        takes=bodies.ORDERS,
        permission="transfer:read",
        bot="header",
        dialect=errors.TRANSFER,
    ),
)

ROWS: tuple[Row, ...] = (
    *AUTHENTICATION,
    *SECURE_CHANNEL,
    *SECURITY,
    *PROFILE_AND_WORKSPACES,
    *ACCOUNTS,
    *CONSTANTS_LISTS,
    *GRANTS_INSTITUTIONS_INVITATIONS,
    *NOTIFICATIONS,
    *ROLES,
    *FILES,
    *TRANSFER_ORDERS,
)

PERMISSIONS = tuple(sorted({row.permission for row in ROWS if row.permission}))


class Routes:
    """Finds the row of a request."""

    def __init__(self, rows: Mapping[str, Row]) -> None:
        self.rows = rows
        self._literal: dict[str, dict[str, Row]] = {}
        for row in rows.values():
            self._literal.setdefault(row.path, {})[row.method] = row
        self._templates = [
            (re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", path)), rows)
            for path, rows in self._literal.items()
            if "{" in path
        ]

    def find(self, method: str, path: str) -> tuple[Row, dict[str, str]]:
        """The row and its path parameters; raises Refusal. A literal path goes before a template."""
        rows = self._literal.get(path)
        parameters: dict[str, str] = {}
        if rows is None:
            matches = [
                (match, rows) for pattern, rows in self._templates if (match := pattern.fullmatch(path))
            ]
            if not matches:
                raise Refusal("PATH_UNKNOWN")
            match, rows = matches[0]
            parameters = match.groupdict()
        if method not in rows:
            raise Refusal("METHOD_NOT_ALLOWED", headers={"allow": ", ".join(rows)})
        return rows[method], parameters

    def find_or_none(self, method: str, path: str) -> tuple[Row, dict[str, str]] | None:
        """As ``find``, or None where no endpoint answers it."""
        try:
            return self.find(method, path)
        except Refusal:
            return None
