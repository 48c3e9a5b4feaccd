"""``results.sarif``: the findings in SARIF 2.1.0, for the pages that show the results of code scanning."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from typing import Any

from conformance.report.formats.finding_text import expectation, seen
from conformance.report.model.run import FindingEntry, RequirementEntry, Run, moment
from conformance.report.model.visible import json_text, one_line
from conformance.report.model.words import known_signatures

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST_RESULTS = 5_000
"""What such pages take of a run."""

EVIDENCE = "exchanges.jsonl"
"""The file of the run whose lines are the locations of the results."""

LEVELS = {"fail": "error", "warn": "warning"}


def document(run: Run) -> str:
    """The file: a rule for each requirement with a finding, a result for each FAIL and WARN."""
    findings = [finding for finding in run.findings if finding.verdict in LEVELS][:MOST_RESULTS]
    named = {finding.requirement for finding in findings}
    rows = [row for row in run.requirements if row.id in named]
    places = {row.id: at for at, row in enumerate(rows)}
    driver = {"name": run.suite.name, "version": run.suite.version, "rules": [_rule(row) for row in rows]}
    invocation: dict[str, Any] = {
        "executionSuccessful": run.exit_code in (0, 1),
        "exitCode": run.exit_code,
        "startTimeUtc": _utc(run.started),
        "endTimeUtc": _utc(run.finished),
    }
    if run.ending.inconclusive:
        text = one_line(f"The run is inconclusive: {run.ending.inconclusive}", 1_000)
        invocation["toolExecutionNotifications"] = [{"level": "error", "message": {"text": text}}]
    accepted = known_signatures(run)
    results = [_result(finding, places, is_accepted=finding.signature in accepted) for finding in findings]
    one_run = {"tool": {"driver": driver}, "invocations": [invocation], "results": results}
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [one_run]})


def _utc(iso: str) -> str:
    return datetime.fromtimestamp(moment(iso), UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _rule(row: RequirementEntry) -> dict[str, Any]:
    return {
        "id": row.id,
        "shortDescription": {"text": one_line(row.statement, 600)},
        "defaultConfiguration": {"level": "error" if row.level == "must" else "warning"},
        "properties": {"tags": [row.level, row.section]},
    }


def _result(finding: FindingEntry, places: dict[str, int], *, is_accepted: bool) -> dict[str, Any]:
    place = f" at {finding.path}" if finding.path else ""
    values = f"seen {seen(finding, 200)}, expected {expectation(finding.expected)}"
    result: dict[str, Any] = {
        "ruleId": finding.requirement,
        "level": LEVELS[finding.verdict],
        "message": {"text": one_line(f"{finding.endpoint}{place}: {values}. {finding.message}", 1_000)},
        "partialFingerprints": {
            "signature/v1": hashlib.sha256(finding.signature.encode(errors="backslashreplace")).hexdigest()
        },
        "locations": [_location(finding)],
    }
    if finding.requirement in places:
        result["ruleIndex"] = places[finding.requirement]
    if is_accepted:
        result["suppressions"] = [{"kind": "external", "justification": "listed in the baseline"}]
    return result


def _location(finding: FindingEntry) -> dict[str, Any]:
    """The line of the exchange, and the endpoint as the logical location."""
    line = finding.exchanges[-1] if finding.exchanges else 1
    return {
        "physicalLocation": {"artifactLocation": {"uri": EVIDENCE}, "region": {"startLine": line}},
        "logicalLocations": [{"fullyQualifiedName": one_line(finding.endpoint, 300), "kind": "resource"}],
    }
