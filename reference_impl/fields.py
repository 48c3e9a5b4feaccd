"""Which fields each resource shows, in the specification's order (chapter "Resources and their fields").

Behind the name of a field stands its kind: ``instant`` (kept as seconds, shown as ISO 8601 UTC), or the name
of the list that its code is of; a field without a kind is shown as it is.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

PLAIN = ""
INSTANT = "instant"

Fields = dict[str, tuple[tuple[str, str], ...]]


_SHOWN = {
    "account": (
        "bizId institutionBizId accountEmail accountPhone accountName accountRemark "
        "accountPortal:user-portal-types accountStatus:user-account-statuses createdAt:instant "
        "updatedAt:instant defaultLanguage defaultTimezone defaultCountry"
    ),
    "mfa setting": "mfaMethod:user-mfa-methods isEnabled isPrimary verifiedAt:instant",
    "session": "sessionId clientIp userAgent loginTime:instant lastActivityTime:instant isCurrent",
    "session config": (
        "accountBizId ssoEnabled maxSessions passwordChangedAt:instant lastLoginAt:instant lastLoginIp"
    ),
    "login history": "bizId loginTime:instant clientIp userAgent loginResult failureReason",
    "workspace": (
        "bizId institutionBizId entityBizId workspaceName workspaceTimezone "
        "workspaceStatus:user-workspace-statuses workspaceKind:workspace-kinds extraData "
        "createdAt:instant updatedAt:instant"
    ),
    "institution": (
        "bizId institutionName institutionDescription institutionRemark "
        "institutionType:user-institution-types institutionStatus:user-institution-statuses "
        "extraConfig createdAt:instant updatedAt:instant"
    ),
    "role": (
        "bizId workspaceBizId roleName roleType:workspace-role-types description permissionCodes "
        "createdAt:instant updatedAt:instant"
    ),
    "permission": (
        "bizId permissionCode permissionName permissionType:user-permission-types "
        "permissionStatus:user-permission-statuses"
    ),
    "invitation": (
        "bizId workspaceBizId workspaceName inviterBizId inviterName inviteeEmail "
        "inviteeAccountBizId inviteeAccountName invitationStatus:user-invitation-statuses message "
        "expiresAt:instant acceptedAt:instant createdAt:instant canAccept"
    ),
    "channel type": (
        "bizId typeCode typeValue typeName typeDescription "
        "typeStatus:notification-channel-type-statuses displayOrder iconUrl extraConfig "
        "createdAt:instant updatedAt:instant enabled"
    ),
    "channel": (
        "bizId institutionBizId channelName channelRemark channelHost channelCategory channelStatus "
        "emailConfig createdAt:instant updatedAt:instant createdBy updatedBy"
    ),
    "email config": (
        "smtpHost smtpPort senderEmail senderName username password useSsl useStartTls "
        "connectionTimeout readTimeout"
    ),
    "file": (
        "bizId bucket objectKey originalFilename fileSize contentType fileCategory:file-categories "
        "fileStatus:file-statuses etag remark createdAt:instant createdBy"
    ),
    "transfer order": (
        "bizId fromWalletId toWalletId currency amount feeAmount totalAmount status statusName "
        "failureReason remark createdAt:instant completedAt:instant"
    ),
    "currency grant": (
        "bizId institutionBizId workspaceBizId currencyCode grantStatus:currency-config-statuses "
        "createdAt:instant updatedAt:instant"
    ),
}
FIELDS: Mapping[str, tuple[tuple[str, str], ...]] = MappingProxyType(
    {
        resource: tuple((name, kind) for name, _, kind in (item.partition(":") for item in shown.split()))
        for resource, shown in _SHOWN.items()
    }
)


def fields() -> Fields:
    """A copy of the tables, one per portal."""
    return dict(FIELDS)


def instant(seconds: float, digits: int) -> str:
    """``2026-01-02T03:04:05.678Z``, with 3 or 9 digits."""
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
