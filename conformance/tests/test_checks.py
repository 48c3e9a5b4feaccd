"""Where checks begin and end beyond what faults and variants prove, and what a check may name."""

from __future__ import annotations

import pkgutil

import pytest

import conformance.checks as chapters
from conformance.checks import CHECKS, READINGS, access
from conformance.checks.registry import LEFT_TO_CASES, Memory, answers, successes
from conformance.spec import BY_KEY, REQUIREMENTS
from conformance.spec.operations import UNDESCRIBED
from conformance.tests.proof import HERE, Bound, Proof, Reading, chapters_with
from reference_impl.faults import FAULTS

PROOFS: dict[str, list[Proof]] = chapters_with("PROOFS")
BOUNDS: dict[str, list[Bound]] = chapters_with("BOUNDS")
READ: dict[str, list[Reading]] = chapters_with("READ")


@pytest.mark.parametrize("chapter", PROOFS)
def test_lawful_oddities_pass(chapter: str) -> None:
    assert [(proof.requirement, proof.lawful) for proof in PROOFS[chapter] if not proof.passes()] == []


@pytest.mark.parametrize("chapter", PROOFS)
def test_what_breaks_a_rule_is_found(chapter: str) -> None:
    """Nothing that breaks it stands where a fault of the selftest alone shows that."""
    rows = [proof for proof in PROOFS[chapter] if proof.wrong]
    assert [(proof.requirement, proof.wrong) for proof in rows if not proof.finds()] == []


@pytest.mark.parametrize("chapter", BOUNDS)
def test_a_rule_begins_and_ends_where_it_should(chapter: str) -> None:
    assert [line for bound in BOUNDS[chapter] for line in bound.misjudged()] == []


@pytest.mark.parametrize("chapter", READ)
def test_what_is_open_is_read(chapter: str) -> None:
    assert [(row.topic, row.values) for row in READ[chapter] if not row.is_read()] == []


def test_every_check_has_a_fault_by_which_the_selftest_proves_it() -> None:
    broken = {rule for fault in FAULTS.values() for rule in fault.breaks}
    assert {row.requirement for row in CHECKS} <= broken


def test_every_chapter_of_checks_has_its_tests() -> None:
    folders = (*chapters.__path__, *access.__path__)
    names = {module.name for module in pkgutil.iter_modules(folders)} - {"access", "registry"}
    assert {f"test_checks_{name}" for name in names} <= {file.stem for file in HERE.glob("test_checks_*.py")}


def test_a_check_decides_a_requirement_that_is_not_open() -> None:
    decided = {row.requirement: REQUIREMENTS[row.requirement] for row in CHECKS}

    assert [id for id, row in decided.items() if row.level == "open" or row.untestable is not None] == []


def test_a_check_and_a_reading_are_named_by_chapter_and_function() -> None:
    names = [each.name for each in CHECKS] + [each.name for each in READINGS]
    assert [name for name in names if name.count(".") != 1] == []


def test_a_rule_that_is_left_to_cases_has_a_check() -> None:
    assert LEFT_TO_CASES - {each.requirement for each in CHECKS} == set()


def test_a_list_after_a_cancellation_is_compared_with_it_by_model_alone() -> None:
    assert [each.compares for each in CHECKS if each.requirement == "INVITE-003"] == [True]


def test_a_reading_speaks_of_an_open_requirement() -> None:
    of_open = {row.reading for row in REQUIREMENTS.values() if row.level == "open"}
    of_others = {row.reading for row in REQUIREMENTS.values() if row.level != "open"}

    assert {row.key for row in READINGS} <= of_open - of_others


def test_what_a_check_selects_is_what_its_requirement_concerns() -> None:
    concerned = {row: set(REQUIREMENTS[row.requirement].operations) for row in CHECKS}

    elsewhere = {row for row, keys in concerned.items() if keys and not keys & row.on.keys}
    assert [row.name for row in elsewhere if row.on.keys != {UNDESCRIBED}] == []


def test_a_selection_of_an_unknown_endpoint_is_an_error() -> None:
    with pytest.raises(ValueError, match="GET /nowhere"):
        answers("GET /nowhere")


def test_no_endpoint_named_means_all_of_them() -> None:
    assert answers().keys == successes().keys == {*BY_KEY, UNDESCRIBED}


def test_a_memory_forgets_the_oldest_first() -> None:
    memory = Memory(100)
    for number in range(1_000):
        if number % 2:
            memory[str(number)] = number
        else:
            memory.setdefault(str(number), number)
        assert len(memory) <= 100
    assert list(memory) == [str(number) for number in range(1_000 - len(memory), 1_000)]
    assert len(memory) > 80


def test_a_full_memory_forgets_many_entries_at_once() -> None:
    times = 0

    def count() -> None:
        nonlocal times
        times += 1

    memory = Memory(800, on_forget=count)
    for number in range(1_800):
        memory[str(number)] = number
    assert times == 10
