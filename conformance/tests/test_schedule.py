"""In which order cases run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from conformance.run.schedule import WINDOW, Agenda, Due, Planned

WINDOW_SECONDS = 60.0


waiting = partial(Planned[str], waits=True)


class Target:
    """Ten sign-ins in a window, begun by each case as it runs; and the login sessions that were left."""

    def __init__(self, planned: Sequence[Planned[str]] = ()) -> None:
        self.planned = {case.item: case for case in planned}
        self.now = 0.0
        self.begun: list[float] = []
        self.left = 0

    def opens(self, number: int) -> float:
        recent = [moment for moment in self.begun if moment > self.now - WINDOW_SECONDS]
        too_many = len(recent) + min(number, 10) - 11
        return 0.0 if too_many < 0 else recent[too_many] + WINDOW_SECONDS

    def run(self, name: str) -> None:
        one = self.planned[name]
        reused = min(one.reuses, self.left)
        self.left += one.leaves - reused
        self.begun += [self.now] * (one.sign_ins - reused)


def order(planned: Sequence[Planned[str]]) -> list[tuple[float, str]]:
    """When which case begins, where no time passes but for what is waited for."""
    agenda, target, seen = Agenda(planned), Target(planned), []
    while (chosen := agenda.next(target.now, target.opens, target.left)) is not None:
        if isinstance(chosen, Due):
            target.now = max(target.now, chosen.moment)
            chosen = chosen.item
        target.run(chosen)
        seen.append((target.now, chosen))
    return seen


def at_once(number: int) -> float:
    return 0.0


def test_what_waits_begins_first_and_then_what_signs_in() -> None:
    planned = [Planned("reads"), Planned("signs in", 1), waiting("waits and signs in", 2), waiting("waits")]
    assert [name for _, name in order(planned)] == ["waits", "waits and signs in", "signs in", "reads"]


def test_of_several_that_wait_the_one_due_soonest_goes_on_first() -> None:
    agenda = Agenda[str]([])
    for item, moment in (("late", 300.0), ("soon", 60.0), ("sooner", 6.0)):
        agenda.suspend(item, moment, "")
    due = [agenda.next(300.0, lambda number: 0.0) for _ in range(3)]
    assert [each.item for each in due if isinstance(each, Due)] == ["sooner", "soon", "late"]


def test_what_needs_few_sign_ins_goes_before_what_needs_more_than_there_are() -> None:
    planned = [Planned("eight", 8), Planned("five", 5), Planned("two", 2)]
    assert order(planned) == [(0, "eight"), (0, "two"), (WINDOW_SECONDS, "five")]


def test_what_was_first_in_line_when_the_window_was_full_gets_the_next_places() -> None:
    planned = [waiting("one", 1), waiting("whole window", 10), *(Planned(f"{n}", 1) for n in range(12))]
    seen = order(planned)

    filling, (moment, name) = seen[:10], seen[10]
    assert {when for when, _ in filling} == {0}
    assert (moment, name) == (WINDOW_SECONDS, "whole window")
    assert {when for when, _ in seen[11:]} == {2 * WINDOW_SECONDS}


def test_a_case_waits_for_sign_ins_only_when_nothing_else_can_go_on() -> None:
    agenda = Agenda([Planned("signs in", 2)])
    agenda.suspend("waiting", 3.0, "")

    def opens(number: int) -> float:
        return 5.0

    resumed = agenda.next(0, opens)
    assert isinstance(resumed, Due)
    assert resumed.item == "waiting"
    begun = agenda.next(3.0, opens)
    assert isinstance(begun, Due)
    assert (begun.moment, begun.item, begun.why) == (5.0, "signs in", WINDOW)


def test_what_can_go_on_with_sign_ins_that_are_left_comes_after_them_and_costs_no_place() -> None:
    reusing = [Planned(f"reuses {n}", 2, reuses=2) for n in range(3)]
    planned = [*reusing, waiting("leaves", 10, leaves=10), Planned("begins", 10)]

    assert order(planned) == [(0, "leaves"), *((0, case.item) for case in reusing), (60, "begins")]


def test_what_others_go_on_with_is_signed_in_first() -> None:
    planned = [Planned("a", 6), Planned("shared", 1, first=True), Planned("b", 6)]
    assert next(name for _, name in order(planned)) == "shared"


def test_where_time_is_short_what_is_worth_more_begins_first() -> None:
    planned = [Planned("signs in", 1, priority=2), Planned("quick", priority=3), Planned("slow", priority=1)]
    assert [name for _, name in order(planned)] == ["quick", "signs in", "slow"]


def test_what_would_wait_for_a_code_is_put_off_as_long_as_others_go_on() -> None:
    agenda = Agenda([Planned("reads"), Planned("signs in", 1), Planned("signs in as well", 1)])

    def ready(item: str) -> float:
        return 30.0 if item == "signs in" else 0.0

    chosen = [agenda.next(5, at_once, ready=ready) for _ in range(3)]
    assert chosen == ["signs in as well", "reads", "signs in"]


def test_a_suspended_case_that_is_due_sooner_goes_before_what_would_wait_for_a_code() -> None:
    agenda = Agenda([Planned("signs in", 1)])
    agenda.suspend("waiting", 20.0, "the cooldown")

    resumed = agenda.next(5, at_once, ready=lambda item: 30.0)
    assert isinstance(resumed, Due)
    assert resumed.item == "waiting"
    assert agenda.next(20, at_once, ready=lambda item: 30.0) == "signs in"


def test_what_is_put_off_begins_anew_after_all_that_can_go_on() -> None:
    agenda = Agenda([Planned("asks for a code"), Planned("reads"), Planned("signs in", 1)])
    assert [agenda.next(0, at_once) for _ in range(2)] == ["signs in", "asks for a code"]
    agenda.put_off("asks for a code")
    assert [agenda.next(0, at_once) for _ in range(3)] == ["reads", "asks for a code", None]


def test_no_place_is_kept_for_what_the_window_has_room_for_after_the_end_alone() -> None:
    agenda = Agenda([Planned("eight", 8), Planned("one", 1)])

    def opens(number: int) -> float:
        return 60.0 if number > 1 else 30.0

    begun = [agenda.next(0, opens, end=50.0) for _ in range(2)]
    assert [(due.moment, due.item) for due in begun if isinstance(due, Due)] == [
        (30.0, "one"),
        (60.0, "eight"),
    ]


def test_everything_runs_once() -> None:
    cases = [Planned(f"case-{number}", number % 3) for number in range(50)]
    seen = [name for _, name in order([*(waiting(f"wait-{number}") for number in range(5)), *cases])]
    assert len(seen) == len(set(seen)) == 55
