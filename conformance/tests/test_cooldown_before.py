"""A cooldown that counts by account may run from before the run, or from another sign-in of the account."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from cases.authentication.steps import SETTLING, begun, delivered
from conformance.errors import Untestable
from conformance.report.model.run import ChangesMade
from conformance.run.session import RunOptions, RunSession
from conformance.spec.endpoints import BACKUP_CODES_GENERATE
from conformance.spec.tables import COOLDOWN
from conformance.target.clock import SimulatedClock
from conformance.target.portal import Portal
from conformance.target.portal.sign_ins.calls import MAILED_BEFORE
from conformance.target.profile.model import parse
from conformance.tests.reached import BY_MAIL, answer, answering
from conformance.traffic.exchange import Exchange


class ByAccount:
    """A portal that has an account mailed one code a minute. ``mailed``: when it last did."""

    def __init__(self, mailed: float | None = None) -> None:
        self.time = 1_000_000.0
        self.mailed = mailed if mailed is None else self.time + mailed
        self.sessions = 0

    def advance(self, seconds: float) -> None:
        self.time += seconds

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("login/initiate"):
            self.sessions += 1
            return answer({"sessionId": f"s-{self.sessions}"})
        left = 0.0 if self.mailed is None else self.mailed + 60 - self.time
        if left > 0:
            return answer(status=425, code=COOLDOWN, headers={"Retry-After": f"{left:.0f}"})
        self.mailed = self.time
        return answer({"sent": True, "cooldownSeconds": 60, "codeExpiresIn": 300})

    def connected(self) -> Portal:
        return answering(self, profile=BY_MAIL, clock=SimulatedClock(self.advance))


def sent(
    played: ByAccount, portal: Portal, meanwhile: Callable[[], object] = lambda: None
) -> tuple[Exchange, list[str]]:
    """The answer to the first send of a login session, and what was yielded; at each of the latter time
    passes, and then ``meanwhile`` is done."""
    steps = delivered(portal, begun(portal, portal.account("admin")))
    yielded: list[str] = []
    while True:
        try:
            seconds, why = next(steps)
        except StopIteration as end:
            return end.value, yielded
        yielded.append(why)
        portal.clock.wait(seconds, why)
        meanwhile()


def test_a_cooldown_from_before_the_run_is_waited_for_at_once() -> None:
    played = ByAccount(mailed=-17)
    portal = played.connected()

    exchange, yielded = sent(played, portal)

    assert exchange.success
    assert yielded == []  # no other sign-in of the account can have a code sent meanwhile
    assert played.time == pytest.approx(1_000_000 + 43 + SETTLING, abs=0.1)


def test_a_turn_that_another_sign_in_takes_is_waited_for_once_more() -> None:
    played = ByAccount()
    portal = played.connected()
    other = begun(portal, portal.account("admin"))
    assert portal.login.send(other).success
    turns = iter([other])

    exchange, yielded = sent(
        played, portal, meanwhile=lambda: [portal.login.send(session) for session in list(turns)]
    )

    assert exchange.success
    assert yielded == ["the resend cooldown of the sign-in before"] * 2


def test_turns_that_are_taken_again_and_again_leave_it_open() -> None:
    played = ByAccount()
    portal = played.connected()
    other = begun(portal, portal.account("admin"))
    assert portal.login.send(other).success

    with pytest.raises(Untestable, match="another sign-in of the account had a code sent meanwhile"):
        sent(played, portal, meanwhile=lambda: portal.login.send(other))


def test_a_run_says_what_it_waited_for_and_what_nothing_restores(tmp_path: Path) -> None:
    clock = SimulatedClock(lambda seconds: None)
    session = RunSession.open(parse(BY_MAIL, {}), clock, RunOptions(out=tmp_path, impact="disruptive"))
    session.waited(MAILED_BEFORE, 43.0, 1.0)
    clock.wait(61, "the cooldown")
    session.waited("something else", 5.0, 50.0)
    session.portal.changes.leave(BACKUP_CODES_GENERATE, "[accounts.spare] has new backup codes")

    run = session.finish()

    assert run.notes == [
        "The target's clock was moved ahead by 1 min 1 s: nothing sets it back.",
        "Nothing restores: [accounts.spare] has new backup codes.",
        f"Waited 43 s for {MAILED_BEFORE}.",
    ]
    assert run.changes == ChangesMade(attempted=1, accepted=1, restored=0, staying=1)
