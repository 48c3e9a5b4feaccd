"""Filters on coded fields that are passed over, where a listing is short; and a flag that has two names."""

from __future__ import annotations

import pytest

from cases.authentication.test_pending_approval import is_told
from cases.coded import passed_over
from cases.notifications.making import ITEMS, items
from conformance.spec.endpoints import CHANNELS_QUERY, LOGIN_INITIATE
from conformance.tests.traffic import answer, channel, page, refusal
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.findings import Contradiction


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


@pytest.mark.parametrize(
    "data, told",
    [
        ({"pendingApproval": True}, True),
        ({"pendingApproval": True, "isPendingApproval": True}, True),
        ({"pendingApproval": False, "isPendingApproval": True}, False),
        ({}, False),
    ],
)
def test_every_flag_has_to_say_so(data: dict[str, Json], told: bool) -> None:
    assert is_told(answer(LOGIN_INITIATE, data)) is told
