"""Filters in company, at the queries of channels and of their types (chapter "Notifications").

Of each pair a record passes one filter and not the other: whichever is forgotten, what is shown tells.
Most of that is judged on the wire, filter by filter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cases.coded import state_of
from cases.notifications.making import asked, items, matching
from cases.premises import granted, with_ids
from conformance.cases import (
    STATES,
    Account,
    Comparison,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    holds,
    mark,
    op,
)

Record = dict[str, Json]


def first_of(records: list[Record], passes: Callable[[Record], bool], what: str) -> Record:
    """Raises Untestable where there is none."""
    for record in with_ids(records):
        if passes(record):
            return record
    raise Untestable(f"the first page lists no {what}", "environment")


@mark.requirement("CHANNELTYPE-020", "CHANNELTYPE-021", "CHANNELTYPE-022", "CHANNELTYPE-023")
def test_filters_of_types_hold_in_company(portal: Portal, admin: Account) -> None:
    """What each of them leaves out is left out by both together: that is judged on the wire."""
    records = items(matching(portal, admin, op.CHANNEL_TYPES_QUERY))
    off = first_of(records, lambda record: record.get("enabled") is False, "type that is not enabled")
    other = first_of(records, lambda record: record.get("typeCode") != off.get("typeCode"), "other type")
    state = state_of(off, "typeStatus")
    pairs: list[Mapping[str, Json]] = [
        {"bizId": off["bizId"], "enabledOnly": True},
        {"bizId": off["bizId"], "typeCode": other.get("typeCode")},
        {"typeCode": off.get("typeCode"), "enabledOnly": True},
    ]
    if state in STATES["Notification channel type"]:
        pairs.append({"typeStatus": state, "enabledOnly": True})
    for pair in pairs:
        asked(portal, admin, op.CHANNEL_TYPES_QUERY, **pair)


@mark.requirement("CHANNEL-040", "CHANNEL-043", "CHANNEL-044", "CHANNEL-062")
def test_filters_of_channels_hold_in_company(portal: Portal, verify: Verify, admin: Account) -> None:
    """Which institution's channels count as another's own is not stated: the filter is held to what it gives
    alone, and where that is nothing but its own."""
    records = items(matching(portal, admin, op.CHANNELS_QUERY))
    off = first_of(
        records, lambda record: record.get("channelStatus") == "INACTIVE", "channel that is inactive"
    )
    owner = off.get("institutionBizId")
    stranger = first_of(
        records, lambda record: is_of_another(record, owner), "channel of another institution"
    )
    asked(portal, admin, op.CHANNELS_QUERY, bizId=off["bizId"], activeOnly=True)
    number = STATES["Notification channel"]["INACTIVE"]
    asked(portal, admin, op.CHANNELS_QUERY, channelStatus=number, activeOnly=True)

    alone = matching(portal, admin, op.CHANNELS_QUERY, institutionBizId=owner)
    if any(is_of_another(record, owner) for record in items(alone)):
        raise Untestable("institutionBizId gives channels of other institutions too", "target")
    others: list[Mapping[str, Json]] = [
        {"activeOnly": True},
        {"channelStatus": stranger.get("channelStatus")},
        {"bizId": stranger["bizId"]},
    ]
    for other in others:
        together = asked(portal, admin, op.CHANNELS_QUERY, institutionBizId=owner, **other)
        if together.success:
            verify("CHANNEL-062", are_of(together, owner, alone))


def is_of_another(record: Record, owner: Json) -> bool:
    return isinstance(record.get("institutionBizId"), str) and record["institutionBizId"] != owner


def are_of(together: Exchange, owner: Json, alone: Exchange) -> Comparison:
    wrong = [record.get("bizId") for record in items(granted(together)) if is_of_another(record, owner)]
    return holds(together, "data.items", not wrong, f"channels of {owner}", alone, actual={"others": wrong})
