"""Every field of every resource, once wrong: missing, of another type or another form (chapter "Resources").

The table is this portal's own reading of the field tables: where a resource is shown, its fields, and for
each a wrong value. A field without a type can only be missing; one that may be null can only be of another
type.
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
    wrong: tuple[Wrong, ...]
    also: str = ""


@dataclass(frozen=True, slots=True)
class Resource:
    name: str
    shown: tuple[tuple[str, str], ...]  # operation, and the place in its data
    fields: tuple[Field, ...]


class Turned(NamedTuple):
    """A wrong value made from the right one, with a word for the fault's name."""

    word: str
    turn: Any


TEXT: Wrong = Turned("number", lambda value: zlib.crc32(str(value).encode()))
NUMBER: Wrong = Turned("text", str)
FLAG: Wrong = Turned("text", lambda value: str(value).lower())
EPOCH: Wrong = Turned("epoch", lambda value: 1767225600)
DAY_FIRST: Wrong = Turned("day-first", lambda value: f"{value[8:10]}/{value[5:7]}/{value[:4]} {value[11:16]}")
BARE_CODE: Wrong = Turned("bare-code", lambda value: value["code"])
BARE_VALUE: Wrong = Turned("bare-value", lambda value: value["value"])
KEYED: Wrong = Turned("keyed", lambda value: {str(at): item for at, item in enumerate(value)})


def text(requirement: str, name: str, also: str = "") -> Field:
    return Field(requirement, name, (TEXT, GONE), also)


def nullable_text(requirement: str, name: str, also: str = "") -> Field:
    return Field(requirement, name, (17,), also)


def number(requirement: str, name: str, also: str = "") -> Field:
    return Field(requirement, name, (NUMBER, GONE), also)


def flag(requirement: str, name: str, also: str = "") -> Field:
    return Field(requirement, name, (FLAG, GONE), also)


def instant(requirement: str, name: str, also: str = "") -> Field:
    return Field(requirement, name, (EPOCH, DAY_FIRST, GONE), also)


def coded(requirement: str, name: str, also: str = "") -> Field:
    return Field(requirement, name, (BARE_CODE, BARE_VALUE, GONE), also)


def untyped(requirement: str, name: str, also: str = "") -> Field:
    return Field(requirement, name, (GONE,), also)


def listed(requirement: str, name: str, also: str = "") -> Field:
    return Field(requirement, name, (KEYED, GONE), also)


