"""Editions: frozen lists of rules by level of conformance, so that results stay comparable."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

LEVELS = ("core", "full", "strict")
"""Levels of conformance, each with the rules of those before it: musts that a read-only run with one account
can test, all musts that can be seen from outside, and all shoulds."""

FOLDER = files("conformance.editions")
EDITIONS = tuple(sorted(each.name[:-5] for each in FOLDER.iterdir() if each.name.endswith(".toml")))
"""The names of all editions."""


@dataclass(frozen=True, slots=True)
class Edition:
    """One edition. ``specification`` is the SHA-256 of the document; ``added`` are the rules by level."""

    name: str
    specification: str
    added: dict[str, tuple[str, ...]]

    def rules(self, level: str = LEVELS[-1]) -> list[str]:
        """The ids of the rules of a level."""
        return [rule for each in LEVELS[: LEVELS.index(level) + 1] for rule in self.added[each]]


@cache
def edition_of(name: str) -> Edition:
    """The edition of this name, which is one of ``EDITIONS``."""
    table = tomllib.loads(FOLDER.joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    return Edition(name, table["specification"], {level: tuple(table[level].split()) for level in LEVELS})
