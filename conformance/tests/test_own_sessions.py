"""The sessions that a run began are ended where a logout ends no other, and named where they stay open."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from msgspec.structs import replace

from conformance.spec.endpoints import LOGIN_COMPLETE, LOGOUT, PROFILE, SESSIONS_TERMINATE_ALL, TOKEN_REFRESH
from conformance.spec.operations import Impact
from conformance.target.portal import Portal
from conformance.target.portal.restoring.sessions import OwnSessions
from conformance.target.profile.model import parse
from conformance.tests.reached import connected
from conformance.tests.traffic import NOW, account, answer, completed, refusal, token_pair
from conformance.traffic.exchange import Exchange, Json
from reference_impl.serve import start


def by(token: str, key: str, data: Json = None, *, seconds: float = 0.0) -> Exchange:
    headers = {"Authorization": f"Bearer {token}"}
    return answer(key, data, headers=headers, started=NOW + timedelta(seconds=seconds))


def begun(*tokens: str) -> OwnSessions:
    """The sessions of one account, with an access token each."""
    sessions = OwnSessions()
    for token in tokens:
        pair = completed(accessToken=token, refreshToken=f"refresh-{token}")
        sessions.notice(replace(answer(LOGIN_COMPLETE, pair), client="spare"))
    return sessions


def test_a_session_is_open_until_its_logout_and_a_refreshed_one_is_the_same_session() -> None:
    sessions = begun("a", "b")

    pair = token_pair(accessToken="c", refreshToken="refresh-c")
    sessions.notice(answer(TOKEN_REFRESH, pair, sent={"refreshToken": "refresh-a"}))
    assert ([token for token, _ in sessions.accounts], sessions.open_by_account) == (["b", "c"], {"spare": 2})

    sessions.notice(by("b", LOGOUT, {"terminatedSessions": 1}))
    assert [token for token, _ in sessions.accounts] == ["c"]


@pytest.mark.parametrize(
    "number, seconds, alone", [(1, 60.0, True), (1, 1.0, None), (2, 60.0, False), (None, 60.0, True)]
)
def test_a_logout_ends_no_other_session_where_another_is_served_some_seconds_after_it(
    number: int | None, seconds: float, alone: bool | None
) -> None:
    sessions = begun("a", "b")

    sessions.notice(by("a", LOGOUT, {"terminatedSessions": number}))
    sessions.notice(by("b", PROFILE, account(), seconds=seconds))

    assert sessions.ends_alone is alone


def test_a_session_that_is_over_after_the_logout_of_another_shows_that_both_were_ended() -> None:
    sessions = begun("a", "b")

    sessions.notice(by("a", LOGOUT, {"terminatedSessions": 1}))
    sessions.notice(refusal(PROFILE, "4010", 401, headers={"Authorization": "Bearer b"}))

    assert (sessions.ends_alone, [token for token, _ in sessions.accounts]) == (False, [])


def test_a_session_that_something_else_may_have_ended_shows_nothing_of_a_logout() -> None:
    sessions = begun("a", "b", "c")

    sessions.notice(by("a", LOGOUT, {"terminatedSessions": 1}))
    sessions.notice(by("c", PROFILE, account(), seconds=60))
    sessions.notice(by("c", SESSIONS_TERMINATE_ALL, seconds=61))
    sessions.notice(refusal(PROFILE, "4010", 401, headers={"Authorization": "Bearer b"}))

    assert (sessions.ends_alone, [token for token, _ in sessions.accounts]) == (True, ["c"])


@pytest.mark.parametrize("impact, ended", [("disruptive", True), ("read-only", False)])
def test_the_end_of_a_run_logs_its_sessions_out_where_it_is_disruptive(impact: Impact, ended: bool) -> None:
    notices: list[Callable[[Exchange], None]] = []
    with (
        start(seed=7) as running,
        Portal.connect(
            parse(running.profile(), {}), impact=impact, on_exchange=lambda each: notices[0](each)
        ) as portal,
    ):
        notices.append(portal.own_sessions.notice)
        portal.own_sessions.ends_alone = True
        tokens = [portal.account("spare").signed_in().token, portal.account("spare").fresh_sign_in().token]

        note = portal.end_sessions()

        assert portal.call(PROFILE, token=tokens[0]).success is not ended
    stays = "Sessions that the run began may stay open until they expire: 2 of [accounts.spare]."
    assert note == (None if ended else stays)


def test_a_run_ends_no_session_where_a_logout_may_end_those_of_others() -> None:
    with connected(impact="disruptive") as (portal, exchanges, _):
        portal.own_sessions = begun("a")

        note = portal.end_sessions()

    assert note == "Sessions that the run began may stay open until they expire: 1 of [accounts.spare]."
    assert exchanges == []
