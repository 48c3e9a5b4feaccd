"""Editions: frozen lists of rules by level of conformance, so that results stay comparable."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

LEVELS = ("core", "full", "strict")
"""Levels of conformance, each with the rules of those before it: musts that a read-only run with one account
can test, all musts that can be seen from outside, and all shoulds."""

FOLDER = files("conformance.editions")
EDITIONS = tuple(sorted(each.name[:-5] for each in FOLDER.iterdir() if each.name.endswith(".toml")))


@cache
def _table(edition: str) -> dict[str, str]:
    return tomllib.loads(FOLDER.joinpath(f"{edition}.toml").read_text(encoding="utf-8"))


def specification_of(edition: str) -> str:
    """The SHA-256 of the document that an edition is of."""
    return _table(edition)["specification"]


def rules_of(edition: str, level: str) -> list[str]:
    """The ids of the rules of a level, which stand there as ``ENV 001-003 006``."""
    rules, chapter = list[str](), ""
    for word in " ".join(_table(edition)[each] for each in LEVELS[: LEVELS.index(level) + 1]).split():
        if word.isalpha():
            chapter = word
        else:
            first, _, last = word.partition("-")
            rules += (f"{chapter}-{number:03}" for number in range(int(first), int(last or first) + 1))
    return rules
