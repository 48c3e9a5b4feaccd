"""No window ever sees an eleventh sign-in of ours, and a rate limit is waited for, not judged."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from conformance.errors import OutOfBudget, OutOfTime, RateLimited
from conformance.spec.endpoints import LOGIN_INITIATE, PASSWORD_FORGOT, TIMEZONES
from conformance.target.clock import CENTURIES, Clock, SimulatedClock
from conformance.target.portal.budget import INITIATIONS, Budget, retry_after
from conformance.target.profile.tables import LimitSettings as Budgets
from conformance.tests.reached import MINIMAL, Played, answer, answering, connected, envelope, moved
from conformance.traffic.exchange import Exchange, Request, Response
from conformance.verdicts.comparisons import is_cooldown, is_rate_limited
from reference_impl.limits import Limits

YEAR_9999 = "Fri, 31 Dec 9999 23:59:59 GMT"


def refused(
    status: int = 429, code: str = "RATE_LIMIT.EXCEEDED", headers: dict[str, str] | None = None
) -> Exchange:
    return Exchange(
        n=1,
        started="2026-01-01T00:00:00Z",
        request=Request(method="POST", url="http://portal.example.test/web/v1/system/auth/login/initiate"),
        response=Response(status=status, headers=list((headers or {}).items()), body=envelope(code=code)),
    )


def begin(budget: Budget, count: int, *, waits: bool = True) -> None:
    """Begins so many sign-ins, each of which is answered at once."""
    for _ in range(count):
        with budget.initiation(waits=waits):
            pass


def test_ten_sign_ins_begin_at_once_and_the_eleventh_waits_for_the_window() -> None:
    clock = moved()
    budget = Budget(Budgets(login_window=60), clock)
    began = clock.now()
    begin(budget, INITIATIONS)

    assert budget.initiations_left() == 0
    assert clock.now() - began < 5
    begin(budget, 1)

    assert clock.now() - began >= 60
    assert budget.initiations_left() == INITIATIONS - 1


def test_it_is_known_when_so_many_sign_ins_may_begin() -> None:
    clock = moved()
    budget = Budget(Budgets(login_window=60), clock)
    began = clock.now()
    assert budget.opens(INITIATIONS) <= began
    begin(budget, 4)

    assert budget.opens(6) <= clock.now()
    assert budget.opens(7) >= began + 60
    assert budget.opens(INITIATIONS + 5) == budget.opens(INITIATIONS)


def test_a_sign_in_counts_from_its_answer_on() -> None:
    clock = moved()
    budget = Budget(Budgets(login_window=60), clock)
    for _ in range(INITIATIONS):
        with budget.initiation():
            clock.move(3)
    last_but_nine_answered = clock.now() - 27

    begin(budget, 1)

    assert clock.now() - last_but_nine_answered >= 60


def test_codes_that_are_refused_in_a_row_are_limited_and_a_right_one_begins_anew() -> None:
    budget = Budget(Budgets(max_failed_sign_ins=2), moved())
    for right in (False, True, False, False):
        budget.code("Admin@example.test")
        budget.code_was("admin@example.test", right=right)

    with pytest.raises(OutOfBudget, match="2 codes in a row"):
        budget.code("admin@example.test")
    budget.code("spare@example.test")


def test_a_sign_in_outside_the_budget_waits_for_nothing_and_is_counted() -> None:
    clock = moved()
    budget = Budget(Budgets(login_window=60), clock)
    begin(budget, INITIATIONS + 2, waits=False)

    before = clock.now()
    begin(budget, 1)

    assert clock.now() - before >= 59


def test_a_window_that_the_time_budget_does_not_leave_is_named() -> None:
    budget = Budget(Budgets(login_window=60), Clock(time_budget=5))
    begin(budget, INITIATIONS)

    with pytest.raises(OutOfTime, match="the window of sign-ins to open"):
        begin(budget, 1)


@pytest.mark.parametrize("stated, learned", [(Budgets(), 300), (Budgets(login_window=5), 5)])
def test_a_window_that_no_profile_states_is_learned_from_what_the_target_asks_to_wait(
    stated: Budgets, learned: float
) -> None:
    clock = moved()
    budget = Budget(stated, clock)
    begin(budget, 1)
    clock.move(10)

    budget.back_off(refused(headers={"Retry-After": "290"}), 0)

    assert budget.window == pytest.approx(learned, abs=1)


@pytest.mark.parametrize(
    "exchange, limited",
    [
        (refused(), True),
        (refused(400), True),
        (refused(429, "ANYTHING"), True),
        (refused(503, "X", {"Retry-After": "1"}), True),
        (refused(503, "RATE.SLOW_DOWN"), True),
        (refused(503, "SERVICE_UNAVAILABLE"), False),
        (refused(404, "EXCHANGE_RATE_NOT_FOUND"), False),
        (refused(429, "AUTH.MFA_SEND_COOLDOWN"), False),
        (refused(429, "AUTH.MFA_SEND_COOLDOWN", {"Retry-After": "60"}), False),
        (refused(401, "AUTH.INVALID_CREDENTIALS"), False),
        (refused(400, "VALIDATION.INVALID_PARAMETER"), False),
        (refused(200, "2000"), False),
    ],
)
def test_a_rate_limit_is_known_by_status_code_or_header_and_a_cooldown_is_none(
    exchange: Exchange, limited: bool
) -> None:
    assert is_rate_limited(exchange) is limited
    assert is_cooldown(exchange) is ("COOLDOWN" in (exchange.code or ""))


@pytest.mark.parametrize(
    "headers, seconds",
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "Thu, 01 Jan 2026 00:00:30 GMT", "Date": "Thu, 01 Jan 2026 00:00:00 GMT"}, 30.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "9" * 100}, CENTURIES),
        ({"Retry-After": "inf"}, CENTURIES),
        ({"Retry-After": YEAR_9999, "Date": "Sun, 22 Nov 2026 12:00:00 GMT"}, CENTURIES),
        ({"Retry-After": YEAR_9999, "Date": "Sun, 22 Nov 2026 12:00:00 -0000"}, None),
        ({"Retry-After": "Fri, 31 Dec 99999 23:59:59 GMT"}, None),
    ],
)
def test_retry_after_is_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(refused(headers=headers)) == seconds


def test_who_asks_to_wait_for_ever_refuses() -> None:
    with pytest.raises(RateLimited, match="more than 3600 s"):
        Budget(Budgets(), Clock()).back_off(refused(headers={"Retry-After": "9" * 100}), 0)


class Passing(SimulatedClock):
    """A clock that passes as nobody moves it, in no time."""

    is_simulated = False


@pytest.mark.parametrize(
    "key, is_moved, seconds, is_waited_for",
    [
        (PASSWORD_FORGOT, False, 60, True),
        (PASSWORD_FORGOT, False, 61, False),
        (TIMEZONES, False, 60, False),
        (TIMEZONES, False, 10, True),
        (TIMEZONES, True, 60, True),
        (LOGIN_INITIATE, True, 30, True),
    ],
)
def test_a_rate_limit_that_says_how_long_it_lasts_is_waited_for(
    key: str, is_moved: bool, seconds: int, is_waited_for: bool
) -> None:
    """One of a password's endpoints up to a minute: the specification reports limits there."""
    clock = moved() if is_moved else Passing(lambda seconds: None)
    began = clock.now()
    answers = [answer(status=429, code="X", headers={"Retry-After": str(seconds)}), answer({})]
    portal = answering(lambda request: answers.pop(0), clock=clock)

    assert portal.call(key).success is is_waited_for
    assert (seconds <= clock.now() - began < seconds + 5) is is_waited_for


