"""Which fields each resource shows, in the specification's order (chapter "Resources and their fields").

A field's kind is ``PLAIN``, ``INSTANT`` (kept as seconds, shown as ISO 8601 UTC), ``MASKED``, or the
name of the list its code is of.
"""

from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

PLAIN = ""
INSTANT = "instant"

Fields = dict[str, tuple[tuple[str, str], ...]]


def _plain(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, PLAIN) for name in names)


def _instants(*names: str) -> tuple[tuple[str, str], ...]:
    return tuple((name, INSTANT) for name in names)


FIELDS = MappingProxyType(
    {
        "account": (
            *_plain(
                "bizId", "institutionBizId", "accountEmail", "accountPhone", "accountName", "accountRemark"
            ),
            ("accountPortal", "user-portal-types"),
            ("accountStatus", "user-account-statuses"),
            *_instants("createdAt", "updatedAt"),
            *_plain("defaultLanguage", "defaultTimezone", "defaultCountry"),
        ),
        "mfa setting": (
            ("mfaMethod", "user-mfa-methods"),
            *_plain("isEnabled", "isPrimary"),
            ("verifiedAt", INSTANT),
        ),
        "session": (
            *_plain("sessionId", "clientIp", "userAgent"),
            *_instants("loginTime", "lastActivityTime"),
            *_plain("isCurrent"),
        ),
        "session config": (
            *_plain("accountBizId", "ssoEnabled", "maxSessions"),
            *_instants("passwordChangedAt", "lastLoginAt"),
            *_plain("lastLoginIp"),
        ),
        "login history": (
            *_plain("bizId"),
            *_instants("loginTime"),
            *_plain("clientIp", "userAgent", "loginResult", "failureReason"),
        ),
        "workspace": (
            *_plain("bizId", "institutionBizId", "entityBizId", "workspaceName", "workspaceTimezone"),
            ("workspaceStatus", "user-workspace-statuses"),
            ("workspaceKind", "workspace-kinds"),
            *_plain("extraData"),
            *_instants("createdAt", "updatedAt"),
        ),
        "institution": (
            *_plain("bizId", "institutionName", "institutionDescription", "institutionRemark"),
            ("institutionType", "user-institution-types"),
            ("institutionStatus", "user-institution-statuses"),
            *_plain("extraConfig"),
            *_instants("createdAt", "updatedAt"),
        ),
        "role": (
            *_plain("bizId", "workspaceBizId", "roleName"),
            ("roleType", "workspace-role-types"),
            *_plain("description", "permissionCodes"),
            *_instants("createdAt", "updatedAt"),
        ),
        "permission": (
            *_plain("bizId", "permissionCode", "permissionName"),
            ("permissionType", "user-permission-types"),
            ("permissionStatus", "user-permission-statuses"),
        ),
        "invitation": (
            *_plain(
                "bizId", "workspaceBizId", "workspaceName", "inviterBizId", "inviterName", "inviteeEmail"
            ),
            *_plain("inviteeAccountBizId", "inviteeAccountName"),
            ("invitationStatus", "user-invitation-statuses"),
            *_plain("message"),
            *_instants("expiresAt", "acceptedAt", "createdAt"),
            *_plain("canAccept"),
        ),
        "channel type": (
            *_plain("bizId", "typeCode", "typeValue", "typeName", "typeDescription"),
            ("typeStatus", "notification-channel-type-statuses"),
            *_plain("displayOrder", "iconUrl", "extraConfig"),
            *_instants("createdAt", "updatedAt"),
            *_plain("enabled"),
        ),
        "channel": (
            *_plain(
                "bizId", "institutionBizId", "channelName", "channelRemark", "channelHost", "channelCategory"
            ),
            *_plain("channelStatus", "emailConfig"),
            *_instants("createdAt", "updatedAt"),
            *_plain("createdBy", "updatedBy"),
        ),
        "email config": (
            *_plain("smtpHost", "smtpPort", "senderEmail", "senderName", "username", "password", "useSsl"),
            *_plain("useStartTls", "connectionTimeout", "readTimeout"),
        ),
        "file": (
            *_plain("bizId", "bucket", "objectKey", "originalFilename", "fileSize", "contentType"),
            ("fileCategory", "file-categories"),
            ("fileStatus", "file-statuses"),
            *_plain("etag", "remark"),
            *_instants("createdAt"),
            *_plain("createdBy"),
        ),
        "transfer order": (
            *_plain("bizId", "fromWalletId", "toWalletId", "currency", "amount", "feeAmount", "totalAmount"),
            *_plain("status", "statusName", "failureReason", "remark"),
            *_instants("createdAt", "completedAt"),
        ),
        "currency grant": (
            *_plain("bizId", "institutionBizId", "workspaceBizId", "currencyCode"),
            ("grantStatus", "currency-config-statuses"),
            *_instants("createdAt", "updatedAt"),
        ),
    }
)


def fields() -> Fields:
    """A copy of the tables, one per portal."""
    return dict(FIELDS)


def instant(seconds: float, digits: int) -> str:
    """``2026-01-02T03:04:05.678Z``, with 3, 6 or 9 digits."""
    text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")[:26]
    return f"{(text + '000')[: 20 + digits]}Z"


def seconds(text: str) -> float:
    """The moment an ISO 8601 text names; without a zone it is taken as UTC. Raises ValueError."""
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def without_nulls(data: Any) -> Any:
    if isinstance(data, dict):
        return {name: without_nulls(value) for name, value in data.items() if value is not None}
    if isinstance(data, list):
        return [without_nulls(value) for value in data]
    return data
