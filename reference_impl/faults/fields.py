"""Every field of every resource, once wrong: missing, of another type or another form (chapter "Resources").

The table is this portal's own reading of the field tables: where a resource is shown, and the requirement,
name and kind of each field. A field of any kind can only be missing; a nullable one is of another type.
"""

import re
import zlib
from dataclasses import dataclass
from typing import Any, NamedTuple

from reference_impl.changes import Change, together
from reference_impl.faults import operations as op
from reference_impl.faults.fault import GONE, Wrong, reported


class Field(NamedTuple):
    requirement: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind of object: operations with the places in their data where it is shown, and its fields."""

    name: str
    shown: tuple[tuple[str, str], ...]
    table: str

    @property
    def fields(self) -> list[Field]:
        return [Field(*row.split()) for row in self.table.split(", ")]


class Turned(NamedTuple):
    """A wrong value made from the right one, with a word for the fault's name."""

    word: str
    turn: Any


TEXT: Wrong = Turned("number", lambda value: zlib.crc32(str(value).encode()))
EPOCH: Wrong = Turned("epoch", lambda value: 1767225600)
DAY_FIRST: Wrong = Turned("day-first", lambda value: f"{value[8:10]}/{value[5:7]}/{value[:4]} {value[11:16]}")

KINDS: dict[str, tuple[Wrong, ...]] = {
    "any": (GONE,),
    "nullable": (17,),
    "past": (EPOCH,),
    "text": (TEXT, GONE),
    "number": (Turned("text", str), GONE),
    "flag": (Turned("text", lambda value: str(value).lower()), GONE),
    "time": (EPOCH, DAY_FIRST, GONE),
    "code": (
        Turned("bare-code", lambda value: value["code"]),
        Turned("bare-value", lambda value: value["value"]),
        GONE,
    ),
    "list": (Turned("keyed", lambda value: {str(at): item for at, item in enumerate(value)}), GONE),
    "email": (Turned("name-only", lambda value: value.partition("@")[0]), TEXT, GONE),
    "country": (Turned("three-letters", lambda value: "USA"), TEXT, GONE),
    "codes": (Turned("comma-separated", ",".join), GONE),
    "settings": (Turned("host-only", lambda value: value["smtpHost"]), GONE),
    "moment": (Turned("yesterday", lambda value: "yesterday"), GONE),
}
"""Wrong values of each kind of field: of another type, of another form, and none at all."""

