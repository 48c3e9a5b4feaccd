"""That every check is proven from both sides, and names a requirement that can be decided."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest

import conformance.checks as chapters
from conformance.checks import CHECKS, READINGS, access
from conformance.checks.registry import Memory, answers, successes
from conformance.judging import Judge
from conformance.spec import BY_KEY, OPERATIONS, REQUIREMENTS
from conformance.tests.proof import Proof

HERE = Path(__file__).parent
PROVEN_ONE_BY_ONE = {row.requirement for row in OPERATIONS}
"""By their own tests, for each of the 88."""


def proofs() -> list[Proof]:
    modules = [
        importlib.import_module(f"conformance.tests.{file.stem}")
        for file in sorted(HERE.glob("test_checks_*.py"))
    ]
    return [proof for module in modules for proof in getattr(module, "PROOFS", [])]


PROOFS = proofs()


@pytest.mark.parametrize("proof", PROOFS, ids=str)
def test_a_lawful_oddity_passes(proof: Proof) -> None:
    assert proof.passes()


@pytest.mark.parametrize("proof", PROOFS, ids=str)
def test_what_breaks_the_rule_is_found(proof: Proof) -> None:
    assert proof.finds()


def test_every_check_is_proven_from_both_sides() -> None:
    proven = {proof.requirement for proof in PROOFS} | PROVEN_ONE_BY_ONE
    assert {row.requirement for row in CHECKS} <= proven


def test_every_chapter_of_checks_has_its_tests() -> None:
    folders = (*chapters.__path__, *access.__path__)
    names = {module.name for module in pkgutil.iter_modules(folders)} - {"access", "registry"}
    assert {f"test_checks_{name}" for name in names} <= {file.stem for file in HERE.glob("test_checks_*.py")}


@pytest.mark.parametrize("row", CHECKS, ids=lambda row: f"{row.requirement}-{row.name}")
def test_a_check_decides_a_requirement_that_is_not_open(row: object) -> None:
    requirement = REQUIREMENTS[getattr(row, "requirement")]  # noqa: B009
    assert requirement.level != "open"
    assert requirement.untestable is None


@pytest.mark.parametrize("row", READINGS, ids=lambda row: row.key)
def test_a_reading_speaks_of_an_open_requirement(row: object) -> None:
    key = getattr(row, "key")  # noqa: B009
    levels = {requirement.level for requirement in REQUIREMENTS.values() if requirement.reading == key}
    assert levels == {"open"}


@pytest.mark.parametrize("row", CHECKS, ids=lambda row: f"{row.requirement}-{row.name}")
def test_what_a_check_selects_is_what_its_requirement_concerns(row: object) -> None:
    selected = getattr(row, "on").keys  # noqa: B009
    concerned = set(REQUIREMENTS[getattr(row, "requirement")].operations)  # noqa: B009
    assert not concerned or concerned & selected


def test_a_selection_of_an_unknown_endpoint_is_an_error() -> None:
    with pytest.raises(ValueError, match="GET /nowhere"):
        answers("GET /nowhere")


def test_no_endpoint_named_means_all_of_them() -> None:
    assert answers().keys == successes().keys == frozenset(BY_KEY)


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


def test_two_judges_remember_nothing_of_each_other() -> None:
    assert Judge().operations_seen == {}
