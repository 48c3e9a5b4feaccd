"""Runs that are kept: what a run says of the one before, and what a history that cannot be used costs."""

from __future__ import annotations

from pathlib import Path

from conformance.report.across import history
from conformance.tests.deployment import command, deployed, done

FAULT, BROKEN, CASE = "unknown-role-is-a-server-error", "ERROR-006", "test_an_unknown_id_reads_no_record"


def test_a_kept_run_is_what_the_next_one_tells_its_changes_from(tmp_path: Path) -> None:
    kept = tmp_path / "runs.db"
    options = ("--rerun", CASE, "--history", str(kept))

    for place, faults in (("good", []), ("bad", [FAULT])):
        with deployed(tmp_path, faults=faults) as portal:
            run = portal.run(*options, out=tmp_path / place)

    (trend,) = history.trend(kept)
    assert [(one.passed > 0, one.failed > 0) for one in trend.runs] == [(True, False), (True, True)]
    assert BROKEN in [one.requirement for one in trend.failing]
    assert BROKEN in run.results["since"]["newly_failing"]
    assert "Since the last run" in run.said


def test_a_history_may_lie_in_the_folder_that_the_run_creates(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = done(
        command("run", "--out", str(out), "--history", str(out / "runs.db"), "--only", "CONSTANT-*"), out
    )

    assert run.code == 0
    assert (out / "runs.db").exists()
