"""What the options of a run do, given as their users give them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import cases
from conformance.cli import main
from conformance.tests.deployment import Done, deployed

FAULT, BROKEN = "countries-value-off-by-one", "CONSTANT-020"
ONE = ("--rerun", BROKEN)


def test_what_is_known_fails_no_run_until_it_is_gone_or_expired(tmp_path: Path) -> None:
    known = tmp_path / "known.toml"
    with deployed(tmp_path, faults=[FAULT]) as portal:
        found = portal.run(*ONE)
        assert main(["compare", str(found.out), "--known", str(known), "--accept", "all"]) == 0
        listed = portal.run(*ONE, "--known", str(known))
        strict = portal.run(*ONE, "--known", str(known), "--strict")
        text = known.read_text(encoding="utf-8")
        known.write_text(text + "until = 2020-01-31\n", encoding="utf-8")
        expired = portal.run(*ONE, "--known", str(known))
    known.write_text(text, encoding="utf-8")

    with deployed(tmp_path) as portal:
        stale = portal.run(*ONE, "--known", str(known))

    assert BROKEN in text
    assert [run.code for run in (found, listed, strict, expired, stale)] == [1, 0, 4, 1, 1]
    assert "no longer fits" in stale.said
    assert "with --strict each row needs a reason of its own" in " ".join(strict.said.split())
    assert f"\nknown {BROKEN}  " in listed.said
    assert f"\nFAIL {BROKEN}  " not in listed.said
    assert f"\nFAIL {BROKEN}  " in expired.said


def test_a_pinned_reading_that_differs_fails_as_a_changed_reading(tmp_path: Path) -> None:
    topic = "invalid-credentials-status"
    runs = {}
    with deployed(tmp_path) as portal:
        text = portal.profile.read_text(encoding="utf-8")
        for pinned in (401, 400):
            portal.profile.write_text(f"{text}\n[readings]\n{topic} = {pinned}\n", encoding="utf-8")
            runs[pinned] = portal.run("--rerun", f"READING-{topic}", out=tmp_path / str(pinned))

    assert (runs[401].code, runs[401].fails) == (0, [])
    assert runs[400].code == 1
    assert runs[400].fails == [f"READING-{topic} changed reading: {topic} is 401"]


def test_no_case_begins_when_the_time_budget_is_used_up(tmp_path: Path) -> None:
    with deployed(tmp_path) as portal:
        run = portal.run("--impact", "read-only", "--time-budget", "0.1s")

    reasons = [row["reason"] for row in run.results["requirements"]]

    assert run.code == 5
    assert reasons.count("the time budget was used up before the case began") > 100


def test_in_a_strict_run_of_plain_pytest_a_warning_fails(tmp_path: Path) -> None:
    """pytest has an option of this name, too."""
    with deployed(tmp_path, faults=["success-message-done"]) as portal:
        run = pytest_on_constants(
            tmp_path, "--profile", str(portal.profile), "--rerun", "ENV-007", "--strict"
        )

    assert run.code == 1, run.said
    assert "WARN ENV-007" in run.said


def test_a_rerun_that_decides_nothing_is_inconclusive(tmp_path: Path) -> None:
    """What it names needs more than the run may do."""
    with deployed(tmp_path, clock=False) as portal:
        run = portal.run("--rerun", "TOKEN-012", "--impact", "read-only", "--time-budget", "5s")

    assert run.code == 5
    assert "--rerun TOKEN-012 decided nothing" in run.said


CONSTANTS = Path(str(cases.__file__)).parent / "constants"
"""Cases that plain pytest is given: to collect all of them takes most of the time."""


def pytest_on_constants(folder: Path, *options: str, ini: str = "") -> Done:
    """Plain pytest on some of the cases, in a folder of its own with an ini file."""
    (folder / "pytest.ini").write_text(f"[pytest]\naddopts = -p conformance.plugin\n{ini}", encoding="utf-8")
    arguments = [sys.executable, "-m", "pytest", "-q", "-c", str(folder / "pytest.ini"), *options]
    arguments += ["--out", str(folder / "out"), str(CONSTANTS)]
    ran = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=False)
    return Done(ran.returncode, ran.stdout + ran.stderr, folder / "out")


def test_a_folder_selects_cases_and_the_bundled_portal_is_named(tmp_path: Path) -> None:
    run = pytest_on_constants(tmp_path)

    assert run.code == 0
    assert f"Selected: {CONSTANTS}." in run.said
    assert run.said.startswith("No --profile and no --target: this judges the bundled reference portal")
    assert "This was the bundled reference portal" in run.said


def test_options_stand_in_the_ini_file_too_and_the_command_line_comes_first(tmp_path: Path) -> None:
    ini = f"conformance_rerun = {BROKEN}\nconformance_strict = true\nconformance_impact = read-only\n"

    run = pytest_on_constants(tmp_path, "--impact", "mutating", ini=ini)

    assert (run.results["strict"], run.results["impact"]) == (True, "mutating")
    assert run.results["scope"]["selection"].startswith(f"--rerun {BROKEN}")
