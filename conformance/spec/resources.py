"""Every resource of the specification as a strict pydantic model (chapter "Resources and their fields").

A field carries the id of the requirement that states it. What the document calls nullable may be null or
left out; what it does not type may be anything; extra fields are allowed and end up in ``model_extra``.
Annotations are types here and no texts, which pydantic would have to compile at each start.
"""

import re
from calendar import monthrange
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

ISO_8601 = re.compile(
    r"(\d{4}-?\d\d-?\d\d|\d{4}-?[Ww]\d\d-?[1-7]|[+-]\d{5,6}-\d\d-\d\d)"
    r"[Tt ]\d\d:?\d\d(:?\d\d([.,]\d+)?)?([Zz]|[+-]\d\d(:?\d\d)?)?\Z",
    re.ASCII,
)
"""A day of a month or of a week, or one with an expanded year, and a time of day."""

DAY = re.compile(r"\d{4}-(\d\d-\d\d|W\d\d-[1-7])\Z", re.ASCII)
"""A day is ISO 8601 as well, and all that is stated of an expiry."""


def stated(requirement: str, *, default: Any = ..., names: tuple[str, ...] = ()) -> Any:
    """A field that a requirement states; ``names`` are those under which it may stand."""
    alias = AliasChoices(*names) if names else None
    return Field(default, validation_alias=alias, json_schema_extra={"requirement": requirement})


def nullable(requirement: str) -> Any:
    """A field that the specification allows to be null; left out counts as null."""
    return stated(requirement, default=None)


def _integral(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _instant(value: str) -> str:
    if not ISO_8601.match(value) or not is_on_the_calendar(value):
        raise ValueError("an ISO 8601 date and time")
    return value


def _instant_or_day(value: str) -> str:
    return value if DAY.match(value) and is_on_the_calendar(value) else _instant(value)


@lru_cache(maxsize=1024)
def is_on_the_calendar(value: str) -> bool:
    """Whether there is the day, and the time of day, that stand in the form of ISO 8601. A day may end at
    24:00, and with a leap second."""
    day, _, clock = value.upper().replace("T", " ").partition(" ")
    digits = re.sub(r"[^0-9]", "", re.split(r"[.,Z+-]", clock)[0])
    hour, minute, second = (int(digits[at : at + 2] or 0) for at in (0, 2, 4))
    if not _is_a_day(day):
        return False
    return (hour < 24 or (hour == 24 and minute == 0)) and minute < 60 and second <= 60


def _is_a_day(written: str) -> bool:
    """Whether there is the day of a month, or of a week. Years repeat themselves every 400 years."""
    digits = re.sub(r"[^0-9]", "", written)
    if "W" in written:
        year, week = int(digits[:4]) % 400 + 400, int(digits[4:6])
        return 1 <= week <= date(year, 12, 28).isocalendar().week
    year, month, day = int(digits[:-4]) % 400 + 400, int(digits[-4:-2]), int(digits[-2:])
    return 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]


def _email(value: str) -> str:
    name, at, host = value.rpartition("@")
    if not (name and at and host):
        raise ValueError("an email address")
    return value


def _country(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z]{2}", value):
        raise ValueError("a two-letter country code")
    return value


Text = Annotated[str, Field(strict=True)]
Integer = Annotated[int, Field(strict=True), BeforeValidator(_integral)]
Number = Annotated[float, Field(strict=True)]
Boolean = Annotated[bool, Field(strict=True)]
Instant = Annotated[Text, AfterValidator(_instant)]
InstantOrDay = Annotated[Text, AfterValidator(_instant_or_day)]
Email = Annotated[Text, AfterValidator(_email)]
CountryCode = Annotated[Text, AfterValidator(_country)]
Present = Any
"""Named by the specification without a type."""


class Resource(BaseModel):
    model_config = ConfigDict(extra="allow", populate_by_name=True, defer_build=True)


class Enumeration(Resource):
    code: Text = stated("ENUM-001")
    value: Integer = stated("ENUM-002")
    label: Text = stated("ENUM-003")
    description: Text | None = nullable("ENUM-004")


