"""The filters of the query of channels; that only matches are given is judged on the wire."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cases.coded import ONLY_MATCHES, Answers, state_of
from cases.notifications.making import NO_MASK
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
    total,
    verify_followed,
    verify_none_found,
)
from cases.premises import authorized, granted, is_invalid
from conformance.cases import (
    HELD,
    Account,
    Json,
    Portal,
    Untestable,
    Verify,
    holds,
    is_success,
    op,
    requirement,
)
from conformance.spec.tables import CONSTANTS, STATES

STATES_OF_CHANNELS = dict(STATES["Notification channel"])
CATEGORIES = CONSTANTS["notification-channel-types"]


@requirement("CHANNEL-040", "CHANNEL-041")
@pytest.mark.parametrize("field, id", [("bizId", "CHANNEL-040"), ("institutionBizId", "CHANNEL-041")])
def test_a_channel_is_found_by(portal: Portal, verify: Verify, admin: Account, field: str, id: str) -> None:
    everything = matching(portal, admin, op.CHANNELS_QUERY)
    value = any_record(everything, "bizId", field)

    listing = matching(portal, admin, op.CHANNELS_QUERY, **{field: value[field]})
    values = {record.get(field) for record in items(listing)}
    if value[field] not in values and value not in items(matching(portal, admin, op.CHANNELS_QUERY)):
        raise Untestable("the channel was changed or taken away meanwhile", "environment")
    expected = f"channels with {field} {value[field]}"
    finds_it = holds(listing, "data.items", value[field] in values, expected, everything)
    if not is_decided(verify, id, finds_it, listing, everything):
        none = matches_none(portal, field, str(value[field]))
        verify_none_found(verify, id, asked(portal, admin, op.CHANNELS_QUERY, **{field: none}))


@requirement("CHANNEL-041")
def test_channels_of_several_institutions_are_listed(portal: Portal, admin: Account) -> None:
    """That the filter leaves anything out is judged on the wire."""
    everything = items(matching(portal, admin, op.CHANNELS_QUERY))
    institutions = {str(record["institutionBizId"]) for record in everything if "institutionBizId" in record}
    if len(institutions) < 2:
        raise Untestable("the first page has channels of no more than one institution", "environment")
    for institution in sorted(institutions)[:3]:
        matching(portal, admin, op.CHANNELS_QUERY, institutionBizId=institution)


@requirement("CHANNEL-042")
def test_channels_are_found_by_category(portal: Portal, verify: Verify, admin: Account) -> None:
    _verify_followed(portal, verify, admin, "CHANNEL-042", field="channelCategory", family=CATEGORIES)


@requirement("CHANNEL-043")
def test_channels_are_found_by_state(portal: Portal, verify: Verify, admin: Account) -> None:
    _verify_followed(portal, verify, admin, "CHANNEL-043", field="channelStatus", family=STATES_OF_CHANNELS)


def _verify_followed(
    portal: Portal, verify: Verify, admin: Account, rule: str, *, field: str, family: Mapping[str, int]
) -> None:
    """By code and by number: which of the two is meant is open, and a portal may pass over the other."""
    present = {state_of(record, field) for record in items(matching(portal, admin, op.CHANNELS_QUERY))}
    codes = [code for code in family if code in present]
    if not codes:
        raise Untestable(f"no channel has a {field} that the specification names", "environment")
    answers = asked_by_state(portal, admin, op.CHANNELS_QUERY, field, family)
    verify_followed(verify, rule, field, answers, codes)
    if len(family) == 1:
        _verify_leaves_out(portal, verify, admin, rule, field=field, answers=answers)


def _verify_leaves_out(
    portal: Portal, verify: Verify, admin: Account, rule: str, *, field: str, answers: Answers
) -> None:
    """Where one code alone is known, a filter that is passed over would take one that there is not, and give
    everything: one that refuses it or finds nothing is read."""
    unknown: dict[str, Json] = {"code": portal.unique().upper(), "value": UNKNOWN}
    for form, by_code in answers.items():
        if all(finds_only(answer, field, code) for code, answer in by_code.items()):
            nothing = asked(portal, admin, op.CHANNELS_QUERY, **{field: unknown[form]})
            if is_invalid(nothing) or (nothing.success and not total(nothing)):
                verify(rule, HELD)


UNKNOWN = 80019999
"""The number of a category that none of the constants names."""


@requirement("CHANNEL-044", "CHANNEL-046")
def test_active_channels_alone_are_listed(portal: Portal, verify: Verify, admin: Account) -> None:
    """What there is without the flag shows whether it leaves anything out."""
    matching(portal, admin, op.CHANNELS_QUERY)
    if not ids(matching(portal, admin, op.CHANNELS_QUERY, activeOnly=True)):
        raise Untestable("no channel is active", "environment")
    verify.untested("CHANNEL-044", ONLY_MATCHES, "environment")
    verify.untested("CHANNEL-046", f"{op.CHANNELS_QUERY} shows {NO_MASK}")


@requirement("CHANNEL-045", "CHANNEL-058")
def test_null_filters_leave_no_channel_out(portal: Portal, verify: Verify, admin: Account) -> None:
    everything = asked(portal, admin, op.CHANNELS_QUERY)
    if is_invalid(everything):
        granted(portal.call(op.CHANNELS_QUERY, json={}, token=admin.token))
        # Whether all of them are nullable, or the last one only, the document leaves to its reader.
        alone = authorized(portal.call(op.CHANNELS_QUERY, json={"channelStatus": None}, token=admin.token))
        verify("CHANNEL-045", is_success(alone, everything))
        return
    verify(
        "CHANNEL-045",
        leaves_nothing_out(portal, admin, op.CHANNELS_QUERY, "channelStatus", STATES_OF_CHANNELS),
    )
