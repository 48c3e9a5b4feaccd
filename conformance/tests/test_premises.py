"""What the cases take as given: answers that say something, ids and tokens that are nobody's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from cases.premises import BEHIND, answered, authorized, granted, settled, unless_by_own_rule
from cases.profile.test_profile import same_address
from conformance.cases import Account, Portal
from conformance.errors import Untestable
from conformance.target.clock import Clock, SimulatedClock
from conformance.target.profile.model import parse
from conformance.tests.reached import MINIMAL
from conformance.traffic.exchange import Exchange, Json, Request, Response


def answer(status: int, code: str = "2000", data: Json = None) -> Exchange:
    body = {"success": status == 200, "code": code, "message": "", "data": data}
    request = Request(method="GET", url="http://portal.example.test/web/v1/system/profile")
    return Exchange(
        n=1, started="2026-01-01T00:00:00Z", request=request, response=Response(status=status, body=body)
    )


@pytest.mark.parametrize("status", [408, 429, 502, 503, 504, 520, 530])
def test_an_answer_that_was_held_back_says_nothing(status: int) -> None:
    with pytest.raises(Untestable, match="held back") as caught:
        answered(answer(status, "RATE_LIMIT.EXCEEDED"))
    assert caught.value.fault_class == "environment"


@pytest.mark.parametrize(
    "status, code, blamed",
    [
        (403, "ACCESS.PERMISSION_DENIED", "credentials"),
        (403, "4030", "configuration"),
        (400, "4030", "configuration"),
        (401, "4010", "target"),
    ],
)
def test_a_caller_who_was_refused_is_told_from_a_request_that_was(
    status: int, code: str, blamed: str
) -> None:
    with pytest.raises(Untestable) as caught:
        authorized(answer(status, code))
    assert caught.value.fault_class == blamed


@pytest.mark.parametrize("status, code", [(409, "SESSION.LIMIT_REACHED"), (403, "ACCESS.PERMISSION_DENIED")])
def test_a_sign_in_may_be_refused_by_a_rule_of_the_portals_own(status: int, code: str) -> None:
    with pytest.raises(Untestable, match="by a rule of its own"):
        unless_by_own_rule(answer(status, code))


@pytest.mark.parametrize(
    "status, code",
    [(200, "2000"), (400, "AUTH.MFA_CODE_INVALID"), (404, "AUTH.SESSION_NOT_FOUND"), (400, "MINE")],
)
def test_other_refusals_of_a_sign_in_are_judged(status: int, code: str) -> None:
    exchange = answer(status, code)
    assert unless_by_own_rule(exchange) is exchange


class Paused(SimulatedClock):
    """A clock whose moves the target follows, and whose pauses take no time."""

    def __init__(self) -> None:
        super().__init__(lambda seconds: None)
        self.spent: list[float] = []

    def pause(self, seconds: float, why: str) -> None:
        self.spent.append(seconds)


def test_a_replica_is_waited_for_beside_a_clock_that_is_moved() -> None:
    clock, shown = Paused(), iter(["old", "old", "new"])
    portal = cast(Portal, SimpleNamespace(clock=clock, profile=parse(MINIMAL, {})))

    assert settled(portal, lambda: next(shown), lambda each: each == "new") == "new"
    assert clock.spent == [BEHIND]


class Waiting(Clock):
    """A clock whose waits take no time."""

    def __init__(self) -> None:
        super().__init__()
        self.spent: list[float] = []

    def wait(self, seconds: float, why: str) -> None:
        self.spent.append(seconds)


@pytest.mark.parametrize("change_shows, spent", [(10, [5, 5]), (30, [5, 25]), (2, [5])])
def test_a_change_is_looked_for_as_long_as_the_limits_give_it(change_shows: int, spent: list[float]) -> None:
    clock = Waiting()
    profile = parse(MINIMAL + f"[limits]\nchange_shows = {change_shows}\n", {})
    portal = cast(Portal, SimpleNamespace(clock=clock, profile=profile))

    assert settled(portal, lambda: "old", lambda each: each == "new") == "old"
    assert clock.spent == spent


def test_a_domain_in_punycode_is_the_same_domain() -> None:
    caller = cast(Account, SimpleNamespace(email="Admin@b\u00fccher.example.test"))

    assert same_address("admin@xn--bcher-kva.example.test", caller)
    assert not same_address("admin@bucher.example.test", caller)
    assert not same_address(None, caller)


def test_a_refused_request_is_an_answer_but_no_ground_to_go_on() -> None:
    refused = answer(400, "VALIDATION.INVALID_PARAMETER")
    assert authorized(refused) is refused
    with pytest.raises(Untestable, match=r"GET /web/v1/system/profile was refused \(HTTP 400, VALIDATION"):
        granted(refused)
