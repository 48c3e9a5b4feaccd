"""The page of a replay: plan, differences by meaning and cause, latencies recorded and replayed."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.report.formats.html.replay import replayed
from conformance.report.formats.html.run_page import report
from conformance.report.formats.page import Cells
from conformance.report.latency import LatencyHistogram, LatencySlices, Spread
from conformance.report.model.evidence import RunEvidence
from conformance.report.model.run import Regression, Run
from conformance.report.model.words import answers_in_words
from conformance.tests.sample_run import INITIATE, PROFILE, ROLES, conformant
from conformance.work.merged_replays import replay_details


def difference(endpoint: str, path: str, kind: str, **more: Any) -> dict[str, Any]:
    row = {"meaning": "permitted", "endpoint": endpoint, "path": path, "kind": kind, "basis": "a sentence"}
    return {**row, "times": 1, "recorded": None, "replayed": None, "exchanges": [1], **more}


def run_of(*regressions: Regression, extra: dict[str, Any] | None = None, **details: Any) -> Run:
    run = conformant().run(command="replay", regressions=regressions, exit_code=1 if regressions else 0)
    return run.model_copy(update={"replay": details, **(extra or {})})


def three(p50: float, p95: float, p99: float, **more: Any) -> dict[str, Any]:
    return {"p50_ms": p50, "p95_ms": p95, "p99_ms": p99, "requests": 8, **more}


def parts_of(run: Run) -> Cells:
    parts = replayed(run)
    assert parts is not None
    return parts


def groups(run: Run) -> dict[str, list[Any]]:
    return {group.title: list(group.rows) for group in parts_of(run).differences}


def facts(run: Run) -> dict[str, str]:
    return dict(parts_of(run).plan.facts)


def test_a_run_and_a_check_have_none_of_it() -> None:
    assert replayed(conformant().run()) is None
    assert 'id="plan"' not in report(conformant().run(command="check"), RunEvidence())


def test_the_same_difference_at_many_endpoints_is_one_row_with_its_count() -> None:
    rows = [
        difference(ROLES, "data[*].newField", "extra", times=3),
        difference(PROFILE, "data.newField", "extra", times=2),
        difference(INITIATE, "newField", "extra", replayed="x"),
        difference(ROLES, "data[*].other", "extra"),
        difference(ROLES, "data[*].newField", "missing"),
    ]
    (permitted,) = groups(run_of(differences=rows)).values()

    first = permitted[0]
    assert (first.path, first.what, first.times) == ("newField", "new field", "6")
    assert first.endpoints == [ROLES, PROFILE, INITIATE]
    assert [(row.path, row.what) for row in permitted[1:]] == [
        ("data[*].other", "new field"),
        ("data[*].newField", "field missing"),
    ]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"times": 1, "exchanges": [4]}], "1 answer"),
        ([{"times": 2, "exchanges": [4, 5]}, {"times": 2, "exchanges": [5, 6]}], "3 answers"),
        ([{"times": 2, "exchanges": [4, 5]}, {"endpoint": PROFILE, "times": 1}], "3 answers"),
        ([{"times": 900, "exchanges": [4, 5]}], "900 answers"),
        ([{"times": 900, "exchanges": [4, 5]}, {"times": 1, "exchanges": [4]}], "at least 900 answers"),
    ],
)
def test_an_answer_that_differs_at_several_places_counts_once(rows: list[dict[str, Any]], words: str) -> None:
    assert answers_in_words(rows) == words


def test_the_meanings_stand_in_their_order_and_say_why() -> None:
    rows = [
        difference(ROLES, "z", "missing", meaning="drift"),
        difference(ROLES, "data", "type", meaning="contradiction", basis="ENV-008"),
        difference(ROLES, "x", "extra"),
        difference(ROLES, "y", "missing", meaning="breaking", accepted="renamed", id="0a1b2c3"),
    ]
    run = run_of(differences=rows)
    page = report(run, RunEvidence())

    assert list(groups(run)) == ["Contradictions", "Breaking changes", "Permitted changes", "Drift"]
    assert '<a href="#ENV-008" class="mono small nowrap">ENV-008</a> On an error' in page
    assert "accepted: renamed" in page
    assert 'field missing <span class="soft small">id 0a1b2c3</span>' in page


SHARES = [
    {"first": 1, "exchanges": 9, "accounts": ["admin"], "worker": 1},
    {"first": 4, "exchanges": 7, "accounts": ["spare", "admin"], "worker": 2},
]


def test_the_plan_says_what_was_replayed_by_whom() -> None:
    run = run_of(
        extra={"workers": [{"worker": 1, "sessions": 1, "exchanges": 9, "lost": False}]},
        recorded=16,
        sessions=2,
        wanted=16,
        compared=12,
        share=0.75,
        states={"same": 11, "regressed": 1, "skipped": 4, "unwanted": 0},
        plan=SHARES,
        fail_on="breaking",
    )
    page = report(run, RunEvidence())

    assert facts(run) == {
        "Recording": "16 exchanges in 2 sessions",
        "Compared": "12 of 16 exchanges (75%)",
        "Results": "11 exchanges answered as recorded; 1 regressed; "
        "4 skipped, as an earlier answer lacked what they need",
        "Accounts": "[accounts.admin] in 2 sessions, [accounts.spare] in 1 session",
        "Workers": "1, whose results are merged here: worker 1: 1 session with 9 exchanges",
        "Fails on": "contradictions and breaking changes (--fail-on breaking)",
    }
    assert "--fail-on security" not in page
    assert "#4 of the recording" in page
    assert "each with its accounts and its worker" in page


@pytest.mark.parametrize("lag, words", [(3.0, "it kept up"), (400.0, "do not blame the portal")])
def test_the_plan_of_a_load_says_whether_its_driver_kept_up(lag: float, words: str) -> None:
    load = {"rate": 40, "ramp_seconds": 3, "passes": 4, "requests": 236, "reached_rate": 39.6}
    found = facts(run_of(load={**load, "driver": {"mean_lag_ms": lag, "share_of_a_core": 0.1}}))

    sent = "236 requests, the recording 4 times; 40/s asked for, reached in 3.0 s, 39.6/s sent"
    assert found["Load"] == sent
    assert words in found["Load driver"]


def test_latencies_of_a_load_stand_recorded_beside_replayed_with_their_limits_and_along_the_time() -> None:
    load = {
        "latency": {
            "all requests": {"recorded": three(1, 2, 3), "replayed": three(4, 5, 6)},
            ROLES: {"recorded": None, "replayed": three(7, 8, 9)},
        },
        "limits": [{"limit": "p95 <= 2x", "endpoint": "all requests", "decision": "exceeded", "why": "x"}],
        "along": {"seconds": 2, "slices": [three(1, 2, 3, begins=0), three(9, 90, 900, begins=2)]},
    }
    parts = parts_of(run_of(load=load))

    assert [(row.endpoint, row.percentiles) for row in parts.latencies] == [
        ("all requests", ["1.0 → 4.0", "2.0 → 5.0", "3.0 → 6.0"]),
        (ROLES, ["– → 7.0", "– → 8.0", "– → 9.0"]),
    ]
    assert parts.limits[0].tone == "fail"
    drawing = parts.by_time.drawing
    assert drawing.count("<polyline") == 3
    assert drawing.count('<rect class="bar2"') == 2
    assert "900 ms" in drawing


def test_what_has_another_shape_is_passed_over() -> None:
    for details in ({}, {"load": 3}, {"plan": 4, "states": []}, {"differences": [1]}, {"load": {"along": 1}}):
        assert 'id="regressions"' in report(run_of(**details), RunEvidence())


def test_the_plans_and_the_recorded_latencies_of_workers_are_merged() -> None:
    spreads = [Spread(), Spread()]
    for spread, ms in zip(spreads, (5, 500), strict=True):
        spread.note(ms)
    parts: list[dict[str, Any]] = [
        {"plan": [row], "recorded_latency": {ROLES: {"counts": spread.as_json()}}}
        for row, spread in zip(reversed(SHARES), spreads, strict=True)
    ]
    merged = replay_details(parts, [lambda number: number] * 2)

    assert merged["plan"] == SHARES
    assert Spread.of(merged["recorded_latency"][ROLES]["counts"]).samples == 2


def slices(*notes: tuple[float, float]) -> LatencySlices:
    made = LatencySlices()
    for due, ms in notes:
        made.note(due, ms)
    return made


def test_slices_of_workers_merge_in_any_order_and_are_read_again() -> None:
    pytest.importorskip("hdrh")
    short, long = slices((0.2, 5.0), (1.7, 50.0)), slices((0.1, 7.0), (200.0, 9.0))

    one, other = short.merged(long), long.merged(short)
    assert one.as_json() == other.as_json() == LatencySlices.of(one.as_json()).as_json()
    assert one.seconds == 4
    assert {at: each.samples for at, each in one.histograms.items()} == {0: 3, 50: 1}
    assert isinstance(one.histograms[0], LatencyHistogram)
    assert LatencySlices.of({}).as_json() == {"seconds": 1, "slices": []}
