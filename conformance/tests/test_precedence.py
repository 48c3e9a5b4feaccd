"""Which cases come first where time is short."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.errors import PutOff
from conformance.run.catalogue import CaseRow
from conformance.run.hooks.loop import goes_on, guarded
from conformance.run.hooks.stash import SESSION, VERIFY
from conformance.run.outlook.precedence import Durations, priorities
from conformance.target.portal import Portal
from conformance.target.portal.accounts import PLENTY
from conformance.target.profile.model import parse
from conformance.tests.reached import MINIMAL, connected, moved


def case(name: str, *rules: str, sign_ins: int = 0, waits: float = 0.0, pauses: float = 0.0) -> CaseRow:
    return CaseRow(name, rules, "read-only", (), sign_ins, waits, pauses=pauses)


def within(
    budget: float, seconds: Mapping[str, float], restoring: Mapping[str, float] | None = None
) -> Durations:
    return Durations(
        budget,
        60.0,
        requests=lambda row: seconds.get(row.id, 1.0),
        restoring=lambda row: (restoring or {}).get(row.id, 0.0),
    )


def order(lasting: Durations, *rows: CaseRow) -> list[str]:
    numbers = priorities(rows, lasting)
    return sorted(numbers, key=lambda name: -numbers[name])


def test_what_decides_the_most_rules_in_a_second_comes_first() -> None:
    rows = [case("slow", "A", "B"), case("quick", "C"), case("pausing", "D", "E", "F", pauses=9.0)]
    assert order(within(10, {"slow": 4.0, "quick": 0.5}), *rows) == ["quick", "slow", "pausing"]


def test_what_others_have_decided_counts_no_more() -> None:
    rows = [case("both", "A", "B"), case("again", "A", "B"), case("new", "C")]
    assert order(within(2, {}), *rows) == ["both", "new", "again"]


def test_what_must_begin_early_goes_before_what_need_not_and_what_is_too_late_comes_last() -> None:
    rows = [case("any time", "A"), case("restores", "B"), case("too late", "C"), case("waits", "D", waits=50)]
    lasting = within(60, {row.id: 20.0 for row in rows}, restoring={"restores": 40.0, "too late": 60.0})
    assert order(lasting, *rows) == ["waits", "restores", "any time", "too late"]


def test_of_what_signs_in_that_comes_first_which_decides_the_most_with_a_place_of_the_window() -> None:
    rows = [case("eight", "A", "B", "C", sign_ins=8), case("one", "D", sign_ins=1), case("reads", "E")]
    assert order(within(2, {"eight": 0.1, "one": 1.0}), *rows) == ["one", "eight", "reads"]


def test_an_endpoint_that_nothing_has_asked_counts_with_the_rules_of_its_checks() -> None:
    rows = [case("two", "ENV-001", "ENV-002"), case("asks", "OP-084")]
    assert order(within(1, {}), *rows) == ["asks", "two"]


def test_a_budget_that_has_time_for_all_leaves_the_order_as_it_is() -> None:
    rows = [case("signs in", "A", sign_ins=11), case("waits", "B", waits=300.0)]
    assert order(within(61, {}), *rows) != []
    assert order(within(62, {}), *rows) == []
    assert priorities(rows, replace(within(60, {}), budget=inf)) == {}


def sent_for_two(portal: Portal) -> list[float]:
    """From when a code of the spare account is feared to wait no more: before a send, after it, and after
    another one for a second login session."""
    spare = portal.account("spare")
    moments = [spare.code_from(PLENTY - 1)]
    for session in [portal.login.initiate(spare) for _ in range(2)]:
        portal.login.send(session)
        moments.append(spare.code_from(PLENTY - 1) - portal.clock.now())
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
        assert portal.account("spare").code_from(PLENTY) == -inf


def test_a_sign_in_that_would_wait_for_its_code_is_put_off_while_others_go_on() -> None:
    with connected() as (portal, seen, _running):
        spare = portal.account("spare")
        portal.login.send(portal.login.initiate(spare))
        sent = len(seen)
        for sign_in in (spare.another_session, spare.fresh_sign_in):
            with portal.putting_off(PLENTY - 1), pytest.raises(PutOff):
                sign_in()
        assert len(seen) == sent

        assert spare.another_session().token


def test_a_case_that_is_put_off_is_not_at_its_end() -> None:
    run: Any = SimpleNamespace(
        acting=SimpleNamespace(name=None),
        profile=parse(MINIMAL, {}),
        options=SimpleNamespace(impact="read-only"),
        clock=moved(),
        timeline=[],
    )
    stash = pytest.Stash()
    stash[SESSION] = run
    item: Any = SimpleNamespace(
        nodeid="cases/a.py::test_a",
        stash=pytest.Stash(),
        config=SimpleNamespace(stash=stash),
        iter_markers=lambda name: (),
        get_closest_marker=lambda name: None,
    )
    item.stash[VERIFY] = object()
    assert not goes_on(item)
    step = guarded(item)
    next(step)

    with pytest.raises(pytest.skip.Exception):  # its call is left out where it is put off while it is set up
        step.throw(PutOff("spare"))

    assert goes_on(item)
    assert len(run.timeline) == 1
