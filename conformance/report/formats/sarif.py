"""``results.sarif``: the findings in SARIF 2.1.0, for the pages that show the results of code scanning."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence, Set
from datetime import UTC, datetime
from typing import Any

from conformance.report.formats.finding_text import own_message, values
from conformance.report.model.again import rerun_rule
from conformance.report.model.failures import failures_of, weighs
from conformance.report.model.regressions import RegressedPlace, change_of
from conformance.report.model.regressions import places as places_of
from conformance.report.model.run import FindingEntry, RequirementEntry, Run, moment
from conformance.report.model.severity import severity_of
from conformance.report.model.visible import json_text, one_line

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST_RESULTS = 5_000
"""What such pages take of a run."""

EVIDENCE = "exchanges.jsonl"
"""The file of the run whose lines are the locations of the results."""


def document(run: Run) -> str:
    """The file: a rule for each requirement with a finding, and a result for each FAIL, each WARN and
    each difference from a description. A place where a replay regressed is a result where none of these is
    about it."""
    failures = failures_of(run)
    contradictions = [finding for finding in run.findings if finding.verdict in ("fail", "warn")]
    findings = [*contradictions, *run.deviations][:MOST_RESULTS]
    named = {finding.requirement for finding in findings}
    rows = [row for row in run.requirements if row.id in named]
    rules = [_rule(row, run) for row in rows] + ([REGRESSION] if _regressed(run) else [])
    places = {rule["id"]: at for at, rule in enumerate(rules)}
    driver = {"name": run.suite.name, "version": run.suite.version, "rules": rules}
    invocation: dict[str, Any] = {
        "executionSuccessful": run.exit_code in (0, 1),
        "exitCode": run.exit_code,
        "startTimeUtc": _utc(run.started),
        "endTimeUtc": _utc(run.finished),
    }
    notifications = [f"Baseline, {row.label} entry: {row.sentence}" for row in failures.outdated]
    if run.ending.inconclusive:
        notifications.insert(0, f"The run is inconclusive: {run.ending.inconclusive}")
    if notifications:
        invocation["toolExecutionNotifications"] = [
            {"level": "error", "message": {"text": one_line(text, 1_000)}} for text in notifications
        ]
    results = [_finding(finding, places, failures.accepted, run) for finding in findings]
    results += [_regression(place, places) for place in _regressed(run)[: MOST_RESULTS - len(results)]]
    one_run = {"tool": {"driver": driver}, "invocations": [invocation], "results": results}
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [one_run]})


def _utc(iso: str) -> str:
    return datetime.fromtimestamp(moment(iso), UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _rule(row: RequirementEntry, run: Run) -> dict[str, Any]:
    statement = one_line(row.statement, 600)
    return {
        "id": row.id,
        "shortDescription": {"text": statement},
        "fullDescription": {"text": f"{statement} ({row.level}, {row.section})"},
        "help": {"text": f"Reproduce: {rerun_rule(run, row.id)}"},
        "defaultConfiguration": {"level": "error" if row.level == "must" else "warning"},
        "properties": {"tags": [row.level, row.section]},
    }


def _finding(
    finding: FindingEntry, places: Mapping[str, int], accepted: Set[str], run: Run
) -> dict[str, Any]:
    place = f" at {finding.path}" if finding.path else ""
    text = f"{finding.endpoint}{place}: {values(finding, 200)}. {own_message(finding)}".rstrip()
    level, where = "error" if weighs(run, finding) else "warning", (finding.endpoint, finding.exchanges)
    result = _result((finding.requirement, level, text), finding.signature, where, places)
    result["properties"] = {"severity": severity_of(finding)}
    if finding.signature in accepted:
        result["suppressions"] = [{"kind": "external", "justification": "listed in the baseline"}]
    return result


def _result(
    words: tuple[str, str, str], signature: str, where: tuple[str, Sequence[int]], places: Mapping[str, int]
) -> dict[str, Any]:
    """A result. ``words``: its rule, its level and its message; ``where``: an endpoint and exchanges."""
    rule, level, text = words
    endpoint, exchanges = where
    digest = hashlib.sha256(signature.encode(errors="backslashreplace")).hexdigest()
    line = exchanges[-1] if exchanges and exchanges[-1] > 0 else 1
    location = {
        "physicalLocation": {"artifactLocation": {"uri": EVIDENCE}, "region": {"startLine": line}},
        "logicalLocations": [{"fullyQualifiedName": one_line(endpoint, 300), "kind": "resource"}],
    }
    result: dict[str, Any] = {"ruleId": rule, "level": level, "message": {"text": one_line(text, 1_000)}}
    result |= {"partialFingerprints": {"signature/v1": digest}, "locations": [location]}
    return result | ({"ruleIndex": places[rule]} if rule in places else {})


REGRESSION = {
    "id": "REGRESSION",
    "shortDescription": {"text": "The target answers as it was recorded."},
    "fullDescription": {"text": "The target answers as recorded, also where the specification is open."},
    "help": {"text": "report.html says what each difference means, and what permits it."},
    "defaultConfiguration": {"level": "error"},
    "properties": {"tags": ["replay"]},
}
"""The rule of what a replay holds against the target beside the requirements."""


def _regressed(run: Run) -> list[RegressedPlace]:
    named = {finding.requirement for finding in run.findings}
    return [place for place in places_of(run) if not place.requirements & named]


def _regression(place: RegressedPlace, places: Mapping[str, int]) -> dict[str, Any]:
    first = place.first
    change = f"{place.words}: {change_of(first, 200)}"
    text = f"{place.endpoint} at {place.path or 'the answer'}: {change}. {place.meaning}".rstrip()
    key = f"{place.endpoint} {place.path} {place.kind}"
    return _result(("REGRESSION", "error", text), key, (place.endpoint, place.exchanges), places)
