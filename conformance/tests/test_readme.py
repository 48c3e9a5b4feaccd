"""What the README says: its commands are commands, its places exist, its totals are the totals."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from conformance.cli.commands import COMMANDS as ROWS
from conformance.cli.program import loaded
from conformance.spec import REQUIREMENTS
from conformance.target.bundled import FAULTS, VARIANTS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = sorted(
    set(re.findall(r"(?:^    |run: |- |`)(portal-conformance [a-z][^`\n]*)", README, re.MULTILINE))
)


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_readme_is_understood(line: str) -> None:
    words = shlex.split(line.partition(">")[0], comments=True)[1:]

    context = loaded(words[0]).make_context(words[0], words[1:])

    assert context.args == []


def test_the_readme_names_every_command() -> None:
    assert {row.name for row in ROWS} == {line.split()[1] for line in COMMANDS}


def test_the_places_that_the_readme_names_exist() -> None:
    named = re.findall(r"`([a-z_]+/[a-z_./]*)`|\((docs/[^)]+)\)|python (benchmarks/[a-z_]+\.py)", README)
    places = [place for group in named for place in group if place]

    assert places
    assert [
        place for place in places if not place.startswith("reports") and not (ROOT / place).exists()
    ] == []


def test_the_make_targets_of_the_readme_exist() -> None:
    made = (ROOT / "Makefile").read_text(encoding="utf-8")

    for target in re.findall(r"(?:^    |`)make ([a-z]+)", README, re.MULTILINE):
        assert f"\n{target}:" in made


def test_the_readme_shows_the_totals_of_selftest() -> None:
    testable = [row.level for row in REQUIREMENTS.values() if not row.untestable]
    musts, shoulds = testable.count("must"), testable.count("should")

    assert (
        f"{len(FAULTS)} faults, {len(VARIANTS)} variants: {musts} of {musts} musts and {shoulds} of {shoulds}"
        " shoulds are proven able to fail, 0 problems"
    ) in README
