"""Notification channels and their types (chapter "Notifications")."""

from typing import Any

from reference_impl.changes import handled, moved, refused_with, row
from reference_impl.errors import INVALID
from reference_impl.faults.fault import (
    ignoring,
    of,
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
    of(
        "CHANNELTYPE-020",
        "type-id-filter-ignored",
        TYPES_QUERY,
        apply=ignoring(TYPES_QUERY, "bizId"),
        spreads=True,
    ),
    of("CHANNELTYPE-021", "type-code-filter-ignored", TYPES_QUERY, apply=ignoring(TYPES_QUERY, "typeCode")),
    of(
        "CHANNELTYPE-022",
        "type-status-filter-ignored",
        TYPES_QUERY,
        apply=ignoring(TYPES_QUERY, "typeStatus"),
    ),
    of("CHANNELTYPE-023", "enabled-only-ignored", TYPES_QUERY, apply=ignoring(TYPES_QUERY, "enabledOnly")),
    of(
        "CHANNELTYPE-024",
        "null-type-filter-finds-nothing",
        TYPES_QUERY,
        apply=handled(TYPES_QUERY, _nulls_meant(*_TYPE_FILTERS)),
    ),
    of(
        "CHANNELTYPE-025",
        "every-type-is-enabled",
        TYPES_QUERY,
        apply=turned(TYPES_QUERY, "items[]", _enabled_always),
    ),
    of(
        "CHANNELTYPE-025",
        "last-type-is-the-other-way-round",
        TYPES_QUERY,
        apply=reported_in_last(TYPES_QUERY, "items[]", enabled=lambda enabled: not enabled),
    ),
    of(
        "CHANNELTYPE-026",
        "created-type-is-not-kept",
        TYPE_CREATE,
        apply=pretending(TYPE_CREATE, "channel type"),
        spreads=True,
    ),
    of(
        "CHANNELTYPE-027",
        "type-update-is-not-kept",
        TYPE_UPDATE,
        apply=pretending(TYPE_UPDATE, "channel type"),
        spreads=True,
    ),
    of(
        "CHANNELTYPE-028",
        "disabling-a-type-does-not-stick",
        TYPE_DISABLE,
        apply=moved("channel type", "ENABLED", "disable", "ENABLED"),
        spreads=True,
    ),
    of(
        "CHANNELTYPE-029",
        "enabling-a-type-does-not-stick",
        TYPE_ENABLE,
        apply=moved("channel type", "DISABLED", "enable", "DISABLED"),
        spreads=True,
    ),
    of(
        "CHANNELTYPE-030",
        "deleted-type-is-listed",
        TYPE_DELETE,
        apply=pretending(TYPE_DELETE, "channel type"),
        spreads=True,
    ),
    # Channels.
    of(
        "CHANNEL-040",
        "channel-id-filter-ignored",
        CHANNELS_QUERY,
        apply=ignoring(CHANNELS_QUERY, "bizId"),
        spreads=True,
    ),
    of(
        "CHANNEL-041",
        "channel-institution-filter-ignored",
        CHANNELS_QUERY,
        apply=ignoring(CHANNELS_QUERY, "institutionBizId"),
    ),
    of(
        "CHANNEL-042",
        "channel-category-filter-gives-another",
        CHANNELS_QUERY,
        apply=handled(CHANNELS_QUERY, _of_sms),
    ),
    of(
        "CHANNEL-043",
        "channel-status-filter-ignored",
        CHANNELS_QUERY,
        apply=ignoring(CHANNELS_QUERY, "channelStatus"),
    ),
    of(
        "CHANNEL-043",
        "last-channel-is-in-another-state",
        CHANNELS_QUERY,
        apply=handled(CHANNELS_QUERY, _some_of_another),
    ),
    of("CHANNEL-044", "active-only-ignored", CHANNELS_QUERY, apply=ignoring(CHANNELS_QUERY, "activeOnly")),
    of(
        "CHANNEL-045",
        "null-channel-filter-finds-nothing",
        CHANNELS_QUERY,
        apply=handled(CHANNELS_QUERY, _nulls_meant(*_CHANNEL_FILTERS)),
    ),
    of(
        "CHANNEL-046",
        "channel-password-in-the-clear",
        CHANNELS_QUERY,
        apply=handled(CHANNELS_QUERY, _unmasked),
    ),
    of(
        "CHANNEL-046",
        "channel-password-masked-in-part",
        CHANNELS_QUERY,
        apply=handled(CHANNELS_QUERY, _masked_in_part),
    ),
    of(
        "CHANNEL-046",
        "inactive-channels-tell-their-password",
        CHANNELS_QUERY,
        apply=handled(CHANNELS_QUERY, _unmasked_where_inactive),
    ),
    of("CHANNEL-046", "deactivation-tells-the-password", COMMAND, apply=handled(COMMAND, _unmasked)),
    of(
        "CHANNEL-047",
        "created-channel-is-not-kept",
        CHANNEL_CREATE,
        apply=pretending(CHANNEL_CREATE, "channel"),
        spreads=True,
    ),
    of(
        "CHANNEL-048",
        "channel-update-is-not-kept",
        CHANNEL_UPDATE,
        apply=pretending(CHANNEL_UPDATE, "channel"),
        spreads=True,
    ),
    of(
        "CHANNEL-049",
        "deactivating-a-channel-does-not-stick",
        CHANNEL_DEACTIVATE,
        apply=pretending(CHANNEL_DEACTIVATE, "channel"),
        spreads=True,
    ),
    of(
        "CHANNEL-050",
        "deleted-channel-is-listed",
        CHANNEL_DELETE,
        apply=pretending(CHANNEL_DELETE, "channel"),
        spreads=True,
    ),
    # The command.
    of(
        "CHANNEL-030",
        "command-answers-an-active-channel",
        COMMAND,
        apply=reported(COMMAND, "", channelStatus="ACTIVE"),
    ),
    of(
        "CHANNEL-030",
        "command-answers-disabled",
        COMMAND,
        apply=reported(COMMAND, "", channelStatus="DISABLED"),
    ),
    of("CHANNEL-031", "command-does-not-stick", COMMAND, apply=pretending(COMMAND, "channel"), spreads=True),
    of("CHANNEL-052", "command-without-an-id-is-unknown", COMMAND, apply=optional(COMMAND, "bizId", "none")),
    of(
        "CHANNEL-059",
        "command-without-an-id-is-invalid-by-name",
        COMMAND,
        apply=renamed(COMMAND, INVALID, INVALID),
    ),
    of(
        "CHANNEL-060",
        "unknown-channel-has-the-code-of-others",
        COMMAND,
        apply=renamed(COMMAND, "RESOURCE.NOT_FOUND", "RESOURCE.NOT_FOUND"),
    ),
    of(
        "CHANNEL-053",
        "unknown-channel-is-a-duplicate",
        COMMAND,
        apply=renamed(COMMAND, "RESOURCE.NOT_FOUND", "DUPLICATE"),
    ),
    of("CHANNEL-054", "command-asks-for-no-challenge", COMMAND, apply=row(COMMAND, bot="")),
    of("CHANNEL-055", "command-answers-another-channel", COMMAND, apply=handled(COMMAND, _another_channel)),
    of("ERROR-003", "invalid-parameter-is-422", apply=refused_with(INVALID, status=422)),
)
