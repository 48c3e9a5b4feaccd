"""Every statement of the specification that binds a portal, read from the TOML files beside this one."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from importlib.resources import files
from itertools import chain
from types import MappingProxyType
from typing import Literal

from conformance.spec.operations import OPERATIONS
from conformance.spec.statements import ANYTHING, rows_of

Level = Literal["must", "should", "open"]
"""``must`` is stated, ``should`` only shown in a sample or implied, ``open`` silent or said in two ways."""

CHAPTERS = (
    "envelope",
    "resources",
    "constants",
    "states",
    "headers",
    "authentication",
    "secure_channel",
    "security",
    "profile",
    "accounts",
    "administration",
    "notifications",
    "roles_files_orders",
    "endpoints",
    "errors_limits_versions",
    "model",
)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One row. ``row`` names that of the specification's table where neither endpoint nor statement
    does; ``reading`` is the stable key under which an open one is recorded and may be pinned;
    ``untestable`` says why something cannot be seen from outside. ``aliases`` are ids that it had before, by
    which a baseline, an earlier run or ``--rerun`` may still name it."""

    id: str
    section: str
    level: Level
    statement: str
    operations: tuple[str, ...] = ()
    reading: str | None = None
    untestable: str | None = None
    aliases: tuple[str, ...] = ()
    row: str = ""

    @property
    def can_hold(self) -> bool:
        """Whether an answer can show that it holds, even where none could show that it does not."""
        return self.untestable is None or self.untestable == ANYTHING

    @property
    def chapter(self) -> str:
        return self.id.rpartition("-")[0]


def _operations(patterns: list[str]) -> tuple[str, ...]:
    """Patterns such as ``POST */login/*`` as the keys of the rows they name. ValueError: one names none."""
    return tuple(dict.fromkeys(key for pattern in patterns for key in _named(pattern)))


@cache
def _named(pattern: str) -> tuple[str, ...]:
    """Few patterns stand in many rows."""
    if pattern.startswith("@"):
        keys = [row.key for row in OPERATIONS if row.auth == pattern[1:]]
    else:
        keys = [row.key for row in OPERATIONS if fnmatchcase(row.key, pattern)]
    if not keys:
        raise ValueError(f"no operation matches {pattern!r}")
    return tuple(keys)


def _read() -> Iterator[Requirement]:
    folder = files("conformance.spec").joinpath("requirements.d")
    for chapter in CHAPTERS:
        rows = tomllib.loads(folder.joinpath(f"{chapter}.toml").read_text(encoding="utf-8"))
        for row in chain.from_iterable(map(rows_of, rows["requirement"])):
            operations = _operations(row.get("operations", []))
            yield Requirement(**{**row, "operations": operations, "aliases": tuple(row.get("aliases", ()))})


def _by_id() -> Mapping[str, Requirement]:
    rows: dict[str, Requirement] = {}
    for row in _read():
        if row.id in rows:
            raise ValueError(f"two requirements have the id {row.id}")
        rows[row.id] = row
    return MappingProxyType(rows)


REQUIREMENTS: Mapping[str, Requirement] = _by_id()
"""By id, in the specification's order."""


def _aliases() -> Mapping[str, str]:
    rows: dict[str, str] = {}
    for row in REQUIREMENTS.values():
        for alias in row.aliases:
            if alias in REQUIREMENTS or alias in rows:
                raise ValueError(f"the alias {alias} of {row.id} is the id or alias of another requirement")
            rows[alias] = row.id
    return MappingProxyType(rows)


ALIASES: Mapping[str, str] = _aliases()
"""The present id by each id that a requirement had before."""


def present_id(id: str) -> str:
    """Replaces a former id of a requirement by its current id; other texts stay as they are."""
    return ALIASES.get(id, id)


PINNED = "READING-"
"""What the id of a reading begins with that the profile pins under ``[readings]``: it ends with its key."""


def left_open(reading: str) -> list[str]:
    """Requirements that leave a reading open; ``reading`` is its key, or its id as a pinned reading."""
    key = reading.removeprefix(PINNED)
    return [row.id for row in REQUIREMENTS.values() if row.reading == key]


def near_ids(text: str) -> list[str]:
    """Ids that a mistyped id may mean, likeliest first; in an existing chapter, nearest number first."""
    if numbered := numbered_near(text):
        return numbered
    return [] if is_of_no_chapter(text) else get_close_matches(text.upper(), REQUIREMENTS, n=3, cutoff=0.5)


def is_of_no_chapter(text: str) -> bool:
    """Whether a text has the form of an id, whose chapter is like none that there is."""
    chapter, dash, number = text.upper().partition("-")
    chapters = {row.chapter for row in REQUIREMENTS.values()}
    return bool(dash) and number.isdigit() and not get_close_matches(chapter, chapters, n=1, cutoff=0.6)


def numbered_near(text: str) -> list[str]:
    """The three ids of a chapter whose numbers are the nearest to that of a text; none where it has none."""
    chapter, _, number = text.upper().partition("-")
    same = [id for id, row in REQUIREMENTS.items() if row.chapter == chapter]
    if not (number.isascii() and number.isdigit() and len(number) <= LONGEST_NUMBER):
        return []
    return sorted(same, key=lambda id: abs(int(id.rpartition("-")[2]) - int(number)))[:3]


LONGEST_NUMBER = 4
"""Digits of a number that may be meant for that of a requirement."""


def present_signature(signature: str) -> str:
    """Replaces a former requirement id at the start of a finding's signature by the current id."""
    id, blank, place = signature.partition(" ")
    return present_id(id) + blank + place
