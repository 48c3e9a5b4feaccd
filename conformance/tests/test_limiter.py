"""A rate limit whose status and code are not described is told from a refusal of what was asked."""

from __future__ import annotations

import httpx
import pytest

from conformance.spec import REQUIREMENTS
from conformance.spec import endpoints as op
from conformance.tests.reached import transport
from conformance.traffic.exchange import Exchange
from conformance.verdicts.comparisons import is_error, is_held_back, is_rate_limited
from conformance.verdicts.findings import Ledger, Verdict

KEY, ROLES = "/web/v1/secure-channel/public-key", "/web/v1/system/roles"
QUOTA = {"success": False, "code": "TRAFFIC.E1007", "message": "Wait 3 seconds", "data": None}
SERVED = {"success": True, "code": "2000", "message": "Success", "data": {"keyId": "k"}}


class Limited:
    """A portal that refuses some of the requests, by their numbers, and always one of its paths."""

    def __init__(self, *refused: int, forbidden: str = "") -> None:
        self.refused, self.forbidden, self.paths = refused, forbidden, list[str]()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.paths.append(request.url.path)
        is_refused = len(self.paths) in self.refused or request.url.path == self.forbidden
        return httpx.Response(403, json=QUOTA) if is_refused else httpx.Response(200, json=SERVED)


def answers(portal: Limited, *paths: str) -> tuple[list[Exchange], list[Exchange]]:
    """What was answered to these reads, and all that was recorded."""
    recorded: list[Exchange] = []
    sender = transport(portal, seen=recorded)
    return [sender.send("GET", path) for path in paths], recorded


def test_what_another_request_is_answered_too_is_a_limiters() -> None:
    (_, refused, later), recorded = answers(Limited(2, 3, 4), KEY, ROLES, ROLES)

    assert (refused.held_back, later.held_back) == (True, True)
    assert is_held_back(refused)
    assert is_rate_limited(refused)
    assert [(each.n, each.request.path) for each in recorded] == [(1, KEY), (2, KEY), (3, ROLES), (4, ROLES)]


def test_a_refusal_of_one_endpoint_is_the_portals_and_is_compared_three_times() -> None:
    portal = Limited(forbidden=ROLES)
    (_, *refused), _ = answers(portal, KEY, *[ROLES] * 5)

    assert [each.held_back for each in refused] == [False] * 5
    assert portal.paths.count(KEY) == 4


@pytest.mark.parametrize("is_limiters, verdict", [(True, Verdict.UNTESTED), (False, Verdict.FAIL)])
def test_the_answer_of_a_limiter_contradicts_nothing(is_limiters: bool, verdict: Verdict) -> None:
    portal = Limited(2, 3) if is_limiters else Limited(forbidden=ROLES)
    (_, refused), _ = answers(portal, KEY, ROLES)
    ledger = Ledger(REQUIREMENTS)
    ledger.decide("LOGIN-025", is_error(refused, "AUTH.MFA_SEND_COOLDOWN"), case="cases/a.py::b")

    assert {row.requirement.id: row.verdict for row in ledger.results()}["LOGIN-025"] is verdict
    assert op.LOGIN_MFA_SEND in REQUIREMENTS["LOGIN-025"].operations
