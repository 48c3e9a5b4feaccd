"""Notification channels and their types (chapter "Notifications")."""

from collections.abc import Callable
from typing import Any

from reference_impl.changes import Change, moved, row, together
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import (
    Call,
    Serving,
    asked,
    first,
    ignoring,
    optional,
    pretending,
    renamed,
    reported,
    reported_in_last,
    served,
    then,
    turned,
)
from reference_impl.faults.verbs import named_with, newest_with, nothing_for, one_item_twice
from reference_impl.portal import Caller, Portal, Record
from reference_impl.shapes import Body


def _known_while_active(portal: Portal, caller: Caller, body: Body) -> None:
    if portal.records["channel"].get(body["bizId"], {}).get("channelStatus") == "INACTIVE":
        raise Refusal("RESOURCE.NOT_FOUND")


def _given_up_for(name: str, other: str) -> Callable[[Body], Body]:
    """A filter that is passed over where another is given."""

    def change(body: Body) -> Body:
        return body | {name: None} if body.get(other) not in (None, "", False) else body

    return change


_TYPE_FILTERS = ("bizId", "typeCode", "typeStatus")
_CHANNEL_FILTERS = ("bizId", "institutionBizId", "channelCategory", "channelStatus")


def _nulls_meant(*names: str) -> Serving:
    """A filter that is null gives records without a value: none."""

    def querying(call: Call) -> Any:
        data = call.run()
        if any(name in call.body and call.body[name] is None for name in names):
            data["items"] = []
            data["pagination"] |= {"totalRecords": 0, "totalPages": 0, "hasNext": False, "empty": True}
        return data

    return querying


def _some_of_another(call: Call) -> Any:
    """The last channel of a filtered page is one that does not match."""
    data = call.run()
    if call.body.get("channelStatus") is not None and len(data["items"]) > 1:
        others = call.run_with(
            {"channelStatus": "INACTIVE" if data["items"][0]["channelStatus"] == "ACTIVE" else "ACTIVE"}
        )
        data["items"][-1] = others["items"][0]
    return data


def _of_sms(call: Call) -> Any:
    """Asked for a category, the first channel is one of another."""
    data = call.run()
    if call.body.get("channelCategory") is not None:
        for channel in data["items"][:1]:
            channel["channelCategory"] = "SMS"
    return data


def _unmasked(call: Call) -> Any:
    data = call.run()
    for channel in data.get("items", [data]):
        real = call.portal.records["channel"][channel["bizId"]]["emailConfig"]["password"]
        channel["emailConfig"] = channel["emailConfig"] | {"password": real}
    return data


def _masked_in_part(call: Call) -> Any:
    """Only the first letters are masked."""
    data = _unmasked(call)
    for channel in data["items"]:
        config = channel["emailConfig"]
        config["password"] = "**" + config["password"][2:]
    return data


def _unmasked_where_inactive(call: Call) -> Any:
    data = call.run()
    for channel in data["items"]:
        if channel["channelStatus"] == "INACTIVE":
            real = call.portal.records["channel"][channel["bizId"]]["emailConfig"]["password"]
            channel["emailConfig"] = channel["emailConfig"] | {"password": real}
    return data


def _another_channel(call: Call) -> Any:
    """The right channel is deactivated, and another one answered."""
    data = call.run()
    return data | {"bizId": data["bizId"][::-1]}


def _config(**values: Any) -> Callable[[Record], Record]:
    return lambda record: record["emailConfig"] | values


def _two_alike(portal: Portal, caller: Caller, body: Body) -> None:
    """A new type has the value of the one that was made before it."""
    new, *others = portal.newest("channel type")
    new["typeValue"] = others[0]["typeValue"]


def _toggles(family: str, off: str, on: str, off_by: str, on_by: str) -> Change:
    """What is so already becomes the other by the verb that leads there."""
    return together(moved(family, off, off_by, on), moved(family, on, on_by, off))