RESOURCES = (
    Resource(
        "login-session",
        ((op.INITIATE, ""),),
        (
            text("LOGIN-001", "sessionId"),
            listed("LOGIN-002", "mfaMethods"),
            number("LOGIN-003", "expiresIn"),
            Field("LOGIN-004", "accountStatus", (17,)),
            flag("LOGIN-005", "pendingApproval"),
        ),
    ),
    Resource(
        "mfa-send",
        ((op.SEND, ""),),
        (
            flag("LOGIN-006", "sent"),
            number("LOGIN-007", "cooldownSeconds"),
            number("LOGIN-008", "codeExpiresIn"),
        ),
    ),
    Resource(
        "token-pair",
        ((op.COMPLETE, ""), (op.REFRESH, "")),
        (
            text("TOKEN-001", "accessToken"),
            text("TOKEN-002", "refreshToken"),
            number("TOKEN-003", "expiresIn"),
        ),
    ),
    Resource("refreshed-pair", ((op.REFRESH, ""),), (text("TOKEN-002", "refreshToken"),)),
    Resource("login-complete", ((op.COMPLETE, ""),), (flag("TOKEN-005", "pendingApproval"),)),
    Resource(
        "logout",
        ((op.LOGOUT, ""),),
        (flag("LOGOUT-001", "success"), number("LOGOUT-002", "terminatedSessions")),
    ),
    Resource(
        "forgotten-password",
        ((op.FORGOT, ""),),
        (flag("PASSWORD-001", "success"), text("PASSWORD-002", "message")),
    ),
    Resource(
        "secure-session",
        ((op.SECURE_SESSION, ""),),
        (text("SECURE-001", "sessionId"), number("SECURE-002", "expiresAt")),
    ),
    Resource(
        "account",
        ((op.PROFILE, ""), (op.PROFILE_UPDATE, ""), (op.ACCOUNTS_QUERY, "accounts[]")),
        (
            text("ACCOUNT-001", "bizId"),
            text("ACCOUNT-002", "institutionBizId"),
            Field(
                "ACCOUNT-003",
                "accountEmail",
                (Turned("name-only", lambda value: value.partition("@")[0]), TEXT, GONE),
            ),
            text("ACCOUNT-004", "accountPhone"),
            text("ACCOUNT-005", "accountName"),
            nullable_text("ACCOUNT-006", "accountRemark"),
            coded("ACCOUNT-007", "accountPortal"),
            coded("ACCOUNT-008", "accountStatus"),
            instant("ACCOUNT-009", "createdAt"),
            instant("ACCOUNT-010", "updatedAt"),
            text("ACCOUNT-011", "defaultLanguage"),
            text("ACCOUNT-012", "defaultTimezone"),
            Field(
                "ACCOUNT-013", "defaultCountry", (Turned("three-letters", lambda value: "USA"), TEXT, GONE)
            ),
        ),
    ),
    Resource(
        "ip-whitelist",
        ((op.WHITELIST, ""),),
        (flag("IPWHITELIST-001", "enabled"), listed("IPWHITELIST-002", "entries")),
    ),
    Resource(
        "mfa-setting",
        ((op.MFA, "[]"),),
        (
            coded("MFA-001", "mfaMethod"),
            flag("MFA-002", "isEnabled"),
            flag("MFA-003", "isPrimary"),
            Field("MFA-004", "verifiedAt", (EPOCH,)),
        ),
    ),
    Resource(
        "backup-codes",
        ((op.BACKUP_CODES, ""),),
        (number("BACKUP-001", "remainingCount"), number("BACKUP-002", "totalGenerated")),
    ),
    Resource(
        "session",
        ((op.SESSIONS, "[]"),),
        (
            text("SESSION-001", "sessionId"),
            text("SESSION-002", "clientIp"),
            text("SESSION-003", "userAgent"),
            instant("SESSION-004", "loginTime"),
            instant("SESSION-005", "lastActivityTime"),
            flag("SESSION-006", "isCurrent"),
        ),
    ),
    Resource(
        "session-config",
        ((op.SESSION_CONFIG, ""),),
        (
            text("SESSION-010", "accountBizId"),
            flag("SESSION-011", "ssoEnabled"),
            number("SESSION-012", "maxSessions"),
        ),
    ),
    Resource(
        "login-history",
        ((op.HISTORY, "items[]"),),
        (
            text("HISTORY-001", "bizId"),
            instant("HISTORY-002", "loginTime"),
            untyped("HISTORY-003", "clientIp"),
            untyped("HISTORY-004", "userAgent"),
            number("HISTORY-005", "loginResult"),
            nullable_text("HISTORY-006", "failureReason"),
        ),
    ),
    Resource(
        "history-page",
        ((op.HISTORY, ""),),
        (listed("HISTORY-007", "items"), Field("HISTORY-008", "pagination", (GONE,))),
    ),
    Resource(
        "workspace",
        ((op.CURRENT_WORKSPACE, ""),),
        (
            untyped("WORKSPACE-001", "bizId"),
            untyped("WORKSPACE-002", "institutionBizId"),
            untyped("WORKSPACE-004", "workspaceName"),
            untyped("WORKSPACE-005", "workspaceTimezone"),
            coded("WORKSPACE-006", "workspaceStatus"),
            coded("WORKSPACE-007", "workspaceKind"),
            untyped("WORKSPACE-009", "createdAt"),
            untyped("WORKSPACE-010", "updatedAt"),
        ),
    ),
    Resource(
        "institution",
        ((op.INSTITUTION, ""),),
        (
            untyped("INSTITUTION-001", "bizId"),
            untyped("INSTITUTION-002", "institutionName"),
            coded("INSTITUTION-005", "institutionType"),
            coded("INSTITUTION-006", "institutionStatus"),
            untyped("INSTITUTION-008", "createdAt"),
            untyped("INSTITUTION-009", "updatedAt"),
        ),
    ),
    Resource(
        "role",
        ((op.ROLES, "[]"), (op.ROLE, "")),
        (
            untyped("ROLE-001", "bizId"),
            untyped("ROLE-002", "workspaceBizId"),
            untyped("ROLE-003", "roleName"),
            coded("ROLE-004", "roleType"),
            untyped("ROLE-005", "description"),
            Field(
                "ROLE-006",
                "permissionCodes",
                (Turned("comma-separated", lambda value: ",".join(value)), GONE),
            ),
            untyped("ROLE-007", "createdAt"),
            untyped("ROLE-008", "updatedAt"),
        ),
    ),
    Resource(
        "invitation",
        ((op.OWN_INVITATIONS, "[]"),),
        (
            text("INVITATION-001", "bizId"),
            text("INVITATION-002", "workspaceBizId"),
            text("INVITATION-003", "workspaceName"),
            text("INVITATION-004", "inviterBizId"),
            text("INVITATION-005", "inviterName"),
            text("INVITATION-006", "inviteeEmail"),
            text("INVITATION-007", "inviteeAccountBizId"),
            text("INVITATION-008", "inviteeAccountName"),
            coded("INVITATION-009", "invitationStatus"),
            nullable_text("INVITATION-010", "message"),
            instant("INVITATION-011", "expiresAt"),
            Field("INVITATION-012", "acceptedAt", (EPOCH,)),
            instant("INVITATION-013", "createdAt"),
            flag("INVITATION-014", "canAccept"),
        ),
    ),
    Resource(
        "channel-type",
        ((op.TYPES_QUERY, "items[]"),),
        (
            untyped("CHANNELTYPE-001", "bizId"),
            text("CHANNELTYPE-002", "typeCode"),
            number("CHANNELTYPE-003", "typeValue"),
            untyped("CHANNELTYPE-004", "typeName"),
            untyped("CHANNELTYPE-005", "typeDescription"),
            coded("CHANNELTYPE-006", "typeStatus"),
            number("CHANNELTYPE-007", "displayOrder"),
            untyped("CHANNELTYPE-010", "createdAt"),
            untyped("CHANNELTYPE-011", "updatedAt"),
            flag("CHANNELTYPE-012", "enabled"),
        ),
    ),
    Resource(
        "channel-type-page",
        ((op.TYPES_QUERY, ""),),
        (listed("CHANNELTYPE-013", "items"), Field("CHANNELTYPE-014", "pagination", (GONE,))),
    ),
    Resource(
        "channel",
        ((op.CHANNELS_QUERY, "items[]"), (op.COMMAND, "")),
        (
            text("CHANNEL-001", "bizId"),
            text("CHANNEL-002", "institutionBizId"),
            text("CHANNEL-003", "channelName"),
            nullable_text("CHANNEL-004", "channelRemark"),
            text("CHANNEL-005", "channelHost"),
            text("CHANNEL-006", "channelCategory"),
            text("CHANNEL-007", "channelStatus"),
            Field(
                "CHANNEL-008",
                "emailConfig",
                (Turned("host-only", lambda value: value["smtpHost"]), GONE),
            ),
            instant("CHANNEL-009", "createdAt"),
            instant("CHANNEL-010", "updatedAt"),
            text("CHANNEL-021", "createdBy"),
            text("CHANNEL-022", "updatedBy"),
        ),
    ),
    Resource(
        "email-config",
        ((op.CHANNELS_QUERY, "items[].emailConfig"), (op.COMMAND, "emailConfig")),
        (
            text("CHANNEL-011", "smtpHost"),
            number("CHANNEL-012", "smtpPort"),
            untyped("CHANNEL-013", "senderEmail"),
            untyped("CHANNEL-014", "senderName"),
            untyped("CHANNEL-015", "username"),
            untyped("CHANNEL-016", "password"),
            flag("CHANNEL-017", "useSsl"),
            flag("CHANNEL-018", "useStartTls"),
            number("CHANNEL-019", "connectionTimeout"),
            number("CHANNEL-020", "readTimeout"),
        ),
    ),
    Resource(
        "channel-page",
        ((op.CHANNELS_QUERY, ""),),
        (listed("CHANNEL-023", "items"), Field("CHANNEL-024", "pagination", (GONE,))),
    ),
    Resource(
        "file",
        ((op.FILE, ""),),
        (
            text("FILE-001", "bizId"),
            text("FILE-002", "bucket"),
            text("FILE-003", "objectKey"),
            text("FILE-004", "originalFilename"),
            number("FILE-005", "fileSize"),
            text("FILE-006", "contentType"),
            coded("FILE-007", "fileCategory"),
            coded("FILE-008", "fileStatus"),
            text("FILE-009", "etag"),
            text("FILE-010", "remark"),
            Field("FILE-011", "createdAt", (Turned("yesterday", lambda value: "yesterday"), GONE)),
            text("FILE-012", "createdBy"),
        ),
    ),
    Resource(
        "order",
        ((op.ORDERS, "content[]"),),
        (
            text("ORDER-001", "bizId"),
            text("ORDER-002", "fromWalletId"),
            text("ORDER-003", "toWalletId"),
            text("ORDER-004", "currency"),
            number("ORDER-005", "amount"),
            number("ORDER-006", "feeAmount"),
            number("ORDER-007", "totalAmount"),
            number("ORDER-008", "status"),
            text("ORDER-009", "statusName"),
            nullable_text("ORDER-010", "failureReason"),
            text("ORDER-011", "remark"),
            instant("ORDER-012", "createdAt"),
            Field("ORDER-013", "completedAt", (EPOCH,)),
        ),
    ),
    Resource(
        "history-pagination",
        ((op.HISTORY, "pagination"),),
        (
            number("PAGE-001", "totalPages"),
            number("PAGE-002", "totalRecords"),
            number("PAGE-003", "currentPage"),
            number("PAGE-004", "pageSize"),
        ),
    ),
    Resource(
        "channels-pagination",
        ((op.CHANNELS_QUERY, "pagination"),),
        (
            flag("PAGE-005", "hasNext"),
            flag("PAGE-006", "empty"),
            flag("PAGE-007", "paginated"),
        ),
    ),
    Resource(
        "account-page",
        ((op.ACCOUNTS_QUERY, ""),),
        (
            listed("PAGE-020", "accounts"),
            untyped("PAGE-021", "totalElements"),
            untyped("PAGE-022", "totalPages"),
            untyped("PAGE-023", "currentPage"),
            untyped("PAGE-024", "pageSize"),
        ),
    ),
    Resource(
        "order-page",
        ((op.ORDERS, ""),),
        (
            listed("PAGE-030", "content"),
            untyped("PAGE-031", "totalElements"),
            untyped("PAGE-032", "totalPages"),
            untyped("PAGE-033", "size"),
            untyped("PAGE-034", "number"),
        ),
    ),
    Resource(
        "portal-type",
        ((op.constants("user-portal-types"), "[]"),),
        (
            text("CONSTANT-001", "code"),
            number("CONSTANT-002", "value"),
            text("CONSTANT-003", "label"),
        ),
    ),
    Resource(
        "country",
        ((op.constants("countries"), "[]"),),
        (
            text("CONSTANT-004", "alpha2Code"),
            text("CONSTANT-005", "alpha3Code"),
            number("CONSTANT-006", "numericCode"),
            text("CONSTANT-007", "phoneCode"),
        ),
    ),
    Resource(
        "time-zone",
        ((op.constants("timezones"), "[]"),),
        (text("CONSTANT-008", "zoneIdCode"), text("CONSTANT-009", "utcOffset")),
    ),
    Resource("us-state", ((op.constants("us-states"), "[]"),), (untyped("CONSTANT-010", "isoCode"),)),
    Resource(
        "mfa-method",
        ((op.INITIATE, "mfaMethods[]"),),
        (
            text("ENUM-001", "code"),
            number("ENUM-002", "value"),
            text("ENUM-003", "label"),
            nullable_text("ENUM-004", "description"),
        ),
    ),
    Resource(
        "role-type",
        ((op.ROLES, "[].roleType"),),
        (
            text("ENUM-001", "code"),
            number("ENUM-002", "value"),
            text("ENUM-003", "label"),
            nullable_text("ENUM-004", "description"),
        ),
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
    _row(resource, field, field.wrong[number % len(field.wrong)])
    for resource in RESOURCES
    for number, field in enumerate(resource.fields)
)
