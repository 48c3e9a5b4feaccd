"""The wheel in somebody else's project: its tests run as before, and the cases run beside its plugins."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from conformance.tests.installation import Installation
from reference_impl import serve as reference

OWN = """
import asyncio
import sys

import pytest

@pytest.fixture
def portal():
    return "of the project"

@pytest.fixture
def profile(pytestconfig):
    return pytestconfig.getoption("--impact")

def test_its_own_fixtures_and_options(portal, profile, pytestconfig):
    assert (portal, profile) == ("of the project", "mine")
    assert not pytestconfig.pluginmanager.has_plugin("conformance.plugin")
    assert {name for name in sys.modules if name.startswith("conformance")} <= {
        "conformance", "conformance.embed", "conformance.embed.pytest_plugin"
    }

@pytest.mark.asyncio
async def test_asynchronous():
    await asyncio.sleep(0)

@pytest.mark.parametrize("number", [1, 2])
def test_numbers(number):
    assert number

def test_fails_as_before():
    assert "its own" == "failure"

@pytest.mark.skip(reason="its own reason")
def test_skipped():
    pass
"""
MINE = "from tests.test_own import OWNER\n\n\ndef test_mine():\n    assert OWNER\n"
OF_THE_PROJECT = """
def pytest_addoption(parser):
    for name in ("target", "impact", "out", "known", "seed", "only", "skip", "history"):
        parser.addoption(f"--{name}", help="an option of the project")
"""


def ran(installed: Installation, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return installed.run("python", "-m", "pytest", "-q", *arguments, folder=folder)


def outcomes(run: subprocess.CompletedProcess[str]) -> list[str]:
    """What pytest says of each test, and its last line without the time."""
    lines = re.findall(r"^(?:PASSED|FAILED|SKIPPED|ERROR) .*$", run.stdout, re.MULTILINE)
    last = re.findall(r"^\d+ \w+,.* in ", run.stdout, re.MULTILINE)
    return sorted(lines) + last


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with its own folder ``tests``, its own ``cases``, and options with names of ours."""
    for package in ("tests", "cases"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "conftest.py").write_text(OF_THE_PROJECT, encoding="utf-8")
    (tmp_path / "tests" / "test_own.py").write_text(f"{OWN}\nOWNER = 'me'\n", encoding="utf-8")
    (tmp_path / "cases" / "test_mine.py").write_text(MINE, encoding="utf-8")
    return tmp_path


ARGUMENTS = ("--impact", "mine", "--profile", "-n", "2", "-rA", "--pyargs", "tests", "cases")
"""Options of the project, of pytest-profiling and of pytest-xdist."""


def test_the_tests_of_a_project_run_as_before(installed: Installation, project: Path) -> None:
    before = ran(installed, project, "-p", "no:portal_conformance", *ARGUMENTS)
    after = ran(installed, project, *ARGUMENTS)

    assert outcomes(before)[-1] == "1 failed, 5 passed, 1 skipped in "
    assert outcomes(after) == outcomes(before), after.stdout + after.stderr
    assert before.returncode == after.returncode == 1
    assert (project / "prof" / "combined.prof").exists(), "--profile is pytest-profiling's"


def test_the_cases_run_from_the_wheel_as_the_guide_prints_it_beside_a_plugin_with_the_same_option(
    installed: Installation, tmp_path: Path
) -> None:
    with reference.start(seed=1) as portal:
        (tmp_path / "portal.toml").write_text(portal.profile(), encoding="utf-8")
        run = ran(
            installed,
            tmp_path,
            *("--pyargs", "cases.constants", "--profile", "portal.toml", "--impact=read-only"),
            *("--lf", "-k", "countries", "-m", "constant and must"),
        )

    results = json.loads((tmp_path / "reports" / "results.json").read_text(encoding="utf-8"))
    assert run.returncode == 0, run.stdout + run.stderr
    assert (results["target"]["profile"], results["impact"]) == ("portal.toml", "read-only")
    assert {row["id"]: row["verdict"] for row in results["requirements"]}["CONSTANT-020"] == "pass"
    selected = "Selected: -k countries, --lf, -m constant and must, cases.constants."
    assert selected in " ".join(run.stdout.split())
    assert not (tmp_path / "prof").exists(), "nothing is profiled"


def test_several_processes_are_refused_in_a_sentence(installed: Installation, tmp_path: Path) -> None:
    run = ran(installed, tmp_path, "--pyargs", "cases", "-n", "2")

    lines = [line for line in run.stderr.splitlines() if line.startswith("ERROR")]
    assert run.returncode == 4
    assert lines == [
        "ERROR: The cases run one after the other, as they share sign-ins: leave out -n (or add -n 0)."
    ]
