"""Where the reports of a check or a replay go when the usual folder has those of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.cli.options import folder_beside_run
from conformance.tests.sample_run import conformant


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The usual folder of reports, empty, in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reports").mkdir()
    return Path("reports")


def write_run(folder: Path, command: str) -> None:
    (folder / "results.json").write_text(conformant().run(command=command).text(), encoding="utf-8")


@pytest.mark.parametrize("command", ["check", "replay"])
def test_the_report_of_a_whole_run_stays(
    reports: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(reports, "run")

    folder = folder_beside_run(None, command)

    assert folder == reports / command
    assert f"this {command} writes to {folder}." in capsys.readouterr().err


def test_the_report_of_an_earlier_check_is_replaced(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(reports, "check")

    assert folder_beside_run(None, "check") == reports
    assert capsys.readouterr().err == ""


def test_the_folder_that_the_user_names_is_used(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(reports, "run")

    assert folder_beside_run(reports, "check") == reports
    assert capsys.readouterr().err == ""
