"""What `pip install` gives: the suite with its cases, in an empty folder."""

from __future__ import annotations

import json
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

from conformance.tests.installation import Installation, installation, wheel


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return installation(tmp_path_factory)


def test_the_wheel_runs_its_cases_in_an_empty_folder(installed: Installation, tmp_path: Path) -> None:
    run = installed.run("portal-conformance", "run", "--rerun", "ROLE-011", folder=tmp_path)

    folder = tmp_path / "reports" / "again"
    results = json.loads((folder / "results.json").read_text())
    (role,) = [row for row in results["requirements"] if row["id"] == "ROLE-011"]
    assert run.returncode == 0, run.stdout + run.stderr
    assert role["verdict"] == "pass"
    assert (folder / "report.html").exists()
    assert not (tmp_path / "reports" / "report.html").exists(), "a rerun leaves the whole run's report alone"


def test_the_wheel_knows_which_cases_test_a_requirement(installed: Installation, tmp_path: Path) -> None:
    rows = json.loads(
        installed.run("portal-conformance", "requirements", "--format", "json", folder=tmp_path).stdout
    )

    cases = {case for row in rows for case in row["cases"]}
    assert any(case.startswith("cases/") for case in cases)


def test_the_wheel_carries_no_tests_of_the_suite_itself(installed: Installation) -> None:
    site = installed.site
    assert (site / "cases").is_dir()
    assert (site / "conformance" / "spec").is_dir()
    assert (site / "conformance" / "py.typed").is_file()
    assert not [
        place
        for name in ("conformance", "reference_impl", "cases")
        for place in site.glob(f"{name}/**/tests")
    ]


def test_the_wheel_carries_the_pages_of_the_documentation(installed: Installation, tmp_path: Path) -> None:
    folder = installed.site / "conformance" / "docs"

    assert {path.suffix for path in folder.rglob("*") if path.is_file()} == {".md"}
    listed = installed.run("portal-conformance", "docs", folder=tmp_path).stdout
    assert [line.split()[0] for line in listed.splitlines()] == sorted(
        page.stem for page in folder.rglob("*.md")
    )


def test_the_wheel_says_what_it_is(tmp_path_factory: pytest.TempPathFactory) -> None:
    with zipfile.ZipFile(wheel(tmp_path_factory)) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = HeaderParser().parsestr(archive.read(name).decode())

    classifiers = metadata.get_all("Classifier", [])
    assert {"Framework :: Pytest", "Typing :: Typed", "Environment :: Console"} <= set(classifiers)
    assert "conformance" in metadata["Keywords"].split(",")
    assert {"replay", "scale", "mcp", "docs", "dev"} == set(metadata.get_all("Provides-Extra", []))
    assert metadata["Summary"]
    assert metadata["Requires-Python"] == ">=3.11"
