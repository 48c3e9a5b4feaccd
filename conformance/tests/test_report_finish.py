"""The end of a run: one order of the reasons for its exit code, one use of the baseline, all reports."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from conformance.errors import ExitCode
from conformance.report.across.baseline import Baseline
from conformance.report.finish import GONE, Outputs, exit_codes, finish_run
from conformance.report.formats.closing import exit_reason, verdict_line
from conformance.report.formats.write import FORMATS, FURTHER, write_further
from conformance.report.model.run import Ending, Regression, Run
from conformance.report.model.words import NOTHING_TESTED, headline
from conformance.tests.sample_run import START, URL, Sample, conformant, row_of, sample

LOST = Regression(exchange=1, endpoint="GET /web/v1/system/roles", path="data", kind="changed")


def finished(made: Sample, out: Path, *, baseline: Baseline | None = None, **facts: Any) -> Run:
    outputs = Outputs(out, made.write(out / "exchanges.jsonl"), None, baseline=baseline)
    arguments: dict[str, Any] = {
        "target_url": URL,
        "target_profile": "staging.toml",
        "started": START,
        "finished": START,
        "impact": "read-only",
        "fail_on": "security",
    }
    run = finish_run(made.ledger, outputs, **(arguments | facts))
    write_further(out, FURTHER)
    return run


GRAVEST_FIRST: list[tuple[dict[str, Any], ExitCode]] = [
    ({"unreachable": "gone"}, ExitCode.UNREACHABLE),
    ({"interrupted": True}, ExitCode.INTERRUPTED),
    ({"errors": {"check x": "ValueError"}}, ExitCode.INTERNAL_ERROR),
    ({"left_behind": ["a password"]}, ExitCode.LEFT_BEHIND),
]


@pytest.mark.parametrize("number", range(len(GRAVEST_FIRST)))
def test_of_several_reasons_the_gravest_makes_the_exit_code(number: int) -> None:
    reasons = {name: value for row, _ in GRAVEST_FIRST[number:] for name, value in row.items()}

    run = sample().run(ending=Ending(inconclusive="too little", **reasons))

    assert exit_codes(run)[0] is GRAVEST_FIRST[number][1]


@pytest.mark.parametrize(("reason", "code"), GRAVEST_FIRST)
def test_a_graver_exit_code_does_not_hide_what_regressed(
    tmp_path: Path, reason: dict[str, Any], code: ExitCode
) -> None:
    builder = conformant()
    builder.ledger.errors.update(reason.get("errors", {}))

    run = finished(builder, tmp_path, command="replay", ending=Ending(**reason), regressions=[LOST])

    written = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    counts = "1 regression at 1 place in 1 answer"
    assert (written["exit_code"], written["exit_codes"]) == (code, [code, ExitCode.FAILED])
    assert exit_reason(run).endswith(f"; also exit code 1: {counts}")
    assert verdict_line(run, tmp_path).endswith(exit_reason(run))
    assert counts in headline(run).sentence
    assert counts in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_what_is_left_behind_fails_a_test_of_its_own_in_junit(tmp_path: Path) -> None:
    run = finished(conformant(), tmp_path, ending=Ending(left_behind=["a password"]))

    cases = ElementTree.parse(tmp_path / "junit.xml").iter("testcase")
    failed = [case.get("name") for case in cases if case.find("error") is not None]
    assert (run.exit_codes, failed) == ([ExitCode.LEFT_BEHIND], ["The run restores what it changed"])


def test_a_run_that_decides_nothing_is_inconclusive_and_says_so(tmp_path: Path) -> None:
    run = finished(Sample(), tmp_path)

    written = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert run.exit_code == written["exit_code"] == ExitCode.INCONCLUSIVE
    assert written["ending"]["inconclusive"] == NOTHING_TESTED


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        (Ending(unreachable="nothing answers"), GONE),
        (Ending(interrupted=True), "not reached: the run was interrupted"),
    ],
)
def test_what_a_run_that_ended_early_left_out_says_so(tmp_path: Path, ending: Ending, reason: str) -> None:
    run = finished(Sample(), tmp_path, ending=ending)

    assert {entry.reason for entry in run.requirements if not entry.untestable} == {reason}


def test_rows_of_failures_decide_about_these_and_not_about_regressions(tmp_path: Path) -> None:
    first = finished(sample(), tmp_path, baseline=Baseline("known.toml"))
    assert first.exit_code == ExitCode.FAILED

    listing = Baseline("known.toml", tuple(map(row_of, first.findings)))
    assert finished(sample(), tmp_path, baseline=listing).exit_code == ExitCode.CONFORMANT
    regressed = finished(sample(), tmp_path, baseline=listing, regressions=[LOST])
    assert regressed.exit_code == ExitCode.FAILED


REPORTS = {*FORMATS, *(file for file, _ in FURTHER.values())}
WITHOUT_REASON = {"badge.json"}


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_each_report_of_an_inconclusive_run_says_inconclusive(tmp_path: Path, name: str) -> None:
    finished(conformant(), tmp_path, ending=Ending(inconclusive="[accounts.admin] never received a token."))

    text = (tmp_path / name).read_text(encoding="utf-8")
    assert "nconclusive" in text
    assert name in WITHOUT_REASON or "never received a token" in text.replace("\\", "")


EXCEEDED = "--latency 'p95 <= 1.2x' is exceeded for all requests: 52 to 138 ms, and the limit is 1.3 ms."
ABOUT_FINDINGS = {"results.sarif"}
"""Formats whose results are findings; what else fails a run has no place there."""


@pytest.mark.parametrize("name", sorted(REPORTS - WITHOUT_REASON - ABOUT_FINDINGS))
def test_each_report_of_a_load_that_is_too_slow_says_so(tmp_path: Path, name: str) -> None:
    finished(conformant(), tmp_path, command="replay", ending=Ending(too_slow=[EXCEEDED]))

    text = unescape((tmp_path / name).read_text(encoding="utf-8")).replace("\\", "")
    assert "p95 <= 1.2x" in text
    assert name == "junit.xml" or name == "results.json" or "Too slow" in text
    assert "0 requirements failed" not in text
