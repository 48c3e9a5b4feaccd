"""Every report is written, in every case, whole, and without a secret."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path

import pytest

from conformance.cli.options import FORMATS as FORMATS_OPTION
from conformance.report.formats.manifest import MANIFEST
from conformance.report.formats.write import FORMATS, FURTHER, write_all, write_further
from conformance.report.model.evidence import RunEvidence
from conformance.report.model.run import Run
from conformance.tests.hostile_portal import hostile
from conformance.tests.sample_run import START, conformant, sample


@pytest.mark.parametrize("exit_code", range(8))
def test_reports_are_written_however_the_run_ended(tmp_path: Path, exit_code: int) -> None:
    write_all(sample().run(exit_code=exit_code), tmp_path, exchanges=tmp_path / "missing.jsonl")

    assert json.loads((tmp_path / "results.json").read_text())["exit_code"] == exit_code
    assert set(FORMATS) <= {file.name for file in tmp_path.iterdir()}


def test_further_reports_are_written_where_named_and_none_of_an_earlier_run_stays(tmp_path: Path) -> None:
    missing = tmp_path / "missing.jsonl"
    write_all(conformant().run(), tmp_path, exchanges=missing)
    assert {file.name for file in tmp_path.iterdir()} == {*FORMATS, MANIFEST}

    write_further(tmp_path, ["sarif", "badge"])
    assert {file.name for file in tmp_path.iterdir()} == {*FORMATS, MANIFEST, "results.sarif", "badge.json"}
    stated = json.loads((tmp_path / MANIFEST).read_text(encoding="utf-8"))["subject"]
    assert {each["name"] for each in stated} == {*FORMATS, "results.sarif", "badge.json"}

    (tmp_path / "cases.html").write_text("of an earlier run")
    write_all(conformant().run(), tmp_path, exchanges=missing)
    assert {file.name for file in tmp_path.iterdir()} == {*FORMATS, MANIFEST}


def test_a_report_of_another_tool_stays_where_reports_are_forced_into_its_folder(tmp_path: Path) -> None:
    (tmp_path / "results.sarif").write_text("of another tool")

    write_all(conformant().run(), tmp_path, exchanges=tmp_path / "missing.jsonl")

    assert (tmp_path / "results.sarif").read_text() == "of another tool"


def test_the_options_name_every_further_report() -> None:
    assert set(FORMATS_OPTION.type("sarif,badge")) == FURTHER.keys()


def test_one_report_that_cannot_be_made_does_not_keep_the_others_back(tmp_path: Path) -> None:
    def broken(run: Run, exchanges: RunEvidence) -> str:
        raise RuntimeError("a bug")

    formats = FORMATS | {"junit.xml": broken}

    with pytest.raises(RuntimeError, match="a bug"):
        write_all(sample().run(), tmp_path, exchanges=tmp_path / "missing.jsonl", formats=formats)

    assert {file.name for file in tmp_path.iterdir()} == set(FORMATS) - {"junit.xml"}


def test_a_file_is_replaced_in_one_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_all(conformant().run(), tmp_path, exchanges=tmp_path / "missing.jsonl")
    before = (tmp_path / "report.html").read_bytes()

    def full_disk(*args: object, **kwargs: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fdopen", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_all(sample().run(), tmp_path, exchanges=tmp_path / "missing.jsonl")

    assert (tmp_path / "report.html").read_bytes() == before


def test_texts_that_no_encoding_can_carry_are_written_out(tmp_path: Path) -> None:
    write_all(hostile().run(), tmp_path, exchanges=tmp_path / "missing.jsonl")

    assert "‹U+D800›" in (tmp_path / "results.json").read_text(encoding="utf-8")


def test_a_value_that_was_not_there_is_told_from_null(tmp_path: Path) -> None:
    builder = sample()

    run = write_all(builder.run(), tmp_path, exchanges=builder.write(tmp_path / "exchanges.jsonl"))

    assert next(finding for finding in run.findings if finding.requirement == "ACCOUNT-015").missing is True
    assert "nothing (missing)" in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_what_changed_since_the_run_before_in_the_same_folder_is_told(tmp_path: Path) -> None:
    write_all(conformant().run(), tmp_path, exchanges=tmp_path / "none")

    run = write_all(sample().run(started=START + timedelta(days=1)), tmp_path, exchanges=tmp_path / "none")

    assert run.since is not None
    assert set(run.since.newly_failing) == {"ENV-008", "ENV-011", "LOGIN-030", "PAGE-026", "SECURE-007"}
    assert "newly failing" in (tmp_path / "summary.md").read_text(encoding="utf-8")
