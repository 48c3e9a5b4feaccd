"""The filters of the query of channel types; that only matches are given is judged on the wire."""

from __future__ import annotations

import pytest

from cases.coded import ONLY_MATCHES, state_of
from cases.notifications.queries import (
    any_record,
    asked,
    asked_by_state,
    finds_only,
    ids,
    is_decided,
    items,
    leaves_nothing_out,
    matches_none,
    matching,
    verify_followed,
    verify_none_found,
)
from cases.premises import authorized, granted, is_invalid
from conformance.cases import Account, Portal, Untestable, Verify, holds, is_success, op, requirement
from conformance.spec.tables import STATES

STATES_OF_TYPES = dict(STATES["Notification channel type"])


@requirement("CHANNELTYPE-020", "CHANNELTYPE-021")
@pytest.mark.parametrize("field, id", [("bizId", "CHANNELTYPE-020"), ("typeCode", "CHANNELTYPE-021")])
def test_a_channel_type_is_found_by(
    portal: Portal, verify: Verify, admin: Account, field: str, id: str
) -> None:
    everything = matching(portal, admin, op.CHANNEL_TYPES_QUERY)
    value = any_record(everything, "bizId", field)

    listing = matching(portal, admin, op.CHANNEL_TYPES_QUERY, **{field: value[field]})
    is_there = value["bizId"] in ids(listing)
    if not is_there and value not in items(matching(portal, admin, op.CHANNEL_TYPES_QUERY)):
        raise Untestable("the channel type was changed or taken away meanwhile", "environment")
    finds_it = holds(listing, "data.items", is_there, f"the type with {field} {value[field]}", everything)
    if not is_decided(verify, id, finds_it, listing, everything):
        none = matches_none(portal, field, str(value[field]))
        verify_none_found(verify, id, asked(portal, admin, op.CHANNEL_TYPES_QUERY, **{field: none}))


@requirement("CHANNELTYPE-022", "CHANNELTYPE-032", "STATE-006")
def test_channel_types_are_found_by_state(portal: Portal, verify: Verify, admin: Account) -> None:
    """By code and by number: which of the two is meant is open, and a portal may pass over the other."""
    everything = matching(portal, admin, op.CHANNEL_TYPES_QUERY)
    present = {state_of(record, "typeStatus") for record in items(everything)}
    codes = [code for code in STATES_OF_TYPES if code in present]
    if not codes:
        raise Untestable("no channel type is listed in a state that the specification names", "environment")

    answers = asked_by_state(portal, admin, op.CHANNEL_TYPES_QUERY, "typeStatus", STATES_OF_TYPES)
    for code in codes:
        taken = [form for form in answers if finds_only(answers[form][code], "typeStatus", code)]
        forms = " and ".join("number" if form == "value" else form for form in taken)
        verify.observe("channel-type-filter-form", everything, forms or "neither")
    verify_followed(verify, "CHANNELTYPE-022", "typeStatus", answers, codes)


@requirement("CHANNELTYPE-023", "CHANNELTYPE-025")
def test_enabled_types_alone_are_listed(portal: Portal, verify: Verify, admin: Account) -> None:
    """What there is without the flag shows whether it leaves anything out."""
    matching(portal, admin, op.CHANNEL_TYPES_QUERY)
    if not items(matching(portal, admin, op.CHANNEL_TYPES_QUERY, enabledOnly=True)):
        raise Untestable("no channel type is enabled", "environment")
    verify.untested("CHANNELTYPE-023", ONLY_MATCHES, "environment")


@requirement("CHANNELTYPE-024", "CHANNEL-058")
def test_null_filters_leave_no_type_out(portal: Portal, verify: Verify, admin: Account) -> None:
    everything = asked(portal, admin, op.CHANNEL_TYPES_QUERY)
    if is_invalid(everything):
        granted(portal.call(op.CHANNEL_TYPES_QUERY, json={}, token=admin.token))
        # Whether all of them are nullable, or the last one only, the document leaves to its reader.
        alone = authorized(portal.call(op.CHANNEL_TYPES_QUERY, json={"typeStatus": None}, token=admin.token))
        verify("CHANNELTYPE-024", is_success(alone, everything))
        return
    verify(
        "CHANNELTYPE-024",
        leaves_nothing_out(portal, admin, op.CHANNEL_TYPES_QUERY, "typeStatus", STATES_OF_TYPES),
    )
