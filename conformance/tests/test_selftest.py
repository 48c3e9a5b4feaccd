"""The self-test judged: what it calls proven, and what it names where something is not."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.checks import CHECKS
from conformance.errors import UsageError
from conformance.run.hooks.stash import SESSION
from conformance.selftest import run, workers
from conformance.selftest.choice import (
    KINDS_KEPT,
    a_few_of_each,
    once_at_each_endpoint,
    touching,
    without_other_searches,
)
from conformance.selftest.fault_run import FaultOutcome, Turned, attempt
from conformance.selftest.pages import as_json, write
from conformance.selftest.verdicts import (
    MANY_UNTESTED,
    OF_RECORDINGS,
    ProofMatrix,
    is_clear,
    is_doubted,
    judge,
)
from conformance.spec import REQUIREMENTS
from conformance.target.bundled import FAULTS, VARIANTS, Fault, grouped

FAULT = "timestamp-in-seconds"
BROKEN = "ENV-011"
CHECK = "check envelope.timestamp_counts_milliseconds"


def turned(verdict: str = "fail", *sources: str) -> Turned:
    return Turned(verdict, list(sources) or [CHECK], "seen otherwise", "GET /somewhere")


def matrix(**more: Turned) -> ProofMatrix:
    """A matrix of one fault that is caught, and of what else it turned."""
    turns = {BROKEN: turned()} | {name.replace("_", "-"): one for name, one in more.items()}
    return ProofMatrix(FaultOutcome("clean"), {FAULT: FaultOutcome(FAULT, turned=turns)})


def problems(of: ProofMatrix, **more: Any) -> list[str]:
    return judge(of, **{"deciders": (), "whole": False, **more}).problems


def item(name: str, *ids: str) -> Any:
    return SimpleNamespace(
        nodeid=name, iter_markers=lambda mark: [SimpleNamespace(args=ids)] if mark == "requirement" else []
    )


def test_a_fault_that_is_caught_and_turns_nothing_else_is_no_problem() -> None:
    assert FAULTS[FAULT].breaks == (BROKEN,)
    assert problems(matrix()) == []


def test_a_fault_that_nothing_catches_is_named() -> None:
    survived = ProofMatrix(FaultOutcome("clean"), {FAULT: FaultOutcome(FAULT)})

    assert problems(survived) == [f"fault {FAULT} survives: {BROKEN} is not FAIL"]


def test_a_must_that_is_only_a_warning_survived() -> None:
    weak = ProofMatrix(FaultOutcome("clean"), {FAULT: FaultOutcome(FAULT, turned={BROKEN: turned("warn")})})

    assert problems(weak) == [f"fault {FAULT} survives: {BROKEN} is not FAIL"]


def test_a_victim_that_the_fault_does_not_list_is_named_with_what_saw_it() -> None:
    (problem,) = problems(matrix(ENV_001=turned("fail", "cases/a.py::test_b")))

    assert problem.startswith(f"fault {FAULT} also turns ENV-001 to FAIL")
    assert "cases/a.py::test_b" in problem


@pytest.mark.parametrize(
    ("turns", "doubted"),
    [
        ({BROKEN: "fail"}, False),
        ({}, True),
        ({BROKEN: "warn"}, True),
        ({BROKEN: "fail", "ENV-001": "fail"}, True),
    ],
)
def test_a_fault_that_its_near_cases_show_otherwise_than_listed_is_tried_with_all(
    turns: dict[str, str], doubted: bool
) -> None:
    outcome = FaultOutcome(FAULT, turned={rule: turned(verdict) for rule, verdict in turns.items()})

    assert is_doubted(FAULTS[FAULT], outcome) is doubted


def test_a_finding_without_any_fault_is_a_problem() -> None:
    tainted = matrix()
    tainted.clean.turned["ENV-001"] = turned()

    assert problems(tainted)[0].startswith("without a fault ENV-001 is FAIL")


@pytest.mark.parametrize(("verdict", "count"), [("fail", 1), ("warn", 0)])
def test_a_variant_may_warn_and_not_fail(verdict: str, count: int) -> None:
    lawful = matrix()
    lawful.variants["gzip"] = FaultOutcome("gzip", turned={"ENV-001": turned(verdict)})

    assert len(problems(lawful)) == count


def test_a_combination_that_keeps_the_suite_out_is_a_problem() -> None:
    silent = FaultOutcome("drawn", untested=[f"R-{number}" for number in range(MANY_UNTESTED)])

    assert problems(ProofMatrix(FaultOutcome("clean"), combinations={"drawn": silent})) == [
        f"drawn: {MANY_UNTESTED} rules are untested; run one of the variants alone"
    ]


@pytest.mark.parametrize(
    ("outcome", "clear"),
    [
        (FaultOutcome("group", turned={BROKEN: turned("warn")}), True),
        (FaultOutcome("group", turned={BROKEN: turned("fail")}), False),
        (FaultOutcome("group", errors={"a case": "Traceback\nKeyError"}), False),
        (FaultOutcome("group", untested=["R-1"] * 200), False),
    ],
)
def test_members_of_a_group_that_fails_or_tests_less_are_tried_alone(
    outcome: FaultOutcome, clear: bool
) -> None:
    assert is_clear(outcome, FaultOutcome("clean")) is clear


def test_each_variant_is_in_one_group_with_those_that_it_goes_with() -> None:
    groups = grouped(VARIANTS.values(), 6)

    assert sorted(one.name for group in groups for one in group) == sorted(VARIANTS)
    assert max(map(len, groups)) == 6
    assert all(one.goes_with(group[:at]) for group in groups for at, one in enumerate(group))


def test_an_error_of_the_suite_is_a_problem_wherever_it_happens() -> None:
    broken = matrix()
    broken.faults[FAULT].errors["check a.b"] = "Traceback\nKeyError: 'bizId'"

    assert problems(broken) == [f"fault {FAULT}: the suite itself fails in check a.b: KeyError: 'bizId'"]


def test_a_decider_that_no_fault_turns_is_named() -> None:
    found = problems(matrix(), deciders=[CHECK, "check other.idle"], whole=True)

    assert "no fault shows that check other.idle can contradict anything" in found
    assert not any(CHECK in problem for problem in found)


def test_a_must_or_should_without_a_fault_is_named() -> None:
    named = {problem.partition(":")[0] for problem in problems(matrix(), whole=True)}
    must, should, either = "ENV-001", "ENV-007", "CONSTANT-065"

    assert [REQUIREMENTS[id].level for id in (must, should, either)] == ["must", "should", "open"]
    assert {f"no fault breaks {must}", f"no fault breaks {should}"} <= named
    assert named.isdisjoint({f"no fault breaks {BROKEN}", f"no fault breaks {either}"})


def test_proofs_are_of_listed_victims_only() -> None:
    assert matrix(ENV_001=turned("fail", "cases/a.py::test_b")).proofs == {BROKEN: [CHECK]}


def test_of_many_parameters_the_first_the_last_and_one_between_are_run() -> None:
    items = [item(f"a.py::test_many[{at}]", "ENV-001") for at in range(9)] + [
        item("a.py::test_one", "ENV-002")
    ]
    names = [one.nodeid for one in a_few_of_each(items)]

    assert names == ["a.py::test_many[0]", "a.py::test_many[4]", "a.py::test_many[8]", "a.py::test_one"]
    assert len(names) == KINDS_KEPT + 1


def fault_at(*operations: str, breaks: str = "MODEL-002") -> Fault:
    return Fault("a-fault", (breaks,), lambda plan: None, operations)


def test_only_cases_that_touch_an_endpoint_are_run_for_it() -> None:
    items = [item("a"), item("b"), item("c")]
    touched = {"a": ["GET /x"], "b": ["GET /y", "POST /x"]}

    chosen = touching(items, fault_at("POST /x", "GET /z"), touched=touched, read_beside={})

    assert chosen == [items[1]]


def test_of_cases_that_read_an_endpoint_beside_their_requests_those_of_the_broken_rule_are_run() -> None:
    items = [item("a", "MODEL-001"), item("b", "MODEL-002")]
    beside = {"a": ["GET /x"], "b": ["GET /x"]}

    assert touching(items, fault_at("GET /x"), touched={}, read_beside=beside) == [items[1]]


def test_of_cases_that_go_around_the_endpoints_those_of_the_broken_rule_are_run_first() -> None:
    items = [item("a", "MODEL-001"), item("b", "MODEL-002")]
    around = {"a": ["GET /x", "GET /y"], "b": ["GET /x", "GET /y"]}

    assert touching(items, fault_at("GET /x"), touched=around, read_beside={}, most=1) == [items[1]]
    assert touching(items, fault_at("GET /x"), touched=around, read_beside={}) == items


def test_where_no_endpoint_is_meant_each_is_called_once_and_the_cases_of_the_broken_rule_are_run() -> None:
    items = [item(name, rule) for name, rule in zip("abcd", ["R-1", "R-1", "R-2", "R-1"], strict=True)]
    touched = {"a": ["GET /x"], "b": ["GET /x"], "c": ["GET /x"], "d": ["GET /y"]}

    assert once_at_each_endpoint(items, ["R-2"], touched=touched) == [items[0], items[2], items[3]]


def test_searches_are_run_for_the_faults_of_their_own_requirements() -> None:
    case, search = item("cases/a/test_a.py::a", "ENV-001"), item("cases/properties/test_b.py::b", "ENV-002")

    assert without_other_searches([case, search], ["ENV-001"]) == [case]
    assert without_other_searches([case, search], ["ENV-002"]) == [case, search]


def test_children_tell_what_came_of_their_jobs() -> None:
    jobs = [(name, _job(name)) for name in "abcde"]

    assert sorted(outcome.name for outcome in workers.run(jobs, workers=2)) == list("abcde")


def test_a_child_that_breaks_is_an_outcome_with_its_error() -> None:
    (broken,) = workers.run([("broken", _breaking)], workers=1)

    assert "ZeroDivisionError" in broken.errors["broken"]


def test_a_child_that_says_nothing_is_an_outcome_with_an_error() -> None:
    (silent,) = workers.run([("silent", lambda: os._exit(3))], workers=1)

    assert silent.errors


def _job(name: str) -> workers.Job:
    return lambda: FaultOutcome(name)


def _breaking() -> FaultOutcome:
    raise ZeroDivisionError


def test_an_unknown_name_is_a_usage_error_that_says_where_names_are() -> None:
    with pytest.raises(UsageError, match="--list-faults"):
        run(only=["no-such-fault"])


def test_the_page_escapes_what_came_from_a_portal(tmp_path: Any) -> None:
    hostile = matrix()
    hostile.problems = ["<script>alert(1)</script>"]
    write(hostile, tmp_path)

    assert "<script>" not in (tmp_path / "selftest.html").read_text(encoding="utf-8")
    assert as_json(hostile)["faults"][0]["turned"][BROKEN]["by"] == [CHECK]


def test_a_fault_run_leaves_the_session_that_collected_as_it_was() -> None:
    config = SimpleNamespace(option=SimpleNamespace(collectonly=True), stash=pytest.Stash())
    session = SimpleNamespace(config=config, items=["a case"], shouldstop=False, shouldfail=False)

    outcome = attempt(cast(pytest.Session, session), [], "clean")

    assert outcome.errors == {}
    assert (session.items, config.option.collectonly) == (["a case"], True)
    assert SESSION not in config.stash


@pytest.fixture(scope="module")
def proven() -> list[str]:
    """Two faults of two kinds and a group of two variants, tried for real."""
    said: list[str] = []
    names = ["wallet-statuses-value-off-by-one", "no-cooldown", "gzip", "ulid-ids"]
    run(only=names, jobs=1, tell=said.append)
    return said


def test_real_trials_of_two_faults_and_a_group_find_what_they_should(proven: list[str]) -> None:
    assert proven[-1].startswith("2 faults, 2 variants")
    assert proven[:-1] == []


def test_the_checks_that_only_recordings_show_are_checks() -> None:
    assert {f"check {check.name}" for check in CHECKS} >= OF_RECORDINGS
