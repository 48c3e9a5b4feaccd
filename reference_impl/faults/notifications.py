"""Notification channels and their types (chapter "Notifications")."""

from typing import Any

from reference_impl.changes import moved, row, together
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import (
    Call,
    answered,
    asked,
    first,
    ignoring,
    optional,
    pretending,
    renamed,
    reported,
    then,
    turned,
)
from reference_impl.faults.verbs import given_up_for, newest_with, nothing_for, null_means, one_item_twice
from reference_impl.portal import Caller, Portal
from reference_impl.shapes import Body


def _known_while_active(portal: Portal, caller: Caller, body: Body) -> None:
    if portal.records["channel"].get(body["bizId"], {}).get("channelStatus") == "INACTIVE":
        raise Refusal("RESOURCE.NOT_FOUND")


def _of_sms(call: Call, data: Any) -> Any:
    """Asked for a category, the first channel is one of another."""
    if call.body.get("channelCategory") is not None and data["items"]:
        data["items"][0]["channelCategory"] = "SMS"
    return data


def _unmasked(call: Call, data: Any) -> Any:
    for channel in data["items"]:
        real = call.portal.records["channel"][channel["bizId"]]["emailConfig"]["password"]
        channel["emailConfig"] = channel["emailConfig"] | {"password": real}
    return data


def _two_alike(portal: Portal, caller: Caller, body: Body) -> None:
    """Gives a new channel type the value of the previous channel type."""
    new, *others = portal.newest("channel type")
    new["typeValue"] = others[0]["typeValue"]


ROWS = {
    "CHANNEL-066 an-inactive-channel-is-unknown-to-the-command": first(op.COMMAND, _known_while_active),
    "CHANNEL-062 channels-in-a-state-are-of-any-institution": asked(
        op.CHANNELS_QUERY, given_up_for("institutionBizId", "channelStatus")
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
    "CHANNELTYPE-025 every-type-is-enabled": reported(op.TYPES_QUERY, "items[]", enabled=True),
    "CHANNELTYPE-026 created-type-is-not-kept": pretending(op.TYPE_CREATE, "channel type"),
    "CHANNELTYPE-027 type-update-is-not-kept": pretending(op.TYPE_UPDATE, "channel type"),
    "CHANNELTYPE-030 deleted-type-is-listed": pretending(op.TYPE_DELETE, "channel type"),
    "CHANNEL-040 channel-id-filter-ignored": ignoring(op.CHANNELS_QUERY, "bizId"),
    "CHANNEL-041 channel-institution-filter-ignored": ignoring(op.CHANNELS_QUERY, "institutionBizId"),
    "CHANNEL-042 channel-category-filter-gives-another": answered(op.CHANNELS_QUERY, _of_sms),
    "CHANNEL-043 channel-status-filter-ignored": ignoring(op.CHANNELS_QUERY, "channelStatus"),
    "CHANNEL-045 a-null-status-asks-for-active-channels": asked(
        op.CHANNELS_QUERY, null_means("channelStatus", "ACTIVE")
    ),
    "CHANNELTYPE-024 a-null-status-asks-for-enabled-types": asked(
        op.TYPES_QUERY, null_means("typeStatus", "ENABLED")
    ),
    "CHANNEL-044 active-only-ignored": ignoring(op.CHANNELS_QUERY, "activeOnly"),
    "CHANNEL-046 channel-password-in-the-clear": answered(op.CHANNELS_QUERY, _unmasked),
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
    "CHANNEL-055 command-answers-another-channel": reported(op.COMMAND, "", bizId=lambda id: id[::-1]),
    "CHANNEL-058 a-channel-twice-on-a-page": turned(op.CHANNELS_QUERY, "", one_item_twice("items")),
    "CHANNEL-063 a-new-channel-forgets-its-port": then(
        op.CHANNEL_CREATE,
        newest_with("channel", emailConfig=lambda record: record["emailConfig"] | {"smtpPort": 25}),
    ),
    "CHANNELTYPE-034 a-new-type-forgets-its-description": then(
        op.TYPE_CREATE, newest_with("channel type", typeDescription="")
    ),
    "CHANNELTYPE-036 a-new-type-has-the-value-of-another": then(op.TYPE_CREATE, _two_alike),
    "CHANNEL-064 a-deactivation-answers-another-port": reported(op.COMMAND, "emailConfig", smtpPort=2525),
    "CHANNELTYPE-028 CHANNELTYPE-029 disabling-a-type-twice-enables-it": together(
        moved("channel type", "DISABLED", "disable", "ENABLED"),
        moved("channel type", "ENABLED", "enable", "DISABLED"),
    ).at(op.TYPE_DISABLE, op.TYPE_ENABLE),
    "CHANNEL-049 deactivating-a-channel-twice-activates-it": moved(
        "channel", "INACTIVE", "deactivate", "ACTIVE"
    ).at(op.CHANNEL_DEACTIVATE),
}
