"""Notification channels and their types (chapter "Notifications")."""

from typing import Any

from reference_impl.changes import handled, moved, refused_with, row
from reference_impl.errors import INVALID
from reference_impl.faults.fault import (
    fault,
    ignoring,
    optional,
    pretending,
    renamed,
    reported,
    reported_in_last,
    turned,
)
from reference_impl.faults.operations import (
    CHANNEL_CREATE,
    CHANNEL_DEACTIVATE,
    CHANNEL_DELETE,
    CHANNEL_UPDATE,
    CHANNELS_QUERY,
    COMMAND,
    TYPE_CREATE,
    TYPE_DELETE,
    TYPE_DISABLE,
    TYPE_ENABLE,
    TYPE_UPDATE,
    TYPES_QUERY,
)
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body

_TYPE_FILTERS = ("bizId", "typeCode", "typeStatus")
_CHANNEL_FILTERS = ("bizId", "institutionBizId", "channelCategory", "channelStatus")


def _nulls_meant(*names: str) -> Any:
    """A filter that is null gives records without a value: none."""

    def around(handler: Handler) -> Handler:
        def querying(portal: Portal, caller: Caller, body: Body) -> Any:
            data = handler(portal, caller, body)
            if any(name in body and body[name] is None for name in names):
                data["items"] = []
                data["pagination"] |= {"totalRecords": 0, "totalPages": 0, "hasNext": False, "empty": True}
            return data

        return querying

    return around


def _enabled_always(record: dict[str, Any]) -> None:
    record["enabled"] = True


