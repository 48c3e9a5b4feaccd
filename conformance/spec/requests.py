"""What the specification says of request bodies, as pydantic models (chapter "Endpoints").

``Open`` stands for the bodies whose fields it does not show (N1, N3).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from conformance.spec import endpoints as op
from conformance.spec.resources import Boolean, Integer, Text
from conformance.spec.tables import LIMITS


class Body(BaseModel):
    model_config = ConfigDict(extra="allow")


class LoginInitiate(Body):
    """Unknown properties are rejected here, and only here is that stated."""

    model_config = ConfigDict(extra="forbid")
    email: Annotated[Text, Field(max_length=255)]
    password: Annotated[Text, Field(min_length=8, max_length=128)]


class MfaSend(Body):
    sessionId: Text
    method: Integer


class LoginComplete(Body):
    sessionId: Text
    method: Integer
    code: Text


class TokenRefresh(Body):
    refreshToken: Text


class PasswordForgot(Body):
    email: Text
    turnstileToken: Text


class Encrypted(Body):
    """What stands in the JSON string that an encrypted body is."""

    v: Integer
    p: Text


class SecureSessionCreate(Body):
    keyId: Text
    encReqKey: Text
    encRespKey: Text


class IpWhitelistSet(Body):
    ips: list[Text]


class SessionConfigSet(Body):
    maxConcurrentSessions: Integer


class ProfileUpdate(Body):
    accountName: Text | None = None
    accountPhone: Text | None = None
    defaultLanguage: Text | None = None
    defaultTimezone: Text | None = None
    defaultCountry: Text | None = None


class InvitationAccept(Body):
    invitationBizId: Text


class InvitationDecline(Body):
    invitationBizId: Text
    reason: Text | None = None


class InvitationCancel(InvitationDecline):
    pass


class InvitationCreate(Body):
    inviteeEmail: Text
    message: Text | None = None
    expirationDays: Integer | None = None


class AccountQuery(Body):
    institutionBizId: Any = None
    accountPortal: Any = None
    accountStatus: Any = None
    email: Any = None
    name: Any = None
    page: Integer | None = None
    size: Integer | None = None


class AccountUpdate(Body):
    userBizId: Text


class ChannelTypeQuery(Body):
    bizId: Any = None
    typeCode: Any = None
    typeStatus: Any = None
    enabledOnly: Boolean | None = None


class ChannelQuery(Body):
    bizId: Any = None
    institutionBizId: Any = None
    channelCategory: Any = None
    channelStatus: Any = None
    activeOnly: Boolean | None = None


class ChannelDeactivate(Body):
    bizId: Text


class Open(Body):
    pass


UNFILTERED: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        op.ACCOUNTS_QUERY: {
            **dict.fromkeys(AccountQuery.model_fields),
            "page": LIMITS.page,
            "size": LIMITS.size,
        },
        op.CHANNEL_TYPES_QUERY: {**dict.fromkeys(ChannelTypeQuery.model_fields), "enabledOnly": False},
        op.CHANNELS_QUERY: {**dict.fromkeys(ChannelQuery.model_fields), "activeOnly": False},
    }
)
"""A body for each query that filters nothing out: every filter is there and null."""


def _filters(same: str, **others: str) -> Mapping[str, str]:
    """Filters that have the name of their field, and others with their fields."""
    return {name: name for name in same.split()} | others


FILTERS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        op.ACCOUNTS_QUERY: _filters(
            "institutionBizId accountPortal accountStatus", email="accountEmail", name="accountName"
        ),
        op.CHANNEL_TYPES_QUERY: _filters("bizId typeCode typeStatus", enabledOnly="enabled"),
        op.CHANNELS_QUERY: _filters(
            "bizId institutionBizId channelCategory channelStatus", activeOnly="channelStatus"
        ),
        op.OWN_INVITATIONS: {"statuses": "invitationStatus"},
        op.TRANSFER_ORDERS: {"startTime": "createdAt", "endTime": "createdAt"},
    }
)
"""The filters of each listing, in its body or its query, each with the field that it asks about."""

REQUESTS: Mapping[str, type[Body]] = MappingProxyType(
    {
        name: each
        for name, each in globals().items()
        if isinstance(each, type) and issubclass(each, Body) and each is not Body
    }
)
