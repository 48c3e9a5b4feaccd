"""In which order cases run."""

from __future__ import annotations

from conformance.schedule import Agenda, Due


def order(agenda: Agenda[str], *, left: int = 10, now: float = 0.0) -> list[str]:
    """What comes next until nothing does, where no time passes but for what is waited for."""
    seen = []
    while (chosen := agenda.next(now, left)) is not None:
        if isinstance(chosen, Due):
            now = max(now, chosen.moment)
        seen.append(chosen.item if isinstance(chosen, Due) else chosen)
    return seen


def test_what_waits_begins_first() -> None:
    assert order(Agenda(["wait-1", "wait-2"], [("a", 0), ("b", 1)])) == ["wait-1", "wait-2", "a", "b"]


def test_a_suspended_case_goes_on_when_it_is_due() -> None:
    agenda = Agenda[str]([], [("a", 0), ("b", 0)])
    agenda.suspend("waiting", 5.0, "the cooldown")
    assert agenda.next(4.9, 10) == "a"
    due = agenda.next(5.0, 10)
    assert isinstance(due, Due)
    assert (due.item, due.why) == ("waiting", "the cooldown")
    assert agenda.next(5.0, 10) == "b"


def test_of_several_that_wait_the_one_due_soonest_goes_on_first() -> None:
    agenda = Agenda[str]([], [])
    for item, moment in (("late", 300.0), ("soon", 60.0), ("sooner", 6.0)):
        agenda.suspend(item, moment, "")
    assert order(agenda) == ["sooner", "soon", "late"]


def test_two_that_are_due_together_go_on_in_the_order_in_which_they_were_suspended() -> None:
    agenda = Agenda[str]([], [])
    agenda.suspend("first", 6.0, "")
    agenda.suspend("second", 6.0, "")
    assert order(agenda) == ["first", "second"]


def test_what_needs_no_sign_in_runs_while_there_are_none_left() -> None:
    agenda = Agenda[str]([], [("signs in", 2), ("reads", 0), ("signs in once", 1)])
    assert agenda.next(0, 0) == "reads"
    assert agenda.next(0, 1) == "signs in once"
    assert agenda.next(0, 5) == "signs in"


def test_a_case_that_needs_sign_ins_waits_for_them_only_when_nothing_else_can_run() -> None:
    agenda = Agenda[str]([], [("signs in", 2)])
    agenda.suspend("waiting", 3.0, "")
    assert isinstance(agenda.next(0, 0), Due)
    assert agenda.next(3.0, 0) == "signs in"


def test_where_the_next_wait_is_long_a_case_begins_although_its_sign_ins_must_be_waited_for() -> None:
    agenda = Agenda[str]([], [("signs in", 2)])
    agenda.suspend("waiting", 300.0, "")
    assert agenda.next(0, 0) == "signs in"


def test_everything_runs_once() -> None:
    agenda = Agenda(
        [f"wait-{number}" for number in range(5)], [(f"case-{number}", number % 3) for number in range(50)]
    )
    seen = order(agenda, left=1)
    assert len(seen) == len(set(seen)) == 55


def test_what_has_not_begun_is_known() -> None:
    agenda = Agenda(["wait"], [("a", 0), ("b", 0)])
    agenda.next(0, 0)
    assert agenda.rest == ["a", "b"]
    agenda.suspend("wait", 5.0, "the cooldown")
    assert [due.item for due in agenda] == ["wait"]
