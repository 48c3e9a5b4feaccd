"""``results.sarif`` keeps to SARIF 2.1.0 in what the pages of code scanning read."""

from __future__ import annotations

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from conformance.report.formats.sarif import document
from conformance.report.model.run import BaselineEntry, BaselineOutcome, Regression, Run
from conformance.tests.hostile_portal import hostile
from conformance.tests.page_runs import out_of_date, replayed
from conformance.tests.sample_run import PROFILE, conformant, sample

TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
UTC_TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"}
RULE = {
    "type": "object",
    "required": ["id", "shortDescription", "fullDescription", "help"],
    "additionalProperties": False,
    "properties": {
        "id": {"type": "string"},
        "shortDescription": TEXT,
        "fullDescription": TEXT,
        "help": TEXT,
        "defaultConfiguration": {
            "type": "object",
            "properties": {"level": {"enum": ["none", "note", "warning", "error"]}},
            "additionalProperties": False,
        },
        "properties": {
            "type": "object",
            "properties": {"tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}},
        },
    },
}
LOCATION = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "physicalLocation": {
            "type": "object",
            "required": ["artifactLocation"],
            "properties": {
                "artifactLocation": {"type": "object", "properties": {"uri": {"type": "string"}}},
                "region": {
                    "type": "object",
                    "properties": {"startLine": {"type": "integer", "minimum": 1}},
                },
            },
        },
        "logicalLocations": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {"fullyQualifiedName": {"type": "string"}, "kind": {"type": "string"}},
            },
        },
    },
}
RESULT = {
    "type": "object",
    "required": ["message", "ruleId", "level"],
    "additionalProperties": False,
    "properties": {
        "ruleId": {"type": "string"},
        "ruleIndex": {"type": "integer", "minimum": 0},
        "level": {"enum": ["none", "note", "warning", "error"]},
        "message": TEXT,
        "locations": {"type": "array", "items": LOCATION},
        "properties": {"type": "object"},
        "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
        "suppressions": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["kind"],
                "additionalProperties": False,
                "properties": {
                    "kind": {"enum": ["inSource", "external"]},
                    "justification": {"type": "string"},
                },
            },
        },
    },
}
FORMAT: dict[str, Any] = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool"],
                "additionalProperties": False,
                "properties": {
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name"],
                                "properties": {
                                    "rules": {"type": "array", "items": RULE, "uniqueItems": True}
                                },
                            }
                        },
                    },
                    "invocations": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "required": ["executionSuccessful"],
                            "properties": {"startTimeUtc": UTC_TIME, "endTimeUtc": UTC_TIME},
                        },
                    },
                    "results": {"type": "array", "items": RESULT},
                },
            },
        },
    },
}
"""What the published schema asks of these parts, and the page of GitHub of a rule."""


def results(run: Run) -> list[dict[str, Any]]:
    return list(json.loads(document(run))["runs"][0]["results"])


@pytest.mark.parametrize("run", [sample().run(), conformant().run(), hostile().run(), replayed()])
def test_a_file_keeps_to_the_format(run: Run) -> None:
    jsonschema.validate(json.loads(document(run)), FORMAT)


def test_what_a_replay_holds_against_the_target_is_a_result_unless_a_finding_is() -> None:
    contradicting, other = (
        Regression.model_validate(
            {"exchange": 7, "endpoint": PROFILE, "path": path, "kind": "type", "basis": "why", **more}
        )
        for path, more in (("data", {"requirement": "ENV-008"}), ("data.x[3].y", {}))
    )
    whole = json.loads(document(sample().run(command="replay", regressions=[contradicting, other])))["runs"][
        0
    ]
    (regressed,) = (row for row in whole["results"] if row["ruleId"] == "REGRESSION")

    assert whole["tool"]["driver"]["rules"][regressed["ruleIndex"]]["id"] == "REGRESSION"
    assert regressed["message"]["text"].startswith(f"{PROFILE} at data.x[*].y: another type: recorded null")
    assert regressed["locations"][0]["physicalLocation"]["region"] == {"startLine": 7}


def test_a_result_says_how_grave_it_is_and_a_rule_how_to_see_it_again() -> None:
    whole = json.loads(document(sample().run()))["runs"][0]
    severities = {row["ruleId"]: row["properties"]["severity"] for row in whole["results"]}

    assert severities["SECURE-007"] == "access"
    rules = whole["tool"]["driver"]["rules"]
    assert all("--rerun " + rule["id"] in rule["help"]["text"] for rule in rules)
    warned = {row["ruleId"] for row in whole["results"] if row["level"] == "warning"}
    assert warned
    assert {rule["id"] for rule in rules if "--strict" in rule["help"]["text"]} == warned


def test_each_finding_is_a_result_with_its_rule_level_and_line() -> None:
    whole = json.loads(document(sample().run()))["runs"][0]
    rules = whole["tool"]["driver"]["rules"]

    assert {(row["ruleId"], row["level"]) for row in whole["results"]} == {
        ("ENV-008", "error"),
        ("PAGE-026", "error"),
        ("LOGIN-030", "error"),
        ("ENV-011", "error"),
        ("ACCOUNT-015", "warning"),
        ("SECURE-007", "error"),
    }
    assert all(rules[row["ruleIndex"]]["id"] == row["ruleId"] for row in whole["results"])
    page = next(row for row in whole["results"] if row["ruleId"] == "PAGE-026")
    assert page["locations"][0]["physicalLocation"]["region"] == {"startLine": 41}
    assert "seen 1, expected 0" in page["message"]["text"]


def test_a_conformant_run_has_no_result() -> None:
    assert results(conformant().run()) == []


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