def test_a_target_that_keeps_refusing_is_rate_limited_and_nothing_else() -> None:
    played = Played(answer(status=429, code="RATE_LIMITED"))

    with pytest.raises(RateLimited) as caught:
        answering(played).call(LOGIN_INITIATE, json={})

    assert len(played.asked) == 4
    assert caught.value.fault_class == "environment"


def test_on_the_portals_side_no_window_ever_holds_an_eleventh_sign_in_of_ours() -> None:
    with connected(clock=False, limits=Limits(login_window=1.0)) as (portal, exchanges, running):
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: portal.login.initiate(portal.account("admin")), range(25)))

        at = sorted(entry["at"] for entry in running.portal.received if entry["path"].endswith("/initiate"))
        assert len(at) == 25
        assert all(later - earlier >= 1.0 for earlier, later in zip(at, at[INITIATIONS:], strict=False))
        assert {exchange.status for exchange in exchanges} == {200}


def test_deliberately_wrong_passwords_are_counted_for_each_real_account() -> None:
    portal = answering(
        lambda request: answer(status=401, code="AUTH.INVALID_CREDENTIALS"),
        profile=MINIMAL + "[limits]\nmax_failed_sign_ins = 2\n",
    )
    admin = portal.account("admin")
    for _ in range(2):
        portal.login.initiate(admin, "a wrong password")

    with pytest.raises(OutOfBudget, match=r"admin@example\.test has had 2 failed sign-ins"):
        portal.login.initiate("ADMIN@example.test", "a wrong password")

    assert portal.login.initiate("nobody@example.test").status == 401
