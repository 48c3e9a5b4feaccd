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


def proofs_by_chapter() -> dict[str, list[Proof]]:
    """The proofs of each file of checks that has any."""
    names = [file.stem for file in sorted(HERE.glob("test_checks_*.py"))]
    modules = [importlib.import_module(f"conformance.tests.{name}") for name in names]
    return {
        name: module.PROOFS for name, module in zip(names, modules, strict=True) if hasattr(module, "PROOFS")
    }


CHAPTERS = proofs_by_chapter()
PROOFS = [proof for proofs in CHAPTERS.values() for proof in proofs]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_lawful_oddities_pass(chapter: str) -> None:
    assert [(proof.requirement, proof.lawful) for proof in CHAPTERS[chapter] if not proof.passes()] == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_what_breaks_a_rule_is_found(chapter: str) -> None:
    assert [(proof.requirement, proof.wrong) for proof in CHAPTERS[chapter] if not proof.finds()] == []


def test_every_check_is_proven_from_both_sides() -> None:
    proven = {proof.requirement for proof in PROOFS} | PROVEN_ONE_BY_ONE
    assert {row.requirement for row in CHECKS} <= proven


def test_every_chapter_of_checks_has_its_tests() -> None:
    folders = (*chapters.__path__, *access.__path__)
    names = {module.name for module in pkgutil.iter_modules(folders)} - {"access", "registry"}
    assert {f"test_checks_{name}" for name in names} <= {file.stem for file in HERE.glob("test_checks_*.py")}


def test_a_check_decides_a_requirement_that_is_not_open() -> None:
    decided = {row.requirement: REQUIREMENTS[row.requirement] for row in CHECKS}

    assert [id for id, row in decided.items() if row.level == "open" or row.untestable is not None] == []


def test_a_reading_speaks_of_an_open_requirement() -> None:
    of_open = {row.reading for row in REQUIREMENTS.values() if row.level == "open"}
    of_others = {row.reading for row in REQUIREMENTS.values() if row.level != "open"}

    assert {row.key for row in READINGS} <= of_open - of_others


def test_what_a_check_selects_is_what_its_requirement_concerns() -> None:
    concerned = {row: set(REQUIREMENTS[row.requirement].operations) for row in CHECKS}

    assert [row.requirement for row, keys in concerned.items() if keys and not keys & row.on.keys] == []


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
