"""What `pip install` gives: the suite with its cases, in an empty folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel's files, as they would stand in site-packages."""
    place = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--outdir", str(place / "dist"), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = (place / "dist").glob("*.whl")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(place / "site")]
    subprocess.run([*pip, str(wheel)], check=True, capture_output=True)
    return place / "site"


def told(installed: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of the installed suite, run in a folder that holds nothing."""
    return subprocess.run(
        [sys.executable, "-m", "conformance.cli", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )


def test_the_wheel_runs_its_cases_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    run = told(installed, tmp_path, "run", "--rerun", "ROLE-011")

    folder = tmp_path / "reports" / "again"
    results = json.loads((folder / "results.json").read_text())
    (role,) = [one for one in results["requirements"] if one["id"] == "ROLE-011"]
    assert run.returncode == 0, run.stdout + run.stderr
    assert role["verdict"] == "pass"
    assert (folder / "report.html").exists()
    assert not (tmp_path / "reports" / "report.html").exists(), "a rerun leaves the whole run's report alone"


def test_the_wheel_knows_which_cases_test_a_requirement(installed: Path, tmp_path: Path) -> None:
    rows = json.loads(told(installed, tmp_path, "requirements", "--format", "json").stdout)

    cases = {case for row in rows for case in row["cases"]}
    assert any(case.startswith("cases/") for case in cases)


def test_the_wheel_carries_no_tests_of_the_suite_itself(installed: Path) -> None:
    assert (installed / "cases").is_dir()
    assert (installed / "conformance" / "spec").is_dir()
    assert (installed / "conformance" / "py.typed").is_file()
    assert not list(installed.glob("*/tests"))
