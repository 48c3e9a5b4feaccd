"""The filters of the queries of channels and of their types; that only matches are given is judged on the
wire (chapter "Notifications")."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import pytest

from cases.coded import ONLY_MATCHES, Answers, asked_in_both_forms, passed_over, state_of
from cases.nobody import unknown_id
from cases.notifications.making import ITEMS, NO_MASK, any_record, asked, items, matching, total
from cases.premises import authorized, granted, is_invalid
from conformance.cases import (
    CONSTANTS,
    HELD,
    STATES,
    Account,
    Comparison,
    Exchange,
    Json,
    ParameterSet,
    Portal,
    Untestable,
    Verify,
    holds,
    is_success,
    mark,
    op,
)

NOT_FOUND = "RESOURCE.NOT_FOUND"
STATES_OF_CHANNELS = dict(STATES["Notification channel"])
STATES_OF_TYPES = dict(STATES["Notification channel type"])


@dataclass(frozen=True)
class Filter:
    """A filter that records pass by a text, or by a code of ``family``. ``found`` is the field by which the
    record that passes is known again; ``reading`` the topic of the form in which a code is taken."""

    key: str
    name: str
    rules: tuple[str, ...]
    found: str = "bizId"
    family: Mapping[str, int] = field(default_factory=dict)
    reading: str | None = None

    @property
    def rule(self) -> str:
        return self.rules[0]

    def row(self) -> ParameterSet:
        return pytest.param(self, id=f"{NOUNS[self.key]} by {self.name}", marks=mark.requirement(*self.rules))


NOUNS = {op.CHANNELS_QUERY: "channel", op.CHANNEL_TYPES_QUERY: "channel type"}
TEXTS = (
    Filter(op.CHANNELS_QUERY, "bizId", ("CHANNEL-040",)),
    Filter(op.CHANNELS_QUERY, "institutionBizId", ("CHANNEL-041",), found="institutionBizId"),
    Filter(op.CHANNEL_TYPES_QUERY, "bizId", ("CHANNELTYPE-020",)),
    Filter(op.CHANNEL_TYPES_QUERY, "typeCode", ("CHANNELTYPE-021",)),
)
CODES = (
    Filter(
        op.CHANNELS_QUERY,
        "channelCategory",
        ("CHANNEL-042",),
        family=CONSTANTS["notification-channel-types"],
    ),
    Filter(op.CHANNELS_QUERY, "channelStatus", ("CHANNEL-043",), family=STATES_OF_CHANNELS),
    Filter(
        op.CHANNEL_TYPES_QUERY,
        "typeStatus",
        ("CHANNELTYPE-022", "CHANNELTYPE-032", "STATE-006"),
        family=STATES_OF_TYPES,
        reading="channel-type-filter-form",
    ),
)
FLAGS = (
    Filter(op.CHANNELS_QUERY, "activeOnly", ("CHANNEL-044", "CHANNEL-046")),
    Filter(op.CHANNEL_TYPES_QUERY, "enabledOnly", ("CHANNELTYPE-023", "CHANNELTYPE-025")),
)
NULLS = (
    Filter(op.CHANNELS_QUERY, "channelStatus", ("CHANNEL-045", "CHANNEL-058"), family=STATES_OF_CHANNELS),
    Filter(op.CHANNEL_TYPES_QUERY, "typeStatus", ("CHANNELTYPE-024", "CHANNEL-058"), family=STATES_OF_TYPES),
)
"""Filters that a record passes by a text or a code, flags, and the last of the filters that may be null."""


@pytest.mark.parametrize("by", [each.row() for each in TEXTS])
def test_a_record_is_found_by_a_text(portal: Portal, verify: Verify, admin: Account, by: Filter) -> None:
    everything = matching(portal, admin, by.key)
    record = any_record(everything, "bizId", by.name)

    listing = matching(portal, admin, by.key, **{by.name: record[by.name]})
    is_there = record[by.found] in [shown.get(by.found) for shown in items(listing)]
    if not is_there and record not in items(matching(portal, admin, by.key)):
        raise Untestable(f"the {NOUNS[by.key]} was changed or taken away meanwhile", "environment")
    expected = f"the {NOUNS[by.key]} with {by.name} {record[by.name]}"
    finds_it = holds(listing, ITEMS, is_there, expected, everything)
    if not is_decided(verify, by.rule, finds_it, listing, everything):
        is_id = by.name.lower().endswith("bizid")
        none = unknown_id(str(record[by.name])) if is_id else portal.unique()
        verify_none_found(verify, by.rule, asked(portal, admin, by.key, **{by.name: none}))


@mark.requirement("CHANNEL-041")
def test_channels_of_several_institutions_are_listed(portal: Portal, admin: Account) -> None:
    """That the filter leaves anything out is judged on the wire."""
    everything = items(matching(portal, admin, op.CHANNELS_QUERY))
    institutions = {str(record["institutionBizId"]) for record in everything if "institutionBizId" in record}
    if len(institutions) < 2:
        raise Untestable("the first page has channels of no more than one institution", "environment")
    for institution in sorted(institutions)[:3]:
        matching(portal, admin, op.CHANNELS_QUERY, institutionBizId=institution)


@pytest.mark.parametrize("by", [each.row() for each in CODES])
def test_records_are_found_by_a_code(portal: Portal, verify: Verify, admin: Account, by: Filter) -> None:
    """By code and by number: which of the two is meant is open, and a portal may pass over the other."""
    everything = matching(portal, admin, by.key)
    present = {state_of(record, by.name) for record in items(everything)}
    codes = [code for code in by.family if code in present]
    if not codes:
        raise Untestable(f"no {NOUNS[by.key]} has a {by.name} that the specification names", "environment")
    answers = asked_by_state(portal, admin, by)
    for code in codes if by.reading else ():
        taken = [form for form in answers if finds_only(answers[form][code], by.name, code)]
        forms = " and ".join("number" if form == "value" else form for form in taken)
        verify.observe(str(by.reading), everything, forms or "neither")
    verify_followed(verify, by, answers, codes)
    if len(by.family) == 1:
        _verify_leaves_out(portal, verify, admin, by, answers)


def _verify_leaves_out(portal: Portal, verify: Verify, admin: Account, by: Filter, answers: Answers) -> None:
    """Where one code alone is known, a filter that is passed over would take one that there is not, and give
    everything: one that refuses it or finds nothing is read."""
    unknown: dict[str, Json] = {"code": portal.unique().upper(), "value": UNKNOWN}
    for form, by_code in answers.items():
        if all(finds_only(answer, by.name, code) for code, answer in by_code.items()):
            nothing = asked(portal, admin, by.key, **{by.name: unknown[form]})
            if is_invalid(nothing) or (nothing.success and not total(nothing)):
                verify(by.rule, HELD)


UNKNOWN = 80019999
"""The number of a category that none of the constants names."""


@pytest.mark.parametrize("flag", [each.row() for each in FLAGS])
def test_by_a_flag_those_in_use_are_listed(
    portal: Portal, verify: Verify, admin: Account, flag: Filter
) -> None:
    """What there is without the flag shows whether it leaves anything out."""
    matching(portal, admin, flag.key)
    if not items(matching(portal, admin, flag.key, **{flag.name: True})):
        raise Untestable(f"{flag.name} finds no {NOUNS[flag.key]}", "environment")
    verify.untested(flag.rule, ONLY_MATCHES, "environment")
    if "CHANNEL-046" in flag.rules:
        verify.untested("CHANNEL-046", f"{flag.key} shows {NO_MASK}")


@pytest.mark.parametrize("last", [each.row() for each in NULLS])
def test_null_filters_leave_nothing_out(portal: Portal, verify: Verify, admin: Account, last: Filter) -> None:
    everything = asked(portal, admin, last.key)
    if is_invalid(everything):
        granted(portal.call(last.key, json={}, token=admin.token))
        # Whether all of them are nullable, or the last one only, the document leaves to its reader.
        alone = authorized(portal.call(last.key, json={last.name: None}, token=admin.token))
        verify(last.rule, is_success(alone, everything))
        return
    verify(last.rule, leaves_nothing_out(portal, admin, last))


def finds_only(answer: Exchange, field: str, code: str) -> bool:
    """Whether something is listed, and nothing in another state."""
    records = items(answer) if answer.success else []
    return bool(records) and all(state_of(record, field) == code for record in records)


def asked_by_state(portal: Portal, caller: Account, by: Filter) -> Answers:
    """The answers to the filter for each state, in both forms; between two without a filter, which show
    whether it leaves anything out."""
    matching(portal, caller, by.key)
    answers = asked_in_both_forms(
        lambda wanted: asked(portal, caller, by.key, **{by.name: wanted}), by.family
    )
    matching(portal, caller, by.key)
    return answers


def verify_followed(verify: Verify, by: Filter, answers: Answers, present: Collection[str]) -> None:
    """A filter that takes one form follows it; that only matches are given is judged on the wire. Raises
    Untestable where a state that occurs is found in no form."""
    wrong = list(passed_over(answers, by.name, items, ITEMS))
    for comparison in wrong:
        verify(by.rule, comparison)
    for code in present:
        forms = [by_code[code] for by_code in answers.values() if finds_only(by_code[code], by.name, code)]
        if not forms and not wrong:
            raise Untestable(f"the filter {by.name} takes {code} in no form", "target")
    verify.untested(by.rule, ONLY_MATCHES, "environment")


TRIES = 3
"""How often a count is compared that others may change between the answers that are compared."""


def is_decided(
    verify: Verify, rule: str, finds_it: Comparison, listing: Exchange, everything: Exchange
) -> bool:
    """Whether what a filter finds decides it: where all that there is matches, one that is passed over finds
    the same."""
    decides = finds_it is not HELD or total(listing) < total(everything)
    if decides:
        verify(rule, finds_it)
    return decides


def verify_none_found(verify: Verify, rule: str, nothing: Exchange) -> None:
    """A filter that found a record is read if it finds nothing where none matches, or refuses that. What is
    given all the same is judged on the wire."""
    if is_invalid(nothing) or nothing.code == NOT_FOUND or (nothing.success and not total(nothing)):
        verify(rule, HELD)
    verify.untested(rule, ONLY_MATCHES, "environment")


def leaves_nothing_out(portal: Portal, caller: Account, last: Filter) -> Comparison:
    """With filters that are null there are at least as many as without them, and as are listed by each state:
    a total may pass over the filter.

    That is asked before and after, and again where it does not hold: others may add and take away meanwhile.
    """
    for _ in range(TRIES):
        compared = _compared(portal, caller, last)
        if compared is HELD:
            break
    return compared


def _compared(portal: Portal, caller: Account, last: Filter) -> Comparison:
    key, field = last.key, last.name
    before = matching(portal, caller, key)
    bare = authorized(portal.call(key, json={}, token=caller.token))
    least = total(bare) if bare.success else 0
    parts: list[Exchange] = []
    answers = asked_in_both_forms(lambda wanted: asked(portal, caller, key, **{field: wanted}), last.family)
    for code in last.family:
        parts += [by_code[code] for by_code in answers.values() if finds_only(by_code[code], field, code)][:1]
    least = max(least, sum(len(items(part)) for part in parts))
    if not least:
        raise Untestable("no other way to ask finds anything to compare with", "environment")
    after = matching(portal, caller, key)
    most = max(total(before), total(after))
    at, expected = "data.pagination.totalRecords", f"at least {least}, as other ways to ask list"
    return holds(after, at, most >= least, expected, before, bare, *parts, actual=most)