ROWS = {
    "CHANNEL-066 an-inactive-channel-is-unknown-to-the-command": first(op.COMMAND, _known_while_active),
    "CHANNEL-062 channels-in-a-state-are-of-any-institution": asked(
        op.CHANNELS_QUERY, _given_up_for("institutionBizId", "channelStatus")
    ),
    "CHANNEL-044 a-channel-asked-for-by-id-may-be-inactive": asked(
        op.CHANNELS_QUERY, _given_up_for("activeOnly", "bizId")
    ),
    "CHANNELTYPE-023 a-type-asked-for-by-code-may-be-disabled": asked(
        op.TYPES_QUERY, _given_up_for("enabledOnly", "typeCode")
    ),
    "CHANNEL-065 active-channels-of-an-institution-are-none": asked(
        op.CHANNELS_QUERY, nothing_for("institutionBizId", "activeOnly")
    ),
    "CHANNELTYPE-035 an-enabled-type-is-not-found-by-its-code": asked(
        op.TYPES_QUERY, nothing_for("typeCode", "enabledOnly")
    ),
    "CHANNELTYPE-020 type-id-filter-ignored": ignoring(op.TYPES_QUERY, "bizId"),
    "CHANNELTYPE-021 type-code-filter-ignored": ignoring(op.TYPES_QUERY, "typeCode"),
    "CHANNELTYPE-022 type-status-filter-ignored": ignoring(op.TYPES_QUERY, "typeStatus"),
    "CHANNELTYPE-023 enabled-only-ignored": ignoring(op.TYPES_QUERY, "enabledOnly"),
    "CHANNELTYPE-024 null-type-filter-finds-nothing": served(op.TYPES_QUERY, _nulls_meant(*_TYPE_FILTERS)),
    "CHANNELTYPE-025 every-type-is-enabled": turned(
        op.TYPES_QUERY, "items[]", lambda record: record.update(enabled=True)
    ),
    "CHANNELTYPE-025 last-type-is-the-other-way-round": reported_in_last(
        op.TYPES_QUERY, "items[]", enabled=lambda enabled: not enabled
    ),
    "CHANNELTYPE-026 created-type-is-not-kept": pretending(op.TYPE_CREATE, "channel type"),
    "CHANNELTYPE-027 type-update-is-not-kept": pretending(op.TYPE_UPDATE, "channel type"),
    "CHANNELTYPE-028 disabling-a-type-does-not-stick": moved(
        "channel type", "ENABLED", "disable", "ENABLED"
    ).at(op.TYPE_DISABLE),
    "CHANNELTYPE-029 enabling-a-type-does-not-stick": moved(
        "channel type", "DISABLED", "enable", "DISABLED"
    ).at(op.TYPE_ENABLE),
    "CHANNELTYPE-030 deleted-type-is-listed": pretending(op.TYPE_DELETE, "channel type"),
    "CHANNEL-040 channel-id-filter-ignored": ignoring(op.CHANNELS_QUERY, "bizId"),
    "CHANNEL-041 channel-institution-filter-ignored": ignoring(op.CHANNELS_QUERY, "institutionBizId"),
    "CHANNEL-042 channel-category-filter-gives-another": served(op.CHANNELS_QUERY, _of_sms),
    "CHANNEL-043 channel-status-filter-ignored": ignoring(op.CHANNELS_QUERY, "channelStatus"),
    "CHANNEL-043 last-channel-is-in-another-state": served(op.CHANNELS_QUERY, _some_of_another),
    "CHANNEL-044 active-only-ignored": ignoring(op.CHANNELS_QUERY, "activeOnly"),
    "CHANNEL-045 null-channel-filter-finds-nothing": served(
        op.CHANNELS_QUERY, _nulls_meant(*_CHANNEL_FILTERS)
    ),
    "CHANNEL-046 channel-password-in-the-clear": served(op.CHANNELS_QUERY, _unmasked),
    "CHANNEL-046 channel-password-masked-in-part": served(op.CHANNELS_QUERY, _masked_in_part),
    "CHANNEL-046 inactive-channels-tell-their-password": served(op.CHANNELS_QUERY, _unmasked_where_inactive),
    "CHANNEL-046 deactivation-tells-the-password": served(op.COMMAND, _unmasked),
    "CHANNEL-047 created-channel-is-not-kept": pretending(op.CHANNEL_CREATE, "channel"),
    "CHANNEL-048 channel-update-is-not-kept": pretending(op.CHANNEL_UPDATE, "channel"),
    "CHANNEL-049 deactivating-a-channel-does-not-stick": pretending(op.CHANNEL_DEACTIVATE, "channel"),
    "CHANNEL-050 deleted-channel-is-listed": pretending(op.CHANNEL_DELETE, "channel"),
    "CHANNEL-030 command-answers-disabled": reported(op.COMMAND, "", channelStatus="DISABLED"),
    "CHANNEL-031 command-does-not-stick": pretending(op.COMMAND, "channel"),
    "CHANNEL-052 command-without-an-id-is-unknown": optional(op.COMMAND, "bizId", "none"),
    "CHANNEL-059 command-without-an-id-is-invalid-by-name": renamed(op.COMMAND, INVALID, INVALID),
    "CHANNEL-060 unknown-channel-has-the-code-of-others": renamed(
        op.COMMAND, "RESOURCE.NOT_FOUND", "RESOURCE.NOT_FOUND"
    ),
    "CHANNEL-053 unknown-channel-is-a-duplicate": renamed(op.COMMAND, "RESOURCE.NOT_FOUND", "DUPLICATE"),
    "CHANNEL-054 command-asks-for-no-challenge": row(op.COMMAND, bot=""),
    "CHANNEL-055 command-answers-another-channel": served(op.COMMAND, _another_channel),
    "CHANNEL-058 a-channel-twice-on-a-page": turned(op.CHANNELS_QUERY, "", one_item_twice("items")),
    "CHANNEL-058 a-channel-type-twice-on-a-page": turned(op.TYPES_QUERY, "", one_item_twice("items")),
    "CHANNEL-063 a-new-channel-forgets-its-port": then(
        op.CHANNEL_CREATE, newest_with("channel", emailConfig=_config(smtpPort=25))
    ),
    "CHANNELTYPE-034 a-new-type-forgets-its-description": then(
        op.TYPE_CREATE, newest_with("channel type", typeDescription="")
    ),
    "CHANNEL-061 an-update-resets-the-mail-settings": then(
        op.CHANNEL_UPDATE, named_with("channel", "bizId", emailConfig=_config(readTimeout=1))
    ),
    "CHANNELTYPE-036 a-new-type-has-the-value-of-another": then(op.TYPE_CREATE, _two_alike),
    "CHANNEL-064 a-deactivation-answers-another-port": reported(op.COMMAND, "emailConfig", smtpPort=2525),
    "CHANNELTYPE-028 CHANNELTYPE-029 disabling-a-type-twice-enables-it": _toggles(
        "channel type", "DISABLED", "ENABLED", "disable", "enable"
    ).at(op.TYPE_DISABLE, op.TYPE_ENABLE),
    "CHANNEL-049 deactivating-a-channel-twice-activates-it": moved(
        "channel", "INACTIVE", "deactivate", "ACTIVE"
    ).at(op.CHANNEL_DEACTIVATE),
}
