"""A live body that cannot be read is compared with nothing."""

from __future__ import annotations

import pytest

from conformance.replay.compare.assess import Assessor
from conformance.replay.compare.baseline import RecordedBaseline
from conformance.replay.compare.comparer import Comparer
from conformance.replay.compare.noise import Noise
from conformance.replay.compare.outcome import State
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.replay.rebuild.correlation import Correlation
from conformance.traffic.exchange import ABSENT, Exchange, Form, Json, Request, Response

GOOD = {"success": True, "code": "2000", "message": "OK", "data": [{"code": "CH"}]}


def exchange(status: int, body: Json, form: Form | None = None) -> Exchange:
    request = Request(method="GET", url="http://portal.example.test/web/v1/system/constants/countries")
    response = Response(status=status, body=body, form=form)
    return Exchange(n=1, started="2026-11-22T12:00:00.000000Z", request=request, response=response)


def state_of(live: Exchange) -> tuple[State, str]:
    correlation, noise = Correlation(frozenset()), Noise()
    assessor = Assessor(Comparer(correlation, noise), correlation, noise, RecordedBaseline([], correlation))
    outcome = assessor.assess(ReplayedExchange(1, exchange(200, GOOD), live), [])
    return outcome.state, outcome.reason


@pytest.mark.parametrize("form", ["undecodable", "truncated"])
def test_a_live_body_that_cannot_be_read_is_not_comparable(form: Form) -> None:
    state, reason = state_of(exchange(200, ABSENT, form))

    assert state is State.NOT_COMPARABLE
    assert reason == f"the live body is {form}; the status is the same"


def test_another_status_is_a_regression_whatever_the_body_is() -> None:
    state, _ = state_of(exchange(500, ABSENT, "undecodable"))

    assert state is State.REGRESSED