class Pagination(Resource):
    totalPages: Integer = stated("PAGE-001")
    totalRecords: Integer = stated("PAGE-002")
    currentPage: Integer = stated("PAGE-003")
    pageSize: Integer = stated("PAGE-004")
    hasNext: Boolean = stated("PAGE-005")
    empty: Boolean = stated("PAGE-006")
    paginated: Boolean = stated("PAGE-007")


class LoginInitiated(Resource):
    sessionId: Text = stated("LOGIN-001")
    mfaMethods: list[Enumeration] = stated("LOGIN-002")
    expiresIn: Integer = stated("LOGIN-003")
    accountStatus: Enumeration | None = nullable("LOGIN-004")
    pendingApproval: Boolean = stated("LOGIN-005", names=("pendingApproval", "isPendingApproval"))


class MfaSent(Resource):
    sent: Boolean = stated("LOGIN-006")
    cooldownSeconds: Integer = stated("LOGIN-007")
    codeExpiresIn: Integer = stated("LOGIN-008")


class TokenPair(Resource):
    accessToken: Text = stated("TOKEN-001")
    refreshToken: Text = stated("TOKEN-002")
    expiresIn: Integer = stated("TOKEN-003")


class LoginCompleted(TokenPair):
    accountStatus: Present = nullable("TOKEN-004")
    pendingApproval: Boolean = stated("TOKEN-005", names=("pendingApproval", "isPendingApproval"))


class LoggedOut(Resource):
    success: Boolean = stated("LOGOUT-001")
    terminatedSessions: Integer = stated("LOGOUT-002")


class PasswordForgotten(Resource):
    success: Boolean = stated("PASSWORD-001")
    message: Text = stated("PASSWORD-002")


class SecureSession(Resource):
    sessionId: Text = stated("SECURE-001")
    expiresAt: Integer = stated("SECURE-002")


class AccountRecord(Resource):
    bizId: Text = stated("ACCOUNT-001")
    institutionBizId: Text = stated("ACCOUNT-002")
    accountEmail: Email = stated("ACCOUNT-003")
    accountPhone: Text = stated("ACCOUNT-004")
    accountName: Text = stated("ACCOUNT-005")
    accountRemark: Text | None = nullable("ACCOUNT-006")
    accountPortal: Enumeration = stated("ACCOUNT-007")
    accountStatus: Enumeration = stated("ACCOUNT-008")
    createdAt: Instant = stated("ACCOUNT-009")
    updatedAt: Instant = stated("ACCOUNT-010")
    defaultLanguage: Text = stated("ACCOUNT-011")
    defaultTimezone: Text = stated("ACCOUNT-012")
    defaultCountry: CountryCode = stated("ACCOUNT-013")


class AccountPage(Resource):
    accounts: list[AccountRecord] = stated("PAGE-020")
    totalElements: Present = stated("PAGE-021")
    totalPages: Present = stated("PAGE-022")
    currentPage: Present = stated("PAGE-023")
    pageSize: Present = stated("PAGE-024")


class IpWhitelist(Resource):
    enabled: Boolean = stated("IPWHITELIST-001")
    entries: list[Any] = stated("IPWHITELIST-002")


class MfaSetting(Resource):
    mfaMethod: Enumeration = stated("MFA-001")
    isEnabled: Boolean = stated("MFA-002")
    isPrimary: Boolean = stated("MFA-003")
    verifiedAt: Text | None = nullable("MFA-004")


class BackupCodeSummary(Resource):
    remainingCount: Integer = stated("BACKUP-001")
    totalGenerated: Integer = stated("BACKUP-002")


class ActiveSession(Resource):
    sessionId: Text = stated("SESSION-001")
    clientIp: Text = stated("SESSION-002")
    userAgent: Text = stated("SESSION-003")
    loginTime: Instant = stated("SESSION-004")
    lastActivityTime: Instant = stated("SESSION-005")
    isCurrent: Boolean = stated("SESSION-006")


class SessionConfig(Resource):
    accountBizId: Text = stated("SESSION-010")
    ssoEnabled: Boolean = stated("SESSION-011")
    maxSessions: Integer = stated("SESSION-012")
    passwordChangedAt: Present = nullable("SESSION-013")
    lastLoginAt: Present = nullable("SESSION-014")
    lastLoginIp: Present = nullable("SESSION-015")


