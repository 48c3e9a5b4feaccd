"""The filters of the query of channels; that only matches are given is judged on the wire."""

from __future__ import annotations

import pytest

from cases.notifications.queries import (
    any_record,
    asked,
    finds_only,
    ids,
    in_state,
    items,
    leaves_nothing_out,
    matching,
    state_of,
)
from cases.premises import authorized, granted, is_invalid
from conformance.cases import Account, Portal, Untestable, Verify, holds, is_success, requirement
from conformance.spec.endpoints import CHANNELS_QUERY
from conformance.spec.tables import CONSTANTS, STATES

STATES_OF_CHANNELS = dict(STATES["Notification channel"])
CATEGORIES = CONSTANTS["notification-channel-types"]


@requirement("CHANNEL-040", "CHANNEL-041")
@pytest.mark.parametrize("field, id", [("bizId", "CHANNEL-040"), ("institutionBizId", "CHANNEL-041")])
def test_a_channel_is_found_by(portal: Portal, verify: Verify, admin: Account, field: str, id: str) -> None:
    everything = matching(portal, admin, CHANNELS_QUERY)
    value = any_record(everything, "bizId", field)

    listing = matching(portal, admin, CHANNELS_QUERY, **{field: value[field]})
    values = {record.get(field) for record in items(listing)}
    if value[field] not in values and value not in items(matching(portal, admin, CHANNELS_QUERY)):
        raise Untestable("the channel was changed or taken away meanwhile", "environment")
    expected = f"channels with {field} {value[field]}"
    verify(id, holds(listing, "data.items", value[field] in values, expected, everything))


@requirement("CHANNEL-041")
def test_channels_of_several_institutions_are_listed(portal: Portal, admin: Account) -> None:
    """That the filter leaves anything out is judged on the wire."""
    everything = items(matching(portal, admin, CHANNELS_QUERY))
    institutions = {str(record["institutionBizId"]) for record in everything if "institutionBizId" in record}
    if len(institutions) < 2:
        raise Untestable("the first page has channels of no more than one institution", "environment")
    for institution in sorted(institutions)[:3]:
        matching(portal, admin, CHANNELS_QUERY, institutionBizId=institution)


@requirement("CHANNEL-042")
def test_channels_are_found_by_category(portal: Portal, admin: Account) -> None:
    """By code and by number: which of the two is meant is open, and a portal may pass over the other."""
    present = {record.get("channelCategory") for record in items(matching(portal, admin, CHANNELS_QUERY))}
    codes = [code for code in CATEGORIES if code in present]
    if not codes:
        raise Untestable("no channel is of a category that the specification names", "environment")

    for code in codes:
        answers = in_state(portal, admin, CHANNELS_QUERY, "channelCategory", code, CATEGORIES[code])
        if not any(finds_only(answer, "channelCategory", code) for _, answer in answers):
            raise Untestable(f"the filter channelCategory takes {code} in no form", "target")
    matching(portal, admin, CHANNELS_QUERY)


@requirement("CHANNEL-043")
def test_channels_are_found_by_state(portal: Portal, admin: Account) -> None:
    present = {state_of(record, "channelStatus") for record in items(matching(portal, admin, CHANNELS_QUERY))}
    codes = [code for code in STATES_OF_CHANNELS if code in present]
    if not codes:
        raise Untestable("no channel is listed in a state that the specification names", "environment")

    for code in codes:
        answers = in_state(portal, admin, CHANNELS_QUERY, "channelStatus", code, STATES_OF_CHANNELS[code])
        if not any(finds_only(answer, "channelStatus", code) for _, answer in answers):
            raise Untestable(f"the filter channelStatus takes {code} in no form", "target")
    matching(portal, admin, CHANNELS_QUERY)


@requirement("CHANNEL-044", "CHANNEL-046")
def test_active_channels_alone_are_listed(portal: Portal, admin: Account) -> None:
    if not ids(matching(portal, admin, CHANNELS_QUERY, activeOnly=True)):
        raise Untestable("no channel is active", "environment")


@requirement("CHANNEL-045", "CHANNEL-058")
def test_null_filters_leave_no_channel_out(portal: Portal, verify: Verify, admin: Account) -> None:
    everything = asked(portal, admin, CHANNELS_QUERY)
    if is_invalid(everything):
        granted(portal.call(CHANNELS_QUERY, json={}, token=admin.token))
        # Whether all of them are nullable, or the last one only, the document leaves to its reader.
        alone = authorized(portal.call(CHANNELS_QUERY, json={"channelStatus": None}, token=admin.token))
        verify("CHANNEL-045", is_success(alone, everything))
        return
    verify(
        "CHANNEL-045", leaves_nothing_out(portal, admin, CHANNELS_QUERY, "channelStatus", STATES_OF_CHANNELS)
    )
