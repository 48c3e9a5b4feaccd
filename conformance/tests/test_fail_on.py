"""What each value of ``--fail-on`` fails, in every output alike: the table of ``docs/reports.md``."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree

import httpx
import pytest

from conformance.embed.judge import PortalContradiction, PortalJudge, PortalWarning
from conformance.embed.mcp_server import Assistant
from conformance.errors import ExitCode
from conformance.impacts import FAIL_ON, FailOn
from conformance.report.across.baseline import Baseline
from conformance.report.across.baseline_rows import BaselineRow
from conformance.report.finish import Outputs, finish_run
from conformance.report.formats.write import FURTHER, write_further
from conformance.report.model.failures import FAILING
from conformance.report.model.run import Run
from conformance.report.model.words import headline
from conformance.tests.sample_run import START, URL, conformant, exchange
from conformance.tests.traffic import envelope
from conformance.verdicts.findings import Finding, Verdict

FORGOT, KEY = "/web/v1/system/auth/password/forgot", "/web/v1/secure-channel/public-key"
CONTRADICTED = {
    "must": ("ENV-002", "success", True, "yes"),
    "security": ("AUTHN-013", "success", False, {"status": 200, "success": True, "code": "2000"}),
    "should": ("ENV-007", "message", "Success", "done"),
    "description": ("DESCRIBED-BODY", "data.bizId", {"type": "string"}, 7),
}
"""By the value that is the first to fail on it: a rule, the place, and what was expected and seen there."""

HEADLINES = {
    "must": "Not conformant",
    "security": "No must contradicted: 1 finding may let someone in.",
    "should": "Not conformant",
    "description": "Differs from your description: 1 place of answers.",
}
FAILED: dict[FailOn, set[str]] = {
    "must": {"must"},
    "security": {"must", "security"},
    "should": {"must", "security", "should"},
    "description": {"must", "security", "description"},
}
ROWS = [(fail_on, kind) for fail_on in FAIL_ON for kind in CONTRADICTED]


def run_with(kind: str, fail_on: FailOn, out: Path, baseline: Baseline | None = None) -> Run:
    """A finished run in which one rule is contradicted, with all of its reports."""
    rule, path, expected, actual = CONTRADICTED[kind]
    builder = conformant()
    builder.add(exchange(50, f"GET {KEY}", answer={**envelope(data={}), path: actual}))
    if kind == "description":
        builder.ledger.deviate(Finding(rule, Verdict.OPEN, f"GET {KEY}", "", expected, actual, path))
    else:
        builder.contradict(rule, builder.exchanges[-1], path=path, expected=expected)
    run = finish_run(
        builder.ledger,
        Outputs(out, builder.write(out / "exchanges.jsonl"), None, baseline=baseline),
        target_url=URL,
        target_profile="staging.toml",
        started=START,
        finished=START,
        impact="read-only",
        fail_on=fail_on,
    )
    write_further(out, FURTHER)
    return run


@pytest.mark.parametrize(("fail_on", "kind"), ROWS)
def test_all_outputs_agree_on_what_fails_a_run(fail_on: FailOn, kind: str, tmp_path: Path) -> None:
    fails = kind in FAILED[fail_on]

    run = run_with(kind, fail_on, tmp_path)
    head = headline(run)
    (result,) = json.loads((tmp_path / "results.sarif").read_text())["runs"][0]["results"]
    failures = ElementTree.parse(tmp_path / "junit.xml").getroot().get("failures")
    badge = json.loads((tmp_path / "badge.json").read_text())

    assert run.exit_code == (ExitCode.FAILED if fails else ExitCode.CONFORMANT)
    assert Assistant(tmp_path).read_findings()["exit_code"] == run.exit_code
    assert result["level"] == ("error" if fails else "warning")
    assert failures == ("1" if fails else "0")
    assert badge["isError"] is fails
    if fails and (kind, fail_on) != ("security", "should"):
        assert f"{head.title}: {head.sentence}".startswith(HEADLINES[kind])
    if kind == "security" and fail_on != "should":
        assert (head.title, head.tone, badge["color"]) == ("No must contradicted", "grave", "8a6100")


@pytest.mark.parametrize("kind", CONTRADICTED)
def test_a_row_of_the_baseline_accepts_what_fails(kind: str, tmp_path: Path) -> None:
    row = BaselineRow(CONTRADICTED[kind][0], f"GET {KEY}", CONTRADICTED[kind][1], reason="accepted")

    fail_on: FailOn = "description" if kind == "description" else "should"

    run = run_with(kind, fail_on, tmp_path, Baseline("known.toml", (row,)))

    assert (run.exit_code, headline(run).tone) == (0, "known" if kind == "must" else "good")


def answers() -> dict[str, httpx.Response]:
    """Answers that contradict a rule of each kind."""
    sent = {"email": "one@example.test", "turnstileToken": "turnstile-token-1"}
    body = {"success": True, "message": "A mail is on its way", "request": sent}
    access = {"X-PORTAL-ACCESS-CODE": "code-1"}
    read = httpx.Request("GET", f"http://localhost{KEY}", headers=access)
    key = envelope(data={"keyId": "k-1", "publicKey": "AAAA"})
    return {
        "must": httpx.Response(200, json=key | {"success": "yes"}, request=read),
        "security": httpx.Response(
            200,
            json=envelope(data=body),
            request=httpx.Request("POST", f"http://localhost{FORGOT}", headers=access, json=sent),
        ),
        "should": httpx.Response(200, json=key | {"message": "done"}, request=read),
    }


@pytest.mark.parametrize(("fail_on", "kind"), [row for row in ROWS if row[1] != "description"])
def test_the_fixture_fails_a_test_by_the_same_table(fail_on: FailOn, kind: str) -> None:
    fails = kind in FAILED[fail_on]
    expected: Any = pytest.raises(PortalContradiction) if fails else warnings.catch_warnings()

    with expected:
        warnings.simplefilter("ignore", PortalWarning)
        assert PortalJudge(fail_on=fail_on).feed(answers()[kind])


def test_the_page_has_a_row_for_each_value() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reports.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith(tuple(f"| `{value}`" for value in FAIL_ON))]

    assert [row.split("`")[1] for row in rows] == list(FAILING) == list(FAIL_ON) == list(get_args(FailOn))
    assert all(FAILING[value].words in row for value, row in zip(FAIL_ON, rows, strict=True))
