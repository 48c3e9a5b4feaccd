"""The guide is true: the files and folders that it names exist, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "CONTRIBUTING.md"]
GUIDE = [page for page in PAGES if page.name != "messages.md"]
BASES = (ROOT, ROOT / "conformance", ROOT / "conformance/report")
WRITTEN = {"exchanges.jsonl", "results.json", "changes.jsonl", "report.html"}
"""Files that a run writes."""


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.name)
def test_the_places_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_.]*)+|[a-z_]+\.py|[a-z_]+\.md)`", text)) - WRITTEN
    missing = [name for name in named if not any((base / name).exists() for base in BASES)]
    beside = [name for name in missing if not list((ROOT / "conformance").rglob(name.rstrip("/")))]

    assert beside == []


@pytest.mark.parametrize("page", GUIDE, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), link


def test_every_package_has_its_row_in_the_architecture() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    packages = {
        path.name
        for path in (ROOT / "conformance").iterdir()
        if path.is_dir() and (path / "__init__.py").exists()
    }

    assert packages - {"tests"} == set(re.findall(r"^\| `([a-z]+)/` \|", text, re.MULTILINE))


def test_the_guide_names_every_generated_file_of_the_messages_page() -> None:
    assert "docs/generate_messages.py" in (ROOT / "docs" / "contributing.md").read_text(encoding="utf-8")
