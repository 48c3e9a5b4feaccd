"""The wheel in somebody else's project: its tests run as before, and ``portal_judge`` works in them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from conformance.tests.test_wheel import installed

__all__ = ["installed"]

OWN = """
import asyncio
import pathlib

import httpx
import pytest

ENVELOPE = {"version": "2.0.0", "timestamp": 1767225600000, "success": True, "code": "2000",
            "message": "Success", "data": {"keyId": "k-1", "publicKey": "AAAA"}}

def answer(**changes):
    headers = {"X-PORTAL-ACCESS-CODE": "code-1"}
    request = httpx.Request("GET", "http://localhost/web/v1/secure-channel/public-key", headers=headers)
    return httpx.Response(200, json=ENVELOPE | changes, request=request)

@pytest.fixture
def portal():
    return "of the project"

def test_its_own_fixture(portal, pytestconfig):
    assert portal == "of the project"
    assert pytestconfig.getoption("--profile") == "mine"
    assert not pytestconfig.pluginmanager.has_plugin("conformance.plugin")

@pytest.mark.asyncio
async def test_asynchronous():
    await asyncio.sleep(0)

def test_lawful(portal_judge):
    portal_judge.feed(answer())
"""
FAULTY = """
from tests.test_own import answer

def test_faulty(portal_judge):
    portal_judge.feed(answer(success="yes"))
"""
OF_ANOTHER_PLUGIN = """
def pytest_addoption(parser):
    for name in ("target", "profile", "impact", "out", "baseline", "seed", "only", "skip", "history"):
        parser.addoption(f"--{name}", help="of another plugin")
"""


@pytest.fixture(scope="module")
def python(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel, pytest-asyncio, and the libraries that are installed here."""
    place = tmp_path_factory.mktemp("environment")
    venv.create(place / "venv", with_pip=False, symlinks=True)
    (library,) = (place / "venv").glob("lib/python*/site-packages")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--target", str(library), "pytest-asyncio"], check=True, capture_output=True)
    # The files of the wheel come before those of an editable installation of the suite.
    (library / "conformance-wheel.pth").write_text(f"{installed}\n", encoding="utf-8")
    (library / "libraries.pth").write_text(f"{_libraries()}\n", encoding="utf-8")
    return place / "venv" / "bin" / "python"


def _libraries() -> Path:
    return Path(pytest.__file__).parents[1]


def ran(python: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    return subprocess.run(
        [str(python), "-m", "pytest", "-q", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with its own folder ``tests``, its own ``cases`` and a plugin with options of ours."""
    for package in ("tests", "cases"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    (tmp_path / "conftest.py").write_text(OF_ANOTHER_PLUGIN, encoding="utf-8")
    (tmp_path / "tests" / "test_own.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "cases" / "test_mine.py").write_text("def test_mine(): pass\n", encoding="utf-8")
    return tmp_path


def test_the_tests_of_a_project_run_as_before_and_portal_judge_fails_the_faulty_one(
    python: Path, project: Path
) -> None:
    (project / "tests" / "test_faulty.py").write_text(FAULTY, encoding="utf-8")

    run = ran(python, project, "--profile", "mine", "-n", "2", "--pyargs", "tests", "cases")

    assert run.returncode == 1, run.stdout + run.stderr
    assert "1 failed, 4 passed" in run.stdout, run.stdout + run.stderr
    assert "FAILED tests/test_faulty.py::test_faulty" in run.stdout
    assert "FAIL ENV-002 (Response envelope)" in run.stdout
    assert "actual    'yes'" in run.stdout


def test_the_cases_run_from_the_wheel_by_pytest_with_its_own_selection(python: Path, tmp_path: Path) -> None:
    run = ran(python, tmp_path, "--pyargs", "cases.constants", "--lf", "-k", "countries")

    results = json.loads((tmp_path / "reports" / "results.json").read_text(encoding="utf-8"))
    assert run.returncode == 0, run.stdout + run.stderr
    verdicts = {row["id"]: row["verdict"] for row in results["requirements"]}
    assert verdicts["CONSTANT-020"] == "pass"
    assert "Selected: -k countries, --lf, cases.constants." in " ".join(run.stdout.split())


def test_several_processes_are_refused_in_a_sentence(python: Path, tmp_path: Path) -> None:
    run = ran(python, tmp_path, "--pyargs", "cases", "-n", "2")

    lines = [line for line in run.stderr.splitlines() if line.startswith("ERROR")]
    assert run.returncode == 4
    assert lines == [
        "ERROR: The cases run one after the other, as they share sign-ins: leave out -n (or add -n 0)."
    ]
