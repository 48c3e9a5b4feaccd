"""Who may be blamed where fewer sign-ins begin than are stated: others may sign in from the same address."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import httpx
import pytest

from cases.authentication.test_rate_limit import (
    test_ten_sign_ins_begin_in_a_window_and_the_eleventh_is_refused as ten_begin,
)
from conformance.errors import Untestable
from conformance.target.clock import SimulatedClock
from conformance.tests.reached import MINIMAL, Deciding, answer, answering
from conformance.verdicts.findings import Verdict

WINDOW = 60.0
PROFILE = f"""{MINIMAL}
[accounts.spare]
email = "spare@example.test"
password = "the spare's password"
otp_secret = "JBSWY3DPEHPK3PXQ"

[limits]
login_window = {WINDOW}
"""


class Idle(SimulatedClock):
    """A clock of the target. Its pauses take no time, and are told of."""

    def __init__(self, portal: CountedPortal) -> None:
        super().__init__(portal.move)
        self._portal = portal

    def pause(self, seconds: float, why: str) -> None:
        self._portal.pause(seconds)


@dataclass
class CountedPortal:
    """Begins ``limit`` sign-ins in a window, whoever signs in, and refuses more; where it ``is_down`` it then
    serves nothing else. ``others`` sign in as often each time that the clock was moved to a new window, and
    ``meanwhile`` as often in each second."""

    limit: int = 10
    others: int = 0
    meanwhile: float = 0
    by_account: bool = False
    refusal: httpx.Response = field(default_factory=lambda: answer(code="RATE_LIMITED", status=429))
    is_down: bool = False
    counts: dict[str, int] = field(default_factory=dict)

    def move(self, seconds: float) -> None:
        if seconds >= WINDOW:
            self.counts = {"": self.others}

    def pause(self, seconds: float) -> None:
        self.counts[""] = self.counts.get("", 0) + int(seconds * self.meanwhile)

    def respond(self, request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/login/initiate"):
            is_over = self.is_down and self.counts.get("", 0) >= self.limit
            return self.refusal if is_over else answer(code="AUTH.MFA_CODE_INVALID", status=400)
        who = json.loads(request.content)["email"] if self.by_account else ""
        if self.counts.get(who, 0) >= self.limit:
            return self.refusal
        self.counts[who] = self.counts.get(who, 0) + 1
        return answer({"sessionId": f"s-{who}-{self.counts[who]}", "mfaMethods": [], "expiresIn": 300})


def blamed(target: CountedPortal) -> set[str]:
    """The rules that the case finds contradicted. Untestable, as the case."""
    return {id for id, verdict in decided(target).items() if verdict in (Verdict.FAIL, Verdict.WARN)}


def decided(target: CountedPortal) -> dict[str, Verdict]:
    """What the case says of its rules. Untestable, as the case."""
    clock = Idle(target)
    target.move(WINDOW)
    portal = answering(target.respond, profile=PROFILE, clock=clock)
    verify = Deciding()
    for seconds, why in ten_begin(portal, portal.account("spare"), verify):
        clock.wait(seconds, why)
    return {rule: verdict for rule, verdict in verify.verdicts.items() if rule.startswith("LIMIT-")}


@pytest.mark.parametrize("by_account", [False, True])
def test_a_portal_that_begins_nine_is_blamed(by_account: bool) -> None:
    assert blamed(CountedPortal(limit=9, by_account=by_account)) == {"LIMIT-002"}
    assert blamed(CountedPortal(by_account=by_account)) == set()


def test_no_portal_is_blamed_for_what_others_began_beside_a_clock_that_is_moved() -> None:
    with pytest.raises(Untestable, match=r"sign-in 9 of a window .* may count: it was sign-in 6 once more"):
        blamed(CountedPortal(others=2, meanwhile=3.0))


def test_sign_ins_of_others_are_no_matter_where_each_account_is_counted() -> None:
    assert blamed(CountedPortal(others=2, meanwhile=3.0, by_account=True)) == set()


LATER = {"Retry-After": "30"}


@pytest.mark.parametrize(
    "refusal",
    [
        answer(code="RATE.SLOW_DOWN", status=503, headers=LATER),
        answer(code="E-17", status=503, headers=LATER),
    ],
)
def test_a_rate_limit_may_be_told_as_an_overload(refusal: httpx.Response) -> None:
    verdicts = decided(CountedPortal(refusal=refusal))

    assert {verdicts[f"LIMIT-{number}"] for number in ("001", "002", "003")} == {Verdict.PASS}
    assert {verdicts[f"LIMIT-{number}"] for number in ("004", "014")} == {Verdict.OPEN}


@pytest.mark.parametrize(
    "target",
    [
        CountedPortal(limit=7, refusal=answer(code="E-17", status=503, headers=LATER)),
        CountedPortal(refusal=answer(code="E-17", status=503)),
        CountedPortal(refusal=answer(code="E-17", status=500, headers=LATER)),
        CountedPortal(refusal=answer(code="E-17", status=503, headers=LATER), is_down=True),
    ],
    ids=["too early", "no time is told", "another server error", "nothing else is served"],
)
def test_an_outage_is_no_rate_limit(target: CountedPortal) -> None:
    with pytest.raises(Untestable, match="no sign-in can be begun"):
        decided(target)
