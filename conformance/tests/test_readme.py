"""What the README says: it is short, its places exist, its totals are the totals."""

from __future__ import annotations

import re
from pathlib import Path

from conformance.spec import REQUIREMENTS
from conformance.target.bundled import FAULTS, VARIANTS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LONGEST = 110
"""Two screens."""


def test_the_readme_fits_two_screens() -> None:
    assert len(README.splitlines()) <= LONGEST


def test_the_places_that_the_readme_names_exist() -> None:
    named = re.findall(r"\]\(((?!#)[^)#]+)", README)

    assert len(named) > 10
    assert [place for place in named if not (ROOT / place).exists()] == []


def test_the_readme_shows_the_totals_of_selftest() -> None:
    testable = [row.level for row in REQUIREMENTS.values() if not row.untestable]
    musts, shoulds = testable.count("must"), testable.count("should")

    assert (
        f"{len(FAULTS)} faults, {len(VARIANTS)} variants: {musts} of {musts} musts and {shoulds} of {shoulds}"
        " shoulds are proven able to fail, 0 problems"
    ) in README
