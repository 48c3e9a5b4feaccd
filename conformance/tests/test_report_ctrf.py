"""``ctrf.json`` keeps to the Common Test Report Format: its required fields, its statuses, nothing else."""

from __future__ import annotations

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from conformance.report.formats.ctrf import document
from conformance.tests.sample_run import conformant, sample

COUNTS = ("tests", "passed", "failed", "skipped", "pending", "other")
FORMAT: dict[str, Any] = {
    "type": "object",
    "required": ["reportFormat", "specVersion", "results"],
    "properties": {
        "reportFormat": {"const": "CTRF"},
        "specVersion": {"pattern": r"^\d+\.\d+\.\d+$"},
        "generatedBy": {"type": "string"},
        "results": {
            "type": "object",
            "required": ["tool", "summary", "tests"],
            "additionalProperties": False,
            "properties": {
                "tool": {"type": "object", "required": ["name"]},
                "summary": {
                    "required": [*COUNTS, "start", "stop"],
                    "additionalProperties": {"type": "integer"},
                },
                "tests": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["name", "status", "duration"],
                        "additionalProperties": False,
                        "properties": {
                            "name": {"type": "string", "minLength": 1},
                            "status": {"enum": list(COUNTS[1:])},
                            "duration": {"type": "integer"},
                            "suite": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                            "message": {"type": "string"},
                            "rawStatus": {"type": "string"},
                            "tags": {"type": "array", "items": {"type": "string"}},
                            "filePath": {"type": "string"},
                        },
                    },
                },
                "environment": {
                    "type": "object",
                    "properties": {"extra": {"type": "object"}},
                    "additionalProperties": False,
                },
            },
        },
    },
    "additionalProperties": False,
}


@pytest.mark.parametrize("strict", [False, True])
def test_the_document_keeps_to_the_format(strict: bool) -> None:
    jsonschema.Draft202012Validator(FORMAT).validate(json.loads(document(sample().run(strict=strict))))


def test_every_verdict_has_its_status() -> None:
    tests = {one["name"].split()[0]: one for one in json.loads(document(sample().run()))["results"]["tests"]}

    assert tests["ENV-008"]["status"] == "failed"
    assert tests["ACCOUNT-015"]["status"] == "other"
    assert tests["FILE-001"]["status"] == "skipped"
    assert tests["ENV-001"]["status"] == "passed"
    assert "POST /web/v1/system/auth/login/initiate" in tests["ENV-008"]["message"]


def test_a_warning_counts_as_failed_where_strict() -> None:
    assert json.loads(document(sample().run(strict=True)))["results"]["summary"]["failed"] == 6


def test_the_counts_are_those_of_the_tests() -> None:
    results = json.loads(document(conformant().run()))["results"]

    assert (
        sum(results["summary"][name] for name in COUNTS[1:])
        == results["summary"]["tests"]
        == len(results["tests"])
    )
    assert results["summary"]["stop"] - results["summary"]["start"] == 102_400
