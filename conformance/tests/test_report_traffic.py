"""The report of recorded traffic tells what it covered and what became of each exchange."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.report.formats.html.run_page import report
from conformance.report.formats.html.traffic import tables
from conformance.report.model.evidence import RunEvidence
from conformance.tests.sample_run import sample

COVERAGE = {
    "operations": {"seen": {"GET /a": 3}, "missing": ["GET /b", "GET /c"]},
    "fields": {
        "GET /a": {"seen": 4, "of": 5, "missing": ["data.x"]},
        "GET /d": {"seen": 5, "of": 5, "missing": []},
    },
    "codes": {"seen": {"GA2031": 1}, "missing": ["4030"]},
    "unknown_bodies": {"response omitted": 7},
}
REPLAY = {
    "recorded": 9,
    "compared": 7,
    "states": {"same": 6, "regressed": 1, "skipped": 0},
    "others": [
        {"recorded_exchange": 4, "endpoint": "GET /a", "state": "not comparable", "reason": "no answer"}
    ],
}


def told(**extra: Any) -> dict[str, list[tuple[str, ...]]]:
    run = sample().run(command="check").model_copy(update=extra)
    return {table.title: [tuple(row) for row in table.rows] for table in tables(run)}


def test_the_coverage_of_a_check_is_told() -> None:
    found = told(coverage=COVERAGE)

    endpoints = [("GET /a", "3"), ("GET /b", "not seen"), ("GET /c", "not seen")]
    assert found["Endpoints in the traffic"] == endpoints
    assert found["Error codes in the traffic"] == [("GA2031", "1"), ("4030", "not seen")]
    assert found["Fields never seen"] == [("GET /a", "4 of 5", "data.x")]
    assert found["Bodies that were not recorded in full"] == [("response omitted", "7")]


def test_what_became_of_a_replay_is_told() -> None:
    found = told(replay=REPLAY)

    assert found["Not compared, by reason"] == [("#4", "GET /a", "not comparable", "no answer")]


def test_the_page_has_a_part_on_the_traffic_only_where_there_is_some() -> None:
    run = sample().run(command="check")

    assert "Recorded traffic</h2>" not in report(run, RunEvidence())
    assert "1 of 3 were answered" in report(run.model_copy(update={"coverage": COVERAGE}), RunEvidence())


@pytest.mark.parametrize("value", [None, 5, [], {}, {"operations": 3}, {"fields": {"a": None}}])
def test_what_has_another_shape_is_passed_over(value: Any) -> None:
    assert told(coverage=value, replay=value) == {}
