"""Filters where a listing has a single record: one that is passed over gives what it should."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cases.notifications.test_channel_filters import test_a_channel_is_found_by as channel_is_found_by
from cases.notifications.test_type_filters import test_a_channel_type_is_found_by as type_is_found_by
from conformance.judging import watch
from conformance.spec import REQUIREMENTS
from conformance.tests.reached import connected
from conformance.verdicts.findings import Ledger, Result, Verdict
from conformance.verdicts.verify import Verify

Case = Callable[..., None]

RULES: dict[str, tuple[Case, str, str, str]] = {
    "CHANNEL-040": (channel_is_found_by, "channel", "bizId", "channel-id-filter-ignored"),
    "CHANNEL-041": (channel_is_found_by, "channel", "institutionBizId", "channel-institution-filter-ignored"),
    "CHANNELTYPE-020": (type_is_found_by, "channel type", "bizId", "type-id-filter-ignored"),
    "CHANNELTYPE-021": (type_is_found_by, "channel type", "typeCode", "type-code-filter-ignored"),
}
"""By rule the case, the kind of its records, the filter, and the fault by which it is passed over."""


def decided(rule: str, *faults: str) -> Result:
    """What the case and the checks say of a rule where a portal has one record of the kind."""
    case, kind, field, _ = RULES[rule]
    ledger = Ledger(REQUIREMENTS)
    judge = watch(ledger)
    with connected(faults=faults) as (portal, seen, running):
        for record in running.portal.newest(kind)[1:]:
            running.portal.remove(kind, record["bizId"])
        case(portal, Verify(ledger, "a case", [rule]), portal.account("admin"), field, rule)
        for exchange in seen:
            judge(exchange)
    return next(result for result in ledger.results() if result.requirement.id == rule)


@pytest.mark.parametrize("rule", RULES)
def test_a_filter_that_is_followed_passes_by_what_no_record_matches(rule: str) -> None:
    assert decided(rule).verdict is Verdict.PASS


@pytest.mark.parametrize(
    "rule, verdict", [(rule, Verdict.UNTESTED if rule == "CHANNEL-041" else Verdict.WARN) for rule in RULES]
)
def test_a_filter_that_is_passed_over_does_not_pass(rule: str, verdict: Verdict) -> None:
    assert decided(rule, RULES[rule][-1]).verdict is verdict
