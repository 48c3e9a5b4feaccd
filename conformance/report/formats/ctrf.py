"""``ctrf.json``: the run in the Common Test Report Format, for the dashboards that read it."""

from __future__ import annotations

from typing import Any

from conformance.report.formats.finding_text import message_of
from conformance.report.model.regressions import ReplayedEndpoint, by_endpoint, of_one_refusal, sentence_of
from conformance.report.model.run import FindingEntry, RequirementEntry, Run, VerdictName, moment
from conformance.report.model.visible import json_text
from conformance.report.model.words import OtherFailure, headline, known_signatures, other_failures
from conformance.traffic.clip import cut

SPEC_VERSION = "0.0.0"
STATUS: dict[VerdictName, str] = {
    "pass": "passed",
    "fail": "failed",
    "warn": "other",
    "open": "other",
    "untested": "skipped",
}


def document(run: Run) -> str:
    """The file. A WARN counts as failed where strict; what a baseline lists counts as other."""
    findings: dict[str, list[FindingEntry]] = {}
    for finding in run.findings:
        findings.setdefault(finding.requirement, []).append(finding)
    tests = [_test(run, row, findings.get(row.id, [])) for row in run.requirements]
    if run.command == "replay":
        tests += [*map(_replayed, by_endpoint(run)), *map(_other_failure, other_failures(run))]
    start, stop = round(moment(run.started) * 1000), round(moment(run.finished) * 1000)
    counted = {
        name: sum(test["status"] == name for test in tests)
        for name in ("passed", "failed", "pending", "skipped", "other")
    }
    whole = {
        "reportFormat": "CTRF",
        "specVersion": SPEC_VERSION,
        "generatedBy": run.suite.name,
        "results": {
            "tool": {"name": run.suite.name, "version": run.suite.version},
            "summary": {"tests": len(tests), **counted, "start": start, "stop": stop},
            "tests": tests,
            "environment": {"extra": _extra(run)},
        },
    }
    return json_text(whole)


def _extra(run: Run) -> dict[str, Any]:
    """What the format has no place for: the target, and the verdict with its limits."""
    head = headline(run)
    return {
        "target": run.target.url,
        "impact": run.impact,
        "strict": run.strict,
        "verdict": head.title,
        "sentence": head.sentence,
    }


def _test(run: Run, row: RequirementEntry, findings: list[FindingEntry]) -> dict[str, Any]:
    test: dict[str, Any] = {
        "name": f"{row.id} {row.statement}",
        "status": _status(run, row, findings),
        "duration": 0,
        "suite": [row.section],
        "rawStatus": row.verdict,
        "tags": [row.level],
    }
    if findings:
        test["message"] = cut(f"{findings[0].endpoint}: {message_of(findings[0])}", 1_000)
    elif row.reason:
        test["message"] = row.reason
    if row.cases:
        test["filePath"] = row.cases[0].partition("::")[0]
    return test


def _replayed(endpoint: ReplayedEndpoint) -> dict[str, Any]:
    """The test of one endpoint: whether it answered as recorded."""
    test: dict[str, Any] = {
        "name": f"{endpoint.endpoint} answers as recorded",
        "status": "failed" if endpoint.places else "passed" if endpoint.is_compared else "skipped",
        "duration": 0,
        "suite": ["Replayed traffic"],
        "tags": ["regression"],
    }
    if endpoint.places:
        test["message"] = sentence_of(of_one_refusal(endpoint.places)[0])
    return test


def _other_failure(failure: OtherFailure) -> dict[str, Any]:
    """The test of a limit on latency that was exceeded, or of an accepted difference that was not seen."""
    return {
        "name": failure.name,
        "status": "failed",
        "duration": 0,
        "suite": ["Replayed traffic"],
        "tags": [failure.kind],
        "message": cut(failure.sentence, 1_000),
    }


def _status(run: Run, row: RequirementEntry, findings: list[FindingEntry]) -> str:
    weighs = row.verdict in run.weighed
    known_failures = known_signatures(run)
    if weighs and findings and all(finding.signature in known_failures for finding in findings):
        return "other"
    return "failed" if weighs else STATUS[row.verdict]