class LoginHistoryItem(Resource):
    bizId: Text = stated("HISTORY-001")
    loginTime: Instant = stated("HISTORY-002")
    clientIp: Present = stated("HISTORY-003")
    userAgent: Present = stated("HISTORY-004")
    loginResult: Integer = stated("HISTORY-005")
    failureReason: Text | None = nullable("HISTORY-006")


class LoginHistoryPage(Resource):
    items: list[LoginHistoryItem] = stated("HISTORY-007")
    pagination: Pagination = stated("HISTORY-008")


class Workspace(Resource):
    bizId: Present = stated("WORKSPACE-001")
    institutionBizId: Present = stated("WORKSPACE-002")
    entityBizId: Present = nullable("WORKSPACE-003")
    workspaceName: Present = stated("WORKSPACE-004")
    workspaceTimezone: Present = stated("WORKSPACE-005")
    workspaceStatus: Enumeration = stated("WORKSPACE-006")
    workspaceKind: Enumeration = stated("WORKSPACE-007")
    extraData: Present = nullable("WORKSPACE-008")
    createdAt: Present = stated("WORKSPACE-009")
    updatedAt: Present = stated("WORKSPACE-010")


class Institution(Resource):
    bizId: Present = stated("INSTITUTION-001")
    institutionName: Present = stated("INSTITUTION-002")
    institutionDescription: Present = nullable("INSTITUTION-003")
    institutionRemark: Present = nullable("INSTITUTION-004")
    institutionType: Enumeration = stated("INSTITUTION-005")
    institutionStatus: Enumeration = stated("INSTITUTION-006")
    extraConfig: Present = nullable("INSTITUTION-007")
    createdAt: Present = stated("INSTITUTION-008")
    updatedAt: Present = stated("INSTITUTION-009")


class Role(Resource):
    bizId: Present = stated("ROLE-001")
    workspaceBizId: Present = stated("ROLE-002")
    roleName: Present = stated("ROLE-003")
    roleType: Enumeration = stated("ROLE-004")
    description: Present = stated("ROLE-005")
    permissionCodes: list[Any] = stated("ROLE-006")
    createdAt: Present = stated("ROLE-007")
    updatedAt: Present = stated("ROLE-008")


class Invitation(Resource):
    bizId: Text = stated("INVITATION-001")
    workspaceBizId: Text = stated("INVITATION-002")
    workspaceName: Text = stated("INVITATION-003")
    inviterBizId: Text = stated("INVITATION-004")
    inviterName: Text = stated("INVITATION-005")
    inviteeEmail: Text = stated("INVITATION-006")
    inviteeAccountBizId: Text = stated("INVITATION-007")
    inviteeAccountName: Text = stated("INVITATION-008")
    invitationStatus: Enumeration = stated("INVITATION-009")
    message: Text | None = nullable("INVITATION-010")
    expiresAt: InstantOrDay = stated("INVITATION-011")
    acceptedAt: Instant | None = nullable("INVITATION-012")
    createdAt: Instant = stated("INVITATION-013")
    canAccept: Boolean = stated("INVITATION-014")


class NotificationChannelType(Resource):
    bizId: Present = stated("CHANNELTYPE-001")
    typeCode: Text = stated("CHANNELTYPE-002")
    typeValue: Integer = stated("CHANNELTYPE-003")
    typeName: Present = stated("CHANNELTYPE-004")
    typeDescription: Present = stated("CHANNELTYPE-005")
    typeStatus: Enumeration = stated("CHANNELTYPE-006")
    displayOrder: Integer = stated("CHANNELTYPE-007")
    iconUrl: Present = nullable("CHANNELTYPE-008")
    extraConfig: Present = nullable("CHANNELTYPE-009")
    createdAt: Present = stated("CHANNELTYPE-010")
    updatedAt: Present = stated("CHANNELTYPE-011")
    enabled: Boolean = stated("CHANNELTYPE-012")


class ChannelTypePage(Resource):
    items: list[NotificationChannelType] = stated("CHANNELTYPE-013")
    pagination: Pagination = stated("CHANNELTYPE-014")


