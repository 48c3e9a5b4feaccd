"""The guide is true: the files and folders that it names exist, and its links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.report.across.baseline_rows import KEYS
from conformance.tests.documents import PAGES, ROOT, blocks
from conformance.traffic.difference_kinds import DIFFERENCE_KINDS

BASES = (ROOT, ROOT / "conformance", ROOT / "conformance/report")
WRITTEN = {
    "exchanges.jsonl",
    "manifest.json",
    "manifest.dsse.json",
    "results.json",
    "changes.jsonl",
    "report.html",
    "results.sarif",
    "badge.json",
    "cases.html",
    "summary.md",
    "again",
    "site/",
}
"""What a run or a build writes."""


def missing_places(page: Path) -> list[str]:
    """The files and folders that a page names and that are not there."""
    named = set(
        re.findall(r"`([a-z_]+(?:/[a-z_.]*)+|[a-z_]+\.py|[a-z_]+\.md)`", page.read_text(encoding="utf-8"))
    )
    placed = [name for name in named if name.removeprefix("reports/") not in WRITTEN | {""}]
    missing = [name for name in placed if not any((base / name).exists() for base in BASES)]
    return [name for name in missing if not list((ROOT / "conformance").rglob(name.rstrip("/")))]


def test_the_places_that_a_page_names_exist() -> None:
    assert {page.name: missing for page in PAGES if (missing := missing_places(page))} == {}


def test_the_links_of_a_page_lead_somewhere() -> None:
    links = [
        (page, link)
        for page in PAGES
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    ]

    assert len(links) > 20
    assert [(page.name, link) for page, link in links if not (page.parent / link).exists()] == []


def test_every_package_has_its_row_in_the_architecture() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    packages = {
        path.name
        for path in (ROOT / "conformance").iterdir()
        if path.is_dir() and (path / "__init__.py").exists()
    }

    assert packages - {"tests"} == set(re.findall(r"^\| `([a-z]+)/` \|", text, re.MULTILINE))


@pytest.mark.parametrize("language", ["yaml", "sh"])
def test_a_sample_that_names_a_secret_of_the_profile_names_all_of_them(language: str) -> None:
    secrets = ("PORTAL_ACCESS_CODE", "ADMIN_PASSWORD", "ADMIN_OTP_SECRET")
    samples = [row.text for row in blocks(language) if row.page == "docs/ci.md" and secrets[0] in row.text]

    assert samples
    assert [text for text in samples if not all(secret in text for secret in secrets)] == []


def test_the_page_of_baselines_has_every_key_of_a_row_and_no_other() -> None:
    text = (ROOT / "docs" / "baselines.md").read_text(encoding="utf-8")
    documented = dict(re.findall(r"^\| `(\w+)` \| (.+?) \|$", text, re.MULTILINE))

    assert tuple(documented) == KEYS
    assert [key for key, meaning in documented.items() if meaning.endswith("needed")] == [
        "endpoint",
        "reason",
    ]
    assert all(f"`{kind}`" in documented["kind"] for kind in DIFFERENCE_KINDS)
