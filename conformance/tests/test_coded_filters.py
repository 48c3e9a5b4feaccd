"""Filters on coded fields that are passed over, where a listing is too short for a count to tell."""

from __future__ import annotations

import pytest

from cases.coded import passed_over
from cases.notifications.making import CHANNEL, ITEMS, a_record, is_left_out, items
from conformance.spec import REQUIREMENTS
from conformance.spec.endpoints import CHANNELS_QUERY
from conformance.tests.reached import connected
from conformance.tests.traffic import answer, channel, page, refusal
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.findings import Contradiction, Ledger, Verdict
from conformance.verdicts.verify import Verify


def listing(*listed: Json, n: int = 1) -> Exchange:
    return answer(CHANNELS_QUERY, page(*listed), n=n)


def refused() -> Exchange:
    return refusal(CHANNELS_QUERY, "VALIDATION.INVALID_PARAMETER", 400)


def wrong(code: dict[str, Exchange], value: dict[str, Exchange]) -> list[Json]:
    answers = {"code": code, "value": value}
    wrong_ones = passed_over(answers, "channelStatus", items, ITEMS)
    return [comparison.actual for comparison in wrong_ones if isinstance(comparison, Contradiction)]


def test_a_filter_that_takes_one_form_is_contradicted_by_what_it_gives_beside_it() -> None:
    active = listing(channel())
    numbers = {"ACTIVE": refused(), "INACTIVE": refused()}

    assert wrong({"ACTIVE": active, "INACTIVE": active}, numbers) == ["ACTIVE"]
    assert wrong({"ACTIVE": active, "INACTIVE": listing()}, numbers) == []
    assert wrong({"ACTIVE": active, "INACTIVE": refused()}, numbers) == []


def test_a_form_that_may_be_passed_over_contradicts_nothing() -> None:
    active = listing(channel())

    assert wrong({"ACTIVE": active, "INACTIVE": active}, {"ACTIVE": active, "INACTIVE": active}) == []
    assert wrong({"ACTIVE": active, "INACTIVE": active}, {"ACTIVE": active, "INACTIVE": refused()}) == []


@pytest.mark.parametrize("faults, verdict", [((), Verdict.PASS), (("active-only-ignored",), Verdict.WARN)])
def test_a_flag_is_asked_for_while_a_record_of_its_own_is_off(
    faults: tuple[str, ...], verdict: Verdict
) -> None:
    ledger = Ledger(REQUIREMENTS)
    verify = Verify(ledger, "a case", ["CHANNEL-044", "CHANNEL-049"])
    with connected(faults=faults) as (portal, _, _):
        with a_record(portal, verify, portal.account("admin"), CHANNEL) as own:
            assert own.call("deactivate", "CHANNEL-049") is not None
            is_left_out(own, "CHANNEL-044", "activeOnly", "channelStatus", "INACTIVE")

    results = {result.requirement.id: result.verdict for result in ledger.results()}
    assert results["CHANNEL-044"] is verdict
