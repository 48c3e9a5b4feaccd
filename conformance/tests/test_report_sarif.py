"""``results.sarif`` keeps to SARIF 2.1.0 in what the pages of code scanning read."""

from __future__ import annotations

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from conformance.report.formats.sarif import document
from conformance.report.model.run import BaselineEntry, BaselineOutcome, Regression, Run
from conformance.tests.hostile_portal import hostile
from conformance.tests.page_runs import out_of_date, replay_of
from conformance.tests.sample_run import PROFILE, conformant, sample

Schema = dict[str, Any]


def record(*required: str, closed: bool = True, **properties: Schema) -> Schema:
    """An object with these properties, and no others where it is closed."""
    form = {"type": "object", "required": list(required), "properties": properties}
    return form | {"additionalProperties": False} if closed else form


def array(items: Schema, **more: bool) -> Schema:
    return {"type": "array", "items": items, **more}


STRING: Schema = {"type": "string"}
LEVEL: Schema = {"enum": ["none", "note", "warning", "error"]}
TEXT = record("text", closed=False, text={"type": "string", "minLength": 1})
UTC_TIME: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"}
RULE = record(
    *("id", "shortDescription", "fullDescription", "help"),
    id=STRING,
    shortDescription=TEXT,
    fullDescription=TEXT,
    help=TEXT,
    defaultConfiguration=record(level=LEVEL),
    properties=record(closed=False, tags=array(STRING, uniqueItems=True)),
)
LOCATION = record(
    physicalLocation=record(
        "artifactLocation",
        closed=False,
        artifactLocation=record(closed=False, uri=STRING),
        region=record(closed=False, startLine={"type": "integer", "minimum": 1}),
    ),
    logicalLocations=array(record(fullyQualifiedName=STRING, kind=STRING)),
)
RESULT = record(
    *("message", "ruleId", "level"),
    ruleId=STRING,
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=TEXT,
    locations=array(LOCATION),
    properties={"type": "object"},
    partialFingerprints={"type": "object", "additionalProperties": STRING},
    suppressions=array(record("kind", kind={"enum": ["inSource", "external"]}, justification=STRING)),
)
TOOL = record(
    "driver", closed=False, driver=record("name", closed=False, rules=array(RULE, uniqueItems=True))
)
INVOCATION = record("executionSuccessful", closed=False, startTimeUtc=UTC_TIME, endTimeUtc=UTC_TIME)
RUN = record("tool", tool=TOOL, invocations=array(INVOCATION), results=array(RESULT))
FORMAT = record("version", "runs", version={"const": "2.1.0"}, runs=array(RUN))
FORMAT["properties"]["$schema"] = {"type": "string", "format": "uri"}
"""What the published schema asks of these parts, and the page of GitHub of a rule."""


def results(run: Run) -> list[dict[str, Any]]:
    return list(json.loads(document(run))["runs"][0]["results"])


@pytest.mark.parametrize("run", [sample().run(), conformant().run(), hostile().run(), replay_of(8, sample())])
def test_a_file_keeps_to_the_format(run: Run) -> None:
    jsonschema.validate(json.loads(document(run)), FORMAT)


def test_what_a_replay_holds_against_the_target_is_a_result_unless_a_finding_is() -> None:
    contradicting, other = (
        Regression.model_validate(
            {"exchange": 7, "endpoint": PROFILE, "path": path, "kind": "type", "basis": "why", **more}
        )
        for path, more in (("data", {"requirement": "ENV-008"}), ("data.x[3].y", {}))
    )
    run = sample().run(command="replay", regressions=[contradicting, other])
    whole = json.loads(document(run))["runs"][0]
    (regressed,) = (row for row in whole["results"] if row["ruleId"] == "REGRESSION")

    assert whole["tool"]["driver"]["rules"][regressed["ruleIndex"]]["id"] == "REGRESSION"
    assert regressed["message"]["text"].startswith(f"{PROFILE} at data.x[*].y: another type: recorded null")
    assert regressed["locations"][0]["physicalLocation"]["region"] == {"startLine": 7}


def test_each_finding_is_a_result_with_its_rule_level_and_line() -> None:
    whole = json.loads(document(sample().run()))["runs"][0]
    rules = whole["tool"]["driver"]["rules"]

    errors = ("ENV-008", "ENV-011", "LOGIN-030", "PAGE-026", "SECURE-007")
    levels = dict.fromkeys(errors, "error") | {"ACCOUNT-015": "warning"}
    assert {row["ruleId"]: row["level"] for row in whole["results"]} == levels
    assert all(rules[row["ruleIndex"]]["id"] == row["ruleId"] for row in whole["results"])
    page = next(row for row in whole["results"] if row["ruleId"] == "PAGE-026")
    assert page["locations"][0]["physicalLocation"]["region"] == {"startLine": 41}
    assert "seen 1, expected 0" in page["message"]["text"]


def test_what_the_baseline_lists_is_suppressed() -> None:
    run = sample().run()
    accepted = run.findings[0]
    entry = BaselineEntry(signature=accepted.signature, requirement=accepted.requirement)
    run = run.model_copy(update={"baseline": BaselineOutcome(file="baseline.toml", known=[entry])})

    assert {row["ruleId"] for row in results(run) if "suppressions" in row} == {accepted.requirement}


def test_entries_of_a_baseline_that_fail_the_run_are_notifications() -> None:
    (invocation,) = json.loads(document(out_of_date()))["runs"][0]["invocations"]

    texts = [row["message"]["text"] for row in invocation["toolExecutionNotifications"]]
    assert [text.split(":")[0] for text in texts] == ["Baseline, stale entry", "Baseline, expired entry"]


def test_a_result_has_the_same_fingerprint_from_run_to_run() -> None:
    first, second = results(sample().run()), results(sample().run())

    assert [row["partialFingerprints"] for row in first] == [row["partialFingerprints"] for row in second]
    assert len({row["partialFingerprints"]["signature/v1"] for row in first}) == len(first)
