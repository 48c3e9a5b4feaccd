"""Filters where a listing has a single record: one that is passed over gives what it should."""

from __future__ import annotations

import pytest

from cases.notifications.test_filters import NOUNS, TEXTS
from cases.notifications.test_filters import test_a_record_is_found_by_a_text as is_found_by
from conformance.judging import watch
from conformance.spec import REQUIREMENTS
from conformance.tests.reached import connected
from conformance.verdicts.findings import Ledger, Result, Verdict
from conformance.verdicts.verify import Verify

FILTERS = {by.rule: by for by in TEXTS}
FAULTS = {
    "CHANNEL-040": "channel-id-filter-ignored",
    "CHANNEL-041": "channel-institution-filter-ignored",
    "CHANNELTYPE-020": "type-id-filter-ignored",
    "CHANNELTYPE-021": "type-code-filter-ignored",
}
"""By rule the fault by which the filter is passed over."""


def decided(rule: str, *faults: str) -> Result:
    """What the case and the checks say of a rule where a portal has one record of the kind."""
    by = FILTERS[rule]
    ledger = Ledger(REQUIREMENTS)
    judge = watch(ledger)
    with connected(faults=faults) as (portal, seen, running):
        for record in running.portal.newest(NOUNS[by.key])[1:]:
            running.portal.remove(NOUNS[by.key], record["bizId"])
        is_found_by(portal, Verify(ledger, "a case", [rule]), portal.account("admin"), by)
        for exchange in seen:
            judge(exchange)
    return next(result for result in ledger.results() if result.requirement.id == rule)


@pytest.mark.parametrize("rule", FILTERS)
def test_a_filter_that_is_followed_passes_by_what_no_record_matches(rule: str) -> None:
    assert decided(rule).verdict is Verdict.PASS


@pytest.mark.parametrize(
    "rule, verdict", [(rule, Verdict.UNTESTED if rule == "CHANNEL-041" else Verdict.WARN) for rule in FILTERS]
)
def test_a_filter_that_is_passed_over_does_not_pass(rule: str, verdict: Verdict) -> None:
    assert decided(rule, FAULTS[rule]).verdict is verdict
