"""The self-test judged: what it calls proven, and what it names where something is not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.checks import CHECKS
from conformance.errors import UsageError
from conformance.run.hooks.stash import SESSION
from conformance.selftest import run, workers
from conformance.selftest.fault_run import FaultOutcome, Turned, attempt
from conformance.selftest.verdicts import (
    MANY_UNTESTED,
    OF_RECORDINGS,
    ProofMatrix,
    is_clear,
    is_doubted,
    judge,
    write,
)
from conformance.spec import REQUIREMENTS
from conformance.target.bundled import FAULTS

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


def test_a_fault_that_is_caught_and_turns_nothing_else_is_no_problem() -> None:
    assert FAULTS[FAULT].breaks == (BROKEN,)
    assert problems(matrix()) == []


def test_a_fault_that_nothing_catches_is_named() -> None:
    survived = ProofMatrix(FaultOutcome("clean"), {FAULT: FaultOutcome(FAULT)})

    assert problems(survived) == [f"fault {FAULT} survives: {BROKEN} is not FAIL"]


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


@pytest.mark.parametrize(
    ("verdict", "departs", "count"), [("fail", BROKEN, 1), ("warn", BROKEN, 0), ("warn", "ENV-002", 1)]
)
def test_a_variant_warns_of_what_it_departs_from_alone(verdict: Any, departs: str, count: int) -> None:
    lawful = matrix()
    outcome = FaultOutcome("gzip", turned={BROKEN: turned(verdict)}, departs=frozenset({departs}))
    lawful.variants["gzip"] = outcome

    assert len(problems(lawful)) == count


def test_a_combination_that_keeps_the_suite_out_is_a_problem() -> None:
    silent = FaultOutcome("drawn", untested=[f"R-{number}" for number in range(MANY_UNTESTED)])

    assert problems(ProofMatrix(FaultOutcome("clean"), combinations={"drawn": silent})) == [
        f"drawn: {MANY_UNTESTED} rules are untested; run one of the variants alone"
    ]


@pytest.mark.parametrize(
    ("outcome", "clear"),
    [
        (FaultOutcome("group", turned={BROKEN: turned("warn")}, departs=frozenset({BROKEN})), True),
        (FaultOutcome("group", turned={BROKEN: turned("warn")}), False),
        (FaultOutcome("group", turned={BROKEN: turned("fail")}, departs=frozenset({BROKEN})), False),
        (FaultOutcome("group", turned={BROKEN: turned("fail")}), False),
        (FaultOutcome("group", errors={"a case": "Traceback\nKeyError"}), False),
        (FaultOutcome("group", untested=["R-1"] * 200), False),
    ],
)
def test_members_of_a_group_that_fails_or_tests_less_are_tried_alone(
    outcome: FaultOutcome, clear: bool
) -> None:
    assert is_clear(outcome, FaultOutcome("clean")) is clear


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


def test_a_child_that_breaks_is_an_outcome_with_its_error() -> None:
    (broken,) = workers.run([("broken", _breaking)], workers=1)

    assert "ZeroDivisionError" in broken.errors["broken"]


def test_a_child_that_says_nothing_is_an_outcome_with_an_error() -> None:
    (silent,) = workers.run([("silent", lambda: os._exit(3))], workers=1)

    assert silent.errors


def _breaking() -> FaultOutcome:
    raise ZeroDivisionError


def test_an_unknown_name_is_a_usage_error_that_says_where_names_are() -> None:
    with pytest.raises(UsageError, match="--list-faults"):
        run(only=["no-such-fault"])


def test_the_matrix_is_written_with_what_turned_each_rule(tmp_path: Path) -> None:
    write(matrix(), tmp_path)

    written = json.loads((tmp_path / "selftest.json").read_text(encoding="utf-8"))
    assert written["faults"][0]["turned"][BROKEN]["by"] == [CHECK]


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
