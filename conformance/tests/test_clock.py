"""Waiting costs nothing where time can be moved, and never more than the budget elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from typing import Any

import httpx
import pytest

from conformance.errors import OutOfTime
from conformance.target.clock import Clock, SimulatedClock
from conformance.tests.reached import answering, envelope
from conformance.traffic.exchange import Exchange


def test_a_movable_clock_waits_by_moving_the_target() -> None:
    moves: list[int] = []
    clock = SimulatedClock(moves.append)
    before = clock.now()

    clock.wait(3600, "the access token to expire")
    clock.wait(0.1, "a moment")
    clock.wait_until(before + 3660.5, "the window")

    assert moves == [0, 3600, 1, 60]
    assert all(type(seconds) is int for seconds in moves)
    assert 3661 <= clock.now() - before < 3662


def test_a_target_that_says_its_time_is_believed() -> None:
    clock = SimulatedClock(lambda seconds: 5_000_000.0 + seconds)

    assert clock.now() == pytest.approx(5_000_000, abs=1)
    assert clock.iso().startswith("1970-02-27T20:53:2")


HOURS = 6 * 3600


@pytest.mark.parametrize("times", [{"timestamp": True}, {"date": True}])
def test_where_a_clock_says_no_time_the_answers_do_until_it_is_moved(times: dict[str, bool]) -> None:
    ahead = [HOURS]
    exchanges: list[Exchange] = []

    def respond(request: httpx.Request) -> httpx.Response:
        now = time.time() + ahead[0]
        stamp: dict[str, Any] = {"timestamp": int(now * 1000)} if "timestamp" in times else {}
        headers = {"Date": formatdate(now, usegmt=True)} if "date" in times else {}
        return httpx.Response(200, json=envelope(**stamp), headers=headers)

    clock = SimulatedClock(lambda seconds: None)
    portal = answering(respond, clock=clock, seen=exchanges)
    portal.call("GET /web/v1/system/constants/countries")

    assert abs(clock.now() - time.time() - HOURS) < 5
    assert abs(exchanges[0].time - time.time() - HOURS) < 5

    clock.wait(61, "the cooldown")
    ahead[0] = 0  # what writes this time does not go by the clock that is moved
    portal.call("GET /web/v1/system/constants/countries")
    assert abs(clock.now() - time.time() - HOURS - 61) < 5


def test_a_clock_that_says_its_time_is_believed_before_the_answers() -> None:
    clock = SimulatedClock(lambda seconds: time.time())
    clock.now()

    assert clock.heard(HOURS) == Clock().heard(HOURS) == 0
    assert abs(clock.now() - time.time()) < 5


def test_a_wait_beyond_the_budget_is_refused_before_it_begins_and_names_what_for() -> None:
    clock = Clock(time_budget=30, monotonic=lambda: 1_000.0)
    began = time.monotonic()

    with pytest.raises(OutOfTime, match=r"waiting for the code to expire takes 300 s, and .* leaves 30 s"):
        clock.wait(300, "the code to expire")

    assert time.monotonic() - began < 30


def test_a_movable_clock_spends_no_budget_on_waits() -> None:
    clock = SimulatedClock(lambda seconds: None, time_budget=1)

    clock.wait(86_400, "a day")

    assert (clock.remaining() or 0) > 0.5


@pytest.mark.parametrize("wait", [Clock.wait, Clock.pause])
def test_whoever_waits_elsewhere_gives_up_when_the_run_is_over(
    wait: Callable[[Clock, float, str], None],
) -> None:
    clock = Clock()
    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(wait, clock, 600.0, "something")
        clock.stop()

        with pytest.raises(OutOfTime, match="waiting for something was given up"):
            waiting.result(timeout=30)