RESOURCES = (
    Resource(
        "login-session",
        ((op.INITIATE, ""),),
        "LOGIN-001 sessionId text, LOGIN-002 mfaMethods list, LOGIN-003 expiresIn number, "
        "LOGIN-004 accountStatus nullable, LOGIN-005 pendingApproval flag",
    ),
    Resource(
        "mfa-send",
        ((op.SEND, ""),),
        "LOGIN-006 sent flag, LOGIN-007 cooldownSeconds number, LOGIN-008 codeExpiresIn number",
    ),
    Resource(
        "token-pair",
        ((op.COMPLETE, ""), (op.REFRESH, "")),
        "TOKEN-001 accessToken text, TOKEN-002 refreshToken text, TOKEN-003 expiresIn number",
    ),
    Resource("login-complete", ((op.COMPLETE, ""),), "TOKEN-005 pendingApproval flag"),
    Resource("logout", ((op.LOGOUT, ""),), "LOGOUT-001 success flag, LOGOUT-002 terminatedSessions number"),
    Resource(
        "forgotten-password", ((op.FORGOT, ""),), "PASSWORD-001 success flag, PASSWORD-002 message text"
    ),
    Resource(
        "secure-session", ((op.SECURE_SESSION, ""),), "SECURE-001 sessionId text, SECURE-002 expiresAt number"
    ),
    Resource(
        "account",
        ((op.PROFILE, ""), (op.PROFILE_UPDATE, ""), (op.ACCOUNTS_QUERY, "accounts[]")),
        "ACCOUNT-001 bizId text, ACCOUNT-002 institutionBizId text, ACCOUNT-003 accountEmail email, "
        "ACCOUNT-004 accountPhone text, ACCOUNT-005 accountName text, "
        "ACCOUNT-006 accountRemark nullable, ACCOUNT-007 accountPortal code, "
        "ACCOUNT-008 accountStatus code, ACCOUNT-009 createdAt time, ACCOUNT-010 updatedAt time, "
        "ACCOUNT-011 defaultLanguage text, ACCOUNT-012 defaultTimezone text, "
        "ACCOUNT-013 defaultCountry country",
    ),
    Resource(
        "ip-whitelist", ((op.WHITELIST, ""),), "IPWHITELIST-001 enabled flag, IPWHITELIST-002 entries list"
    ),
    Resource(
        "mfa-setting",
        ((op.MFA, "[]"),),
        "MFA-001 mfaMethod code, MFA-002 isEnabled flag, MFA-003 isPrimary flag, MFA-004 verifiedAt past",
    ),
    Resource(
        "backup-codes",
        ((op.BACKUP_CODES, ""),),
        "BACKUP-001 remainingCount number, BACKUP-002 totalGenerated number",
    ),
    Resource(
        "session",
        ((op.SESSIONS, "[]"),),
        "SESSION-001 sessionId text, SESSION-002 clientIp text, SESSION-003 userAgent text, "
        "SESSION-004 loginTime time, SESSION-005 lastActivityTime time, SESSION-006 isCurrent flag",
    ),
    Resource(
        "session-config",
        ((op.SESSION_CONFIG, ""),),
        "SESSION-010 accountBizId text, SESSION-011 ssoEnabled flag, SESSION-012 maxSessions number",
    ),
    Resource(
        "login-history",
        ((op.HISTORY, "items[]"),),
        "HISTORY-001 bizId text, HISTORY-002 loginTime time, HISTORY-003 clientIp any, "
        "HISTORY-004 userAgent any, HISTORY-005 loginResult number, HISTORY-006 failureReason nullable",
    ),
    Resource("history-page", ((op.HISTORY, ""),), "HISTORY-007 items list, HISTORY-008 pagination any"),
    Resource(
        "workspace",
        ((op.CURRENT_WORKSPACE, ""),),
        "WORKSPACE-001 bizId any, WORKSPACE-002 institutionBizId any, WORKSPACE-004 workspaceName any, "
        "WORKSPACE-005 workspaceTimezone any, WORKSPACE-006 workspaceStatus code, "
        "WORKSPACE-007 workspaceKind code, WORKSPACE-009 createdAt any, WORKSPACE-010 updatedAt any",
    ),
    Resource(
        "institution",
        ((op.INSTITUTION, ""),),
        "INSTITUTION-001 bizId any, INSTITUTION-002 institutionName any, "
        "INSTITUTION-005 institutionType code, INSTITUTION-006 institutionStatus code, "
        "INSTITUTION-008 createdAt any, INSTITUTION-009 updatedAt any",
    ),
    Resource(
        "role",
        ((op.ROLES, "[]"), (op.ROLE, "")),
        "ROLE-001 bizId any, ROLE-002 workspaceBizId any, ROLE-003 roleName any, ROLE-004 roleType code, "
        "ROLE-005 description any, ROLE-006 permissionCodes codes, ROLE-007 createdAt any, "
        "ROLE-008 updatedAt any",
    ),
    Resource(
        "invitation",
        ((op.OWN_INVITATIONS, "[]"),),
        "INVITATION-001 bizId text, INVITATION-002 workspaceBizId text, "
        "INVITATION-003 workspaceName text, INVITATION-004 inviterBizId text, "
        "INVITATION-005 inviterName text, INVITATION-006 inviteeEmail text, "
        "INVITATION-007 inviteeAccountBizId text, INVITATION-008 inviteeAccountName text, "
        "INVITATION-009 invitationStatus code, INVITATION-010 message nullable, "
        "INVITATION-011 expiresAt time, INVITATION-012 acceptedAt past, INVITATION-013 createdAt time, "
        "INVITATION-014 canAccept flag",
    ),
    Resource(
        "channel-type",
        ((op.TYPES_QUERY, "items[]"),),
        "CHANNELTYPE-001 bizId any, CHANNELTYPE-002 typeCode text, CHANNELTYPE-003 typeValue number, "
        "CHANNELTYPE-004 typeName any, CHANNELTYPE-005 typeDescription any, "
        "CHANNELTYPE-006 typeStatus code, CHANNELTYPE-007 displayOrder number, "
        "CHANNELTYPE-010 createdAt any, CHANNELTYPE-011 updatedAt any, CHANNELTYPE-012 enabled flag",
    ),
    Resource(
        "channel-type-page",
        ((op.TYPES_QUERY, ""),),
        "CHANNELTYPE-013 items list, CHANNELTYPE-014 pagination any",
    ),
    Resource(
        "channel",
        ((op.CHANNELS_QUERY, "items[]"), (op.COMMAND, "")),
        "CHANNEL-001 bizId text, CHANNEL-002 institutionBizId text, CHANNEL-003 channelName text, "
        "CHANNEL-004 channelRemark nullable, CHANNEL-005 channelHost text, "
        "CHANNEL-006 channelCategory text, CHANNEL-007 channelStatus text, "
        "CHANNEL-008 emailConfig settings, CHANNEL-009 createdAt time, CHANNEL-010 updatedAt time, "
        "CHANNEL-021 createdBy text, CHANNEL-022 updatedBy text",
    ),
    Resource(
        "email-config",
        ((op.CHANNELS_QUERY, "items[].emailConfig"), (op.COMMAND, "emailConfig")),
        "CHANNEL-011 smtpHost text, CHANNEL-012 smtpPort number, CHANNEL-013 senderEmail any, "
        "CHANNEL-014 senderName any, CHANNEL-015 username any, CHANNEL-016 password any, "
        "CHANNEL-017 useSsl flag, CHANNEL-018 useStartTls flag, CHANNEL-019 connectionTimeout number, "
        "CHANNEL-020 readTimeout number",
    ),
    Resource(
        "channel-page", ((op.CHANNELS_QUERY, ""),), "CHANNEL-023 items list, CHANNEL-024 pagination any"
    ),
    Resource(
        "file",
        ((op.FILE, ""),),
        "FILE-001 bizId text, FILE-002 bucket text, FILE-003 objectKey text, "
        "FILE-004 originalFilename text, FILE-005 fileSize number, FILE-006 contentType text, "
        "FILE-007 fileCategory code, FILE-008 fileStatus code, FILE-009 etag text, FILE-010 remark text, "
        "FILE-011 createdAt moment, FILE-012 createdBy text",
    ),
    Resource(
        "order",
        ((op.ORDERS, "content[]"),),
        "ORDER-001 bizId text, ORDER-002 fromWalletId text, ORDER-003 toWalletId text, "
        "ORDER-004 currency text, ORDER-005 amount number, ORDER-006 feeAmount number, "
        "ORDER-007 totalAmount number, ORDER-008 status number, ORDER-009 statusName text, "
        "ORDER-010 failureReason nullable, ORDER-011 remark text, ORDER-012 createdAt time, "
        "ORDER-013 completedAt past",
    ),
    Resource(
        "history-pagination",
        ((op.HISTORY, "pagination"),),
        "PAGE-001 totalPages number, PAGE-002 totalRecords number, PAGE-003 currentPage number, "
        "PAGE-004 pageSize number",
    ),
    Resource(
        "channels-pagination",
        ((op.CHANNELS_QUERY, "pagination"),),
        "PAGE-005 hasNext flag, PAGE-006 empty flag, PAGE-007 paginated flag",
    ),
    Resource(
        "account-page",
        ((op.ACCOUNTS_QUERY, ""),),
        "PAGE-020 accounts list, PAGE-021 totalElements any, PAGE-022 totalPages any, "
        "PAGE-023 currentPage any, PAGE-024 pageSize any",
    ),
    Resource(
        "order-page",
        ((op.ORDERS, ""),),
        "PAGE-030 content list, PAGE-031 totalElements any, PAGE-032 totalPages any, PAGE-033 size any, "
        "PAGE-034 number any",
    ),
    Resource(
        "portal-type",
        ((op.constants("user-portal-types"), "[]"),),
        "CONSTANT-001 code text, CONSTANT-002 value number, CONSTANT-003 label text",
    ),
    Resource(
        "country",
        ((op.constants("countries"), "[]"),),
        "CONSTANT-004 alpha2Code text, CONSTANT-005 alpha3Code text, CONSTANT-006 numericCode number, "
        "CONSTANT-007 phoneCode text",
    ),
    Resource(
        "time-zone",
        ((op.constants("timezones"), "[]"),),
        "CONSTANT-008 zoneIdCode text, CONSTANT-009 utcOffset text",
    ),
    Resource("us-state", ((op.constants("us-states"), "[]"),), "CONSTANT-010 isoCode any"),
    Resource(
        "mfa-method",
        ((op.INITIATE, "mfaMethods[]"),),
        "ENUM-001 code text, ENUM-002 value number, ENUM-003 label text, ENUM-004 description nullable",
    ),
)


def _word(wrong: Wrong) -> str:
    if wrong is GONE:
        return "missing"
    if isinstance(wrong, Turned):
        return wrong.word
    return {"int": "number", "str": "text", "bool": "flag"}[type(wrong).__name__]


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"-\1", name).lower()


def _row(resource: Resource, field: Field, wrong: Wrong) -> tuple[str, Change]:
    value: Any = _nulls_kept(wrong.turn) if isinstance(wrong, Turned) else wrong
    shown = (reported(operation, place, **{field.name: value}) for operation, place in resource.shown)
    return f"{field.requirement} {resource.name}-{_kebab(field.name)}-{_word(wrong)}", together(*shown)


def _nulls_kept(turn: Any) -> Any:
    return lambda value: value if value is None else turn(value)


# Of the ways in which a field may be wrong each has one, in turn: more would show the same again.
ROWS = dict(
    _row(resource, field, KINDS[field.kind][number % len(KINDS[field.kind])])
    for resource in RESOURCES
    for number, field in enumerate(resource.fields)
)
