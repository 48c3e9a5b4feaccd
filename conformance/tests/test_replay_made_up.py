"""Secrets that a recording hides and no response returned: a made-up one shows nothing of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.replay.compare.callers.credentials import why_nothing_is_shown
from conformance.replay.compare.outcome import State
from conformance.replay.compare.replayed_exchange import ReplayedExchange
from conformance.spec.endpoints import LOGIN_INITIATE, PROFILE, TOKEN_REFRESH
from conformance.tests.replays import recorder, replayed
from conformance.tests.scripted_client import Walker
from conformance.tests.traffic import answer, refusal
from conformance.traffic.exchange import Exchange

Visit = Callable[[Walker, Walker], None]


def sends_an_ended_token(walker: Walker, elsewhere: Walker) -> None:
    elsewhere.post("/auth/logout")
    walker.get("/profile", Authorization=f"Bearer {elsewhere.token}")


def refreshes(walker: Walker, elsewhere: Walker) -> None:
    walker.post("/auth/token/refresh", {"refreshToken": elsewhere.refresh}, Authorization="")


def refreshes_a_second_time(walker: Walker, elsewhere: Walker) -> None:
    elsewhere.post("/auth/token/refresh", {"refreshToken": elsewhere.refresh})
    refreshes(walker, elsewhere)


@pytest.mark.parametrize(
    ("visit", "endpoint", "reason"),
    [
        (sends_an_ended_token, PROFILE, "it sends a token that the recording redacts"),
        (refreshes, TOKEN_REFRESH, "the recorded request was accepted"),
        (refreshes_a_second_time, TOKEN_REFRESH, "the recorded request was refused, maybe for it"),
    ],
)
def test_a_hidden_token_of_elsewhere_is_a_gap_and_no_evidence(
    tmp_path: Path, visit: Visit, endpoint: str, reason: str
) -> None:
    out = tmp_path / "traffic.jsonl"
    with recorder(out) as (walker, portal):
        elsewhere = Walker(portal.url, walker.profile)
        elsewhere.sign_in(walker.accounts["spare"])
        walker.sign_in(walker.accounts["admin"])
        visit(walker, elsewhere)

    result = replayed(out, tmp_path / "out")

    (gap,) = result.tally.kept
    assert (gap.state, gap.endpoint) == (State.NOT_COMPARABLE, endpoint)
    assert reason in gap.reason
    assert result.run.regressions == []
    assert any("1 exchange not comparable: it sends a" in note for note in result.notes)


ACCEPTED = answer(PROFILE, {})
REFUSED = refusal(PROFILE, "ACCESS.TOKEN_INVALID", 401)


@pytest.mark.parametrize(
    ("recorded", "live", "kind", "is_comparable"),
    [
        (ACCEPTED, ACCEPTED, "token", True),
        (ACCEPTED, REFUSED, "token", False),
        (REFUSED, REFUSED, "token", False),
        (REFUSED, ACCEPTED, "token", True),
        (REFUSED, ACCEPTED, "password", False),
        (refusal(LOGIN_INITIATE, "AUTH.INVALID_CREDENTIALS", 401), REFUSED, "password", True),
    ],
)
def test_what_a_made_up_secret_shows(
    recorded: Exchange, live: Exchange, kind: str, is_comparable: bool
) -> None:
    """That it is accepted in place of a refused token, and that it is as wrong as a recorded password was."""
    pair = ReplayedExchange(1, recorded, live, made_up=(kind,))

    assert (why_nothing_is_shown(pair) is None) is is_comparable
    assert why_nothing_is_shown(ReplayedExchange(1, recorded, live)) is None