class EmailConfig(Resource):
    smtpHost: Text = stated("CHANNEL-011")
    smtpPort: Integer = stated("CHANNEL-012")
    senderEmail: Present = stated("CHANNEL-013")
    senderName: Present = stated("CHANNEL-014")
    username: Present = stated("CHANNEL-015")
    password: Present = stated("CHANNEL-016")
    useSsl: Boolean = stated("CHANNEL-017")
    useStartTls: Boolean = stated("CHANNEL-018")
    connectionTimeout: Integer = stated("CHANNEL-019")
    readTimeout: Integer = stated("CHANNEL-020")


class NotificationChannel(Resource):
    bizId: Text = stated("CHANNEL-001")
    institutionBizId: Text = stated("CHANNEL-002")
    channelName: Text = stated("CHANNEL-003")
    channelRemark: Text | None = nullable("CHANNEL-004")
    channelHost: Text = stated("CHANNEL-005")
    channelCategory: Text = stated("CHANNEL-006")
    channelStatus: Text = stated("CHANNEL-007")
    emailConfig: EmailConfig | None = nullable("CHANNEL-008")
    """Only the settings of channels by mail are shown: that these have some is a check's to say."""
    createdAt: Instant = stated("CHANNEL-009")
    updatedAt: Instant = stated("CHANNEL-010")
    createdBy: Text = stated("CHANNEL-021")
    updatedBy: Text = stated("CHANNEL-022")


class ChannelPage(Resource):
    items: list[NotificationChannel] = stated("CHANNEL-023")
    pagination: Pagination = stated("CHANNEL-024")


class FileRecord(Resource):
    bizId: Text = stated("FILE-001")
    bucket: Text = stated("FILE-002")
    objectKey: Text = stated("FILE-003")
    originalFilename: Text = stated("FILE-004")
    fileSize: Integer = stated("FILE-005")
    contentType: Text = stated("FILE-006")
    fileCategory: Enumeration = stated("FILE-007")
    fileStatus: Enumeration = stated("FILE-008")
    etag: Text = stated("FILE-009")
    remark: Text = stated("FILE-010")
    createdAt: Instant | Number | Integer = stated("FILE-011")
    createdBy: Text = stated("FILE-012")


class TransferOrder(Resource):
    bizId: Text = stated("ORDER-001")
    fromWalletId: Text = stated("ORDER-002")
    toWalletId: Text = stated("ORDER-003")
    currency: Text = stated("ORDER-004")
    amount: Number | Integer = stated("ORDER-005")
    feeAmount: Number | Integer = stated("ORDER-006")
    totalAmount: Number | Integer = stated("ORDER-007")
    status: Integer = stated("ORDER-008")
    statusName: Text = stated("ORDER-009")
    failureReason: Text | None = nullable("ORDER-010")
    remark: Text = stated("ORDER-011")
    createdAt: Instant = stated("ORDER-012")
    completedAt: Instant | None = nullable("ORDER-013")


class TransferOrderPage(Resource):
    content: list[TransferOrder] = stated("PAGE-030")
    totalElements: Present = stated("PAGE-031")
    totalPages: Present = stated("PAGE-032")
    size: Present = stated("PAGE-033")
    number: Present = stated("PAGE-034")


class Constant(Resource):
    code: Text = stated("CONSTANT-001")
    value: Integer = stated("CONSTANT-002")
    label: Text = stated("CONSTANT-003")


class Country(Constant):
    alpha2Code: Text = stated("CONSTANT-004")
    alpha3Code: Text = stated("CONSTANT-005")
    numericCode: Integer = stated("CONSTANT-006")
    phoneCode: Text = stated("CONSTANT-007")


class Timezone(Constant):
    zoneIdCode: Text = stated("CONSTANT-008")
    utcOffset: Text = stated("CONSTANT-009")


class UsState(Constant):
    isoCode: Present = stated("CONSTANT-010")


RESOURCES: Mapping[str, Any] = MappingProxyType(
    {
        **{
            name: each
            for name, each in globals().items()
            if isinstance(each, type) and issubclass(each, Resource) and each is not Resource
        },
        "Profile": AccountRecord,
        "PublicKey": Any,
        "CurrencyGrant": Any,
        "InvitationRecord": Any,
        "RolePermission": Any,
    }
)
"""What an operation's ``data`` names. ``Any`` where the specification does not show the fields."""
