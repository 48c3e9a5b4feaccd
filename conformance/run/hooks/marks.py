"""Marks by which pytest selects cases: the level and the chapter of each rule that a case decides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import pytest

from conformance.run.catalogue import ids_of
from conformance.spec import REQUIREMENTS
from conformance.spec.requirements import Level

DECLARED = (
    "requirement(*ids): the requirements a case decides",
    "needs(*parts): what of the profile a case cannot do without",
    "impact(level): the most a case does to the target",
    "sign_ins(number): how many sign-ins a case begins",
    "waits(seconds): how long a generator case waits in all",
    "pauses(seconds): how long a case waits while no other runs",
)
"""The marks that cases are written with."""


def declared_marks() -> Iterator[str]:
    """Every mark of the cases, as pytest wants it declared."""
    yield from DECLARED
    for level in get_args(Level):
        yield f"{level}: cases that decide a requirement of the level {level}"
    for chapter in sorted({row.chapter for row in REQUIREMENTS.values()}):
        yield f"{chapter.lower()}: cases that decide a requirement {chapter}-…"


def mark_by_rules(item: pytest.Item) -> None:
    """Marks a case with the levels and chapters of its rules: ``-m "login and must"`` selects by them."""
    rules = [REQUIREMENTS[id] for id in ids_of(item) if id in REQUIREMENTS]
    for name in dict.fromkeys([*(rule.level for rule in rules), *(rule.chapter.lower() for rule in rules)]):
        item.add_marker(name)
