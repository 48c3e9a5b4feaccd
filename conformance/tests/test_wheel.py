"""What `pip install` gives: the suite with its cases, in an empty folder."""

from __future__ import annotations

import json
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

from conformance.cli.suite import FOR_DEVELOPERS
from conformance.tests.installation import Installation, wheel


def test_the_wheel_runs_its_cases_in_an_empty_folder(installed: Installation, tmp_path: Path) -> None:
    run = installed.run("portal-conformance", "run", "--rerun", "ROLE-011", folder=tmp_path)

    folder = tmp_path / "reports" / "again"
    results = json.loads((folder / "results.json").read_text())
    (role,) = [row for row in results["requirements"] if row["id"] == "ROLE-011"]
    assert run.returncode == 0, run.stdout + run.stderr
    assert role["verdict"] == "pass"
    assert (folder / "report.html").exists()
    assert not (tmp_path / "reports" / "report.html").exists(), "a rerun leaves the whole run's report alone"


def test_the_wheel_carries_cases_and_pages_and_no_tests_of_the_suite_itself(
    installed: Installation, tmp_path: Path
) -> None:
    site = installed.site
    pages = site / "conformance" / "docs"
    listed = installed.run("portal-conformance", "docs", folder=tmp_path).stdout.splitlines()
    rows = installed.run("portal-conformance", "requirements", "--format", "json", folder=tmp_path).stdout

    assert any(case.startswith("cases/") for row in json.loads(rows) for case in row["cases"])
    assert (site / "cases").is_dir()
    assert (site / "conformance" / "spec").is_dir()
    assert (site / "conformance" / "py.typed").is_file()
    packages = ("conformance", "reference_impl", "cases")
    assert [place for name in packages for place in site.glob(f"{name}/**/tests")] == []
    assert {path.suffix for path in pages.rglob("*") if path.is_file()} == {".md"}
    of_users = {page.stem for page in pages.rglob("*.md")} - {*FOR_DEVELOPERS}
    assert [line.split()[0] for line in listed] == sorted(of_users)


def test_the_wheel_says_what_it_is(tmp_path_factory: pytest.TempPathFactory) -> None:
    with zipfile.ZipFile(wheel(tmp_path_factory)) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = HeaderParser().parsestr(archive.read(name).decode())

    classifiers = metadata.get_all("Classifier", [])
    assert {"Framework :: Pytest", "Typing :: Typed", "Environment :: Console"} <= set(classifiers)
    assert "conformance" in metadata["Keywords"].split(",")
    assert {"replay", "scale", "mcp", "describe", "docs", "dev"} == set(
        metadata.get_all("Provides-Extra", [])
    )
    assert metadata["Summary"]
    assert metadata["Requires-Python"] == ">=3.11"
