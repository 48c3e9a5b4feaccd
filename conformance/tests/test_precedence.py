"""Which cases come first where time is short."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from conformance.errors import PutOff
from conformance.run.catalogue import CaseRow
from conformance.run.planning import late_cases, most_sign_ins, priorities, queue_seconds
from conformance.spec import Impact
from conformance.target.portal import Portal
from conformance.target.portal.accounts import AMPLE_BUDGET_SECONDS
from conformance.tests.reached import connected


def case(
    name: str,
    *rules: str,
    sign_ins: int = 0,
    waits: float = 0.0,
    pauses: float = 0.0,
    impact: Impact = "read-only",
) -> CaseRow:
    return CaseRow(name, rules, impact, (), sign_ins, waits, after_waits=rules[:1], pauses=pauses)


def order(budget: float, *rows: CaseRow, window: float = 60.0) -> list[str]:
    numbers = priorities(rows, budget=budget, window=window)
    return sorted(numbers, key=lambda name: -numbers[name])


def test_what_only_reads_comes_first_then_what_must_wait_then_what_decides_the_most_in_a_second() -> None:
    rows = [
        case("pauses", "A", "B", pauses=9.0),
        case("reads", "C"),
        case("changes", "D", "E", "F", impact="mutating"),
        case("waits", "G", waits=5.0),
        case("waits too long", "H", waits=10.0),
    ]
    assert order(9.4, *rows) == ["waits", "reads", "pauses", "waits too long", "changes"]


def test_of_what_signs_in_that_comes_first_which_decides_the_most_with_a_place_of_the_window() -> None:
    rows = [case("eight", "A", "B", "C", sign_ins=8), case("three", "D", sign_ins=3), case("reads", "E")]
    assert order(2, *rows) == ["reads", "eight", "three"]
    assert order(0.2, *rows, window=0.0) == ["eight", "three", "reads"]


def test_the_first_case_of_an_endpoint_counts_with_the_rules_of_its_checks() -> None:
    rows = [case("two", "ENV-001", "ENV-002"), case("asks", "OP-084"), case("asks again", "OP-084")]
    assert order(0.1, *rows) == ["asks", "two", "asks again"]


def test_a_budget_that_has_time_for_all_leaves_the_order_as_it_is() -> None:
    rows = [case("signs in", "A", sign_ins=11), case("waits", "B", waits=300.0)]
    assert order(60, *rows) != []
    assert order(61, *rows) == []
    assert order(1, *rows, window=0.0) == []


def test_a_budget_leaves_out_sign_ins_beyond_its_windows_and_pauses_beyond_its_end() -> None:
    rows = [case(f"S{number}", sign_ins=4) for number in range(6)]
    pausing = [case("P1", pauses=50.0), case("P2", pauses=50.0)]

    assert late_cases([*rows, *pausing], budget=90.0, window=60.0) == {"S5", "P2"}
    assert late_cases([*rows, *pausing], budget=90.0, window=0.0) == frozenset()
    assert late_cases([*rows, *pausing], budget=inf, window=60.0) == frozenset()


def test_sign_ins_queue_without_those_that_others_leave() -> None:
    leaving = replace(case("leaves", sign_ins=13), leaves=10)
    rows = [leaving, replace(case("reuses", sign_ins=4), reuses=4), case("begins", sign_ins=4)]

    assert most_sign_ins(rows) == 21
    assert queue_seconds(rows, 60.0) == 60.0
    assert queue_seconds([replace(leaving, leaves=0), *rows[1:]], 60.0) == 120.0


def sent_for_two(portal: Portal) -> list[float]:
    """From when a code of the spare account is feared to wait no more: before a send, after it, and after
    another one for a second login session."""
    spare = portal.account("spare")
    moments = [spare.code_from(AMPLE_BUDGET_SECONDS - 1)]
    for session in [portal.login.initiate(spare) for _ in range(2)]:
        portal.login.send(session)
        moments.append(spare.code_from(AMPLE_BUDGET_SECONDS - 1) - portal.clock.now())
    return moments


def test_a_cooldown_is_feared_until_one_was_seen_not_to_count_for_the_account() -> None:
    with connected() as (portal, _, _running):
        before, sent, twice = sent_for_two(portal)

        assert (before, twice) == (-inf, -inf)
        assert 50 < sent <= 61
    with connected(variants=("cooldown-of-the-account",)) as (portal, _, _running):
        before, sent, twice = sent_for_two(portal)

        assert before == -inf
        assert 50 < twice <= sent <= 61
        assert portal.account("spare").code_from(AMPLE_BUDGET_SECONDS) == -inf


def test_a_sign_in_that_would_wait_for_its_code_is_put_off_while_others_go_on() -> None:
    with connected() as (portal, exchanges, _running):
        spare = portal.account("spare")
        portal.login.send(portal.login.initiate(spare))
        sent = len(exchanges)
        for sign_in in (spare.another_session, spare.fresh_sign_in):
            with portal.putting_off(AMPLE_BUDGET_SECONDS - 1), pytest.raises(PutOff):
                sign_in()
        assert len(exchanges) == sent

        assert spare.another_session().token