def _some_of_another(handler: Handler) -> Handler:
    """The last channel of a filtered page is one that does not match."""

    def querying(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        if body.get("channelStatus") is not None and len(data["items"]) > 1:
            others = handler(
                portal,
                caller,
                {"channelStatus": "INACTIVE" if data["items"][0]["channelStatus"] == "ACTIVE" else "ACTIVE"},
            )
            data["items"][-1] = others["items"][0]
        return data

    return querying


def _of_sms(handler: Handler) -> Handler:
    """Asked for a category, the first channel is one of another."""

    def querying(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        if body.get("channelCategory") is not None:
            for channel in data["items"][:1]:
                channel["channelCategory"] = "SMS"
        return data

    return querying


def _unmasked(handler: Handler) -> Handler:
    def querying(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        for channel in data.get("items", [data]):
            real = portal.records["channel"][channel["bizId"]]["emailConfig"]["password"]
            channel["emailConfig"] = channel["emailConfig"] | {"password": real}
        return data

    return querying


def _masked_in_part(handler: Handler) -> Handler:
    """Only the first letters are masked."""

    def querying(portal: Portal, caller: Caller, body: Body) -> Any:
        data = _unmasked(handler)(portal, caller, body)
        for channel in data["items"]:
            config = channel["emailConfig"]
            config["password"] = "**" + config["password"][2:]
        return data

    return querying


def _unmasked_where_inactive(handler: Handler) -> Handler:
    def querying(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        for channel in data["items"]:
            if channel["channelStatus"] == "INACTIVE":
                real = portal.records["channel"][channel["bizId"]]["emailConfig"]["password"]
                channel["emailConfig"] = channel["emailConfig"] | {"password": real}
        return data

    return querying


def _another_channel(handler: Handler) -> Handler:
    """The right channel is deactivated, and another one answered."""

    def deactivating(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        return data | {"bizId": data["bizId"][::-1]}

    return deactivating


FAULTS = (
    # Channel types.
    fault("CHANNELTYPE-020", "type-id-filter-ignored", ignoring(TYPES_QUERY, "bizId")),
    fault("CHANNELTYPE-021", "type-code-filter-ignored", ignoring(TYPES_QUERY, "typeCode")),
    fault("CHANNELTYPE-022", "type-status-filter-ignored", ignoring(TYPES_QUERY, "typeStatus")),
    fault("CHANNELTYPE-023", "enabled-only-ignored", ignoring(TYPES_QUERY, "enabledOnly")),
    fault(
        "CHANNELTYPE-024",
        "null-type-filter-finds-nothing",
        handled(TYPES_QUERY, _nulls_meant(*_TYPE_FILTERS)),
    ),
    fault("CHANNELTYPE-025", "every-type-is-enabled", turned(TYPES_QUERY, "items[]", _enabled_always)),
    fault(
        "CHANNELTYPE-025",
        "last-type-is-the-other-way-round",
        reported_in_last(TYPES_QUERY, "items[]", enabled=lambda enabled: not enabled),
    ),
    fault("CHANNELTYPE-026", "created-type-is-not-kept", pretending(TYPE_CREATE, "channel type")),
    fault("CHANNELTYPE-027", "type-update-is-not-kept", pretending(TYPE_UPDATE, "channel type")),
    fault(
        "CHANNELTYPE-028",
        "disabling-a-type-does-not-stick",
        moved("channel type", "ENABLED", "disable", "ENABLED"),
        TYPE_DISABLE,
    ),
    fault(
        "CHANNELTYPE-029",
        "enabling-a-type-does-not-stick",
        moved("channel type", "DISABLED", "enable", "DISABLED"),
        TYPE_ENABLE,
    ),
    fault("CHANNELTYPE-030", "deleted-type-is-listed", pretending(TYPE_DELETE, "channel type")),
    # Channels.
    fault("CHANNEL-040", "channel-id-filter-ignored", ignoring(CHANNELS_QUERY, "bizId")),
    fault("CHANNEL-041", "channel-institution-filter-ignored", ignoring(CHANNELS_QUERY, "institutionBizId")),
    fault("CHANNEL-042", "channel-category-filter-gives-another", handled(CHANNELS_QUERY, _of_sms)),
    fault("CHANNEL-043", "channel-status-filter-ignored", ignoring(CHANNELS_QUERY, "channelStatus")),
    fault("CHANNEL-043", "last-channel-is-in-another-state", handled(CHANNELS_QUERY, _some_of_another)),
    fault("CHANNEL-044", "active-only-ignored", ignoring(CHANNELS_QUERY, "activeOnly")),
    fault(
        "CHANNEL-045",
        "null-channel-filter-finds-nothing",
        handled(CHANNELS_QUERY, _nulls_meant(*_CHANNEL_FILTERS)),
    ),
    fault("CHANNEL-046", "channel-password-in-the-clear", handled(CHANNELS_QUERY, _unmasked)),
    fault("CHANNEL-046", "channel-password-masked-in-part", handled(CHANNELS_QUERY, _masked_in_part)),
    fault(
        "CHANNEL-046",
        "inactive-channels-tell-their-password",
        handled(CHANNELS_QUERY, _unmasked_where_inactive),
    ),
    fault("CHANNEL-046", "deactivation-tells-the-password", handled(COMMAND, _unmasked)),
    fault("CHANNEL-047", "created-channel-is-not-kept", pretending(CHANNEL_CREATE, "channel")),
    fault("CHANNEL-048", "channel-update-is-not-kept", pretending(CHANNEL_UPDATE, "channel")),
    fault("CHANNEL-049", "deactivating-a-channel-does-not-stick", pretending(CHANNEL_DEACTIVATE, "channel")),
    fault("CHANNEL-050", "deleted-channel-is-listed", pretending(CHANNEL_DELETE, "channel")),
    # The command.
    fault("CHANNEL-030", "command-answers-an-active-channel", reported(COMMAND, "", channelStatus="ACTIVE")),
    fault("CHANNEL-030", "command-answers-disabled", reported(COMMAND, "", channelStatus="DISABLED")),
    fault("CHANNEL-031", "command-does-not-stick", pretending(COMMAND, "channel")),
    fault("CHANNEL-052", "command-without-an-id-is-unknown", optional(COMMAND, "bizId", "none")),
    fault("CHANNEL-059", "command-without-an-id-is-invalid-by-name", renamed(COMMAND, INVALID, INVALID)),
    fault(
        "CHANNEL-060",
        "unknown-channel-has-the-code-of-others",
        renamed(COMMAND, "RESOURCE.NOT_FOUND", "RESOURCE.NOT_FOUND"),
    ),
    fault(
        "CHANNEL-053", "unknown-channel-is-a-duplicate", renamed(COMMAND, "RESOURCE.NOT_FOUND", "DUPLICATE")
    ),
    fault("CHANNEL-054", "command-asks-for-no-challenge", row(COMMAND, bot="")),
    fault("CHANNEL-055", "command-answers-another-channel", handled(COMMAND, _another_channel)),
    fault("ERROR-003", "invalid-parameter-is-422", refused_with(INVALID, status=422)),
)
