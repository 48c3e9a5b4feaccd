"""``findings.csv`` has a row for each finding, and is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from conformance.report.formats.findings_csv import COLUMNS, document
from conformance.report.formats.write import write_all
from conformance.report.model.run import Run
from conformance.tests.sample_run import PROFILE, conformant, envelope, exchange, sample
from conformance.traffic.redaction.redact import Secrets


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def with_message(message: str) -> Run:
    made = conformant()
    made.contradict(
        "ENV-008", exchange(50, PROFILE, answer=envelope()), path="data", expected=1, message=message
    )
    return made.run()


def test_each_finding_is_a_row_with_its_verdict_endpoint_and_path() -> None:
    run = sample().run()

    found = rows(document(run))

    assert [row["requirement"] for row in found] == [finding.requirement for finding in run.findings]
    page = next(row for row in found if row["requirement"] == "PAGE-026")
    assert page == {
        "requirement": "PAGE-026",
        "verdict": "fail",
        "endpoint": "POST /web/v1/system/accounts/admin/query",
        "path": "data.currentPage",
        "message": "the page asked for is 0, the page given is 1",
    }


def test_a_run_without_findings_has_the_line_of_names_alone() -> None:
    assert document(conformant().run()) == ",".join(COLUMNS) + "\n"


@pytest.mark.parametrize("message", ["=1+1", "+1", "-1", "@SUM(A1)", " =1+1"])
def test_no_cell_is_a_formula(message: str) -> None:
    assert rows(document(with_message(message)))[0]["message"].startswith("'")


@pytest.mark.parametrize("message", ['a "quoted", text', "two\nlines", "\u202ereversed", "\ud800"])
def test_a_text_from_a_target_stays_in_its_row(message: str) -> None:
    text = document(with_message(message))

    assert len(text.splitlines()) == 2
    assert rows(text)[0]["requirement"] == "ENV-008"


def test_secrets_are_redacted(tmp_path: Path) -> None:
    hidden = Secrets()
    hidden.add("correct horse battery", "password")

    run = with_message('the answer holds "correct horse battery"')
    write_all(run, tmp_path, exchanges=tmp_path / "missing.jsonl", secrets=hidden)

    assert rows((tmp_path / "findings.csv").read_text(encoding="utf-8"))[0]["message"] == (
        'the answer holds "[password-1]"'
    )
