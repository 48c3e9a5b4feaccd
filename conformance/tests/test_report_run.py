"""``results.json`` holds what the contract says, and its published schema is the one that it follows."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest

from conformance.errors import UsageError
from conformance.report.model.run import SCHEMA_FILE, Reading, Run, schema
from conformance.spec import REQUIREMENTS
from conformance.tests.sample_run import PROFILE, START, conformant, sample
from conformance.verdicts.findings import Finding, Observation, Result, Verdict

CONTRACT = {
    "schema", "suite", "target", "started", "finished", "impact", "strict", "exit_code", "summary",
    "requirements", "findings", "observations",
}  # fmt: skip
CONTRACT_OF_ROWS = {
    "requirements": "id section level statement verdict cases reason",
    "findings": "requirement verdict case endpoint message expected actual exchanges",
    "observations": "topic endpoint observed exchanges",
}


def run_of(*results: Result, findings: tuple[Finding, ...] = (), seen: tuple[Observation, ...] = ()) -> Run:
    return Run.of(
        results,
        findings,
        seen,
        target_url="http://localhost",
        target_profile=None,
        started=START,
        finished=START,
        impact="read-only",
        fail_on="security",
        exit_code=0,
    )


def test_the_published_schema_is_the_one_that_the_model_makes() -> None:
    assert json.loads(SCHEMA_FILE.read_text(encoding="utf-8")) == schema(), "make generate"


@pytest.mark.parametrize(
    "run", [sample().run(), conformant().run(), run_of()], ids=["failures", "conformant", "empty"]
)
def test_results_follow_the_published_schema(run: Run) -> None:
    jsonschema.Draft202012Validator(schema()).validate(json.loads(run.text()))


def test_every_key_of_the_contract_is_there() -> None:
    whole = sample().run().dump()

    assert whole.keys() >= CONTRACT
    assert whole["suite"].keys() >= {"name", "version"}
    for name, keys in CONTRACT_OF_ROWS.items():
        assert whole[name][0].keys() >= set(keys.split()), name


def test_a_run_that_is_written_and_read_is_the_same(tmp_path: Path) -> None:
    run = sample().run(timeline=[{"kind": "wait", "label": "cooldown", "start": 1.0, "end": 61.0}])

    run.write(tmp_path / "results.json")

    assert Run.read(tmp_path / "results.json") == run
    assert Run.read(tmp_path) == run


def test_keys_of_a_later_version_are_kept(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(
        json.dumps({**sample().run().dump(), "later": [1]}), encoding="utf-8"
    )

    assert Run.read(tmp_path).dump()["later"] == [1]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 2}', "\x00"])
def test_a_file_that_is_no_run_is_told_by_name_and_place(tmp_path: Path, text: str) -> None:
    file = tmp_path / "other.json"
    file.write_text(text, encoding="utf-8")

    with pytest.raises(UsageError, match=r"other\.json: not a results\.json of schema 1: "):
        Run.read(file)


def test_values_of_any_size_and_depth_are_cut_and_say_so() -> None:
    deep: object = "bottom"
    for _ in range(500):
        deep = [deep]
    values = ({"a": ["x" * 9_000_000] * 500}, deep)
    found = tuple(Finding("ENV-008", Verdict.FAIL, PROFILE, "m" * 9_000_000, None, each) for each in values)

    text = run_of(findings=found).text()

    assert len(text) < 600_000
    for words in ("9,000,000 characters", "400 more", "an array of 1"):
        assert words in text
    assert "bottom" not in text


def test_readings_are_the_observations_whose_topic_an_open_requirement_names() -> None:
    key = next(row.reading for row in REQUIREMENTS.values() if row.reading)
    topics = ((key, 401), (key, 400), ("other", 1))
    seen = tuple(Observation(topic, PROFILE, observed) for topic, observed in topics)

    run = run_of(*(Result(row, Verdict.OPEN) for row in REQUIREMENTS.values()), seen=seen)

    (reading,) = run.readings
    assert isinstance(reading, Reading)
    assert (reading.key, reading.observed) == (key, [401, 400])
