"""A replay as a load: when requests are due, what their latency counts from, and limits on it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.cli import main
from conformance.errors import ExitCode, UsageError
from conformance.replay import ReplayOptions, ReplayResult
from conformance.replay.compare.outcome import ExchangeOutcome, OutcomeTally, State
from conformance.replay.engine.step import ReplayStep
from conformance.replay.load.meter import LoadMeter
from conformance.replay.load.schedule import Schedule, rate_of, seconds_of
from conformance.replay.notes import FinishedReplay
from conformance.replay.options import Lag
from conformance.report.latency.histograms import ALL, Latencies, LatencyHistogram
from conformance.report.latency.limits import LatencyLimit
from conformance.tests.replays import replayed
from conformance.traffic import capture

PROFILE = "GET /web/v1/system/profile"


@pytest.mark.parametrize("text, rate", [("200/s", 200.0), ("90/min", 1.5), ("0.5", 0.5), (" 12.5/s ", 12.5)])
def test_a_rate_is_of_a_second_or_a_minute(text: str, rate: float) -> None:
    assert rate_of(text) == pytest.approx(rate)


@pytest.mark.parametrize("text", ["", "0/s", "fast", "-3/s", "200/day", "1e9/s"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="200/s"):
        rate_of(text)


@pytest.mark.parametrize("text, seconds", [("30s", 30.0), ("5m", 300.0), ("250ms", 0.25), (" 2s ", 2.0)])
def test_a_time_has_a_unit(text: str, seconds: float) -> None:
    assert seconds_of(text, "--ramp") == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["2", "0.5", "soon", "5 days"])
def test_a_time_of_a_load_without_a_unit_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=f"--ramp {text}: write a number with ms, s, m or h"):
        seconds_of(text, "--ramp")


def test_requests_are_due_at_the_rate() -> None:
    schedule = Schedule(rate=200.0)

    assert [schedule.due(number) for number in (0, 1, 200)] == pytest.approx([0.0, 0.005, 1.0])


def test_a_ramp_ends_at_the_rate() -> None:
    """In ten seconds half as many requests as at the rate from the first moment on."""
    schedule = Schedule(rate=100.0, ramp=10.0)
    dues = [schedule.due(number) for number in range(2_000)]

    assert dues == sorted(dues)
    assert schedule.due(500) == pytest.approx(10.0)
    assert schedule.due(600) - schedule.due(500) == pytest.approx(1.0)
    assert schedule.due(125) == pytest.approx(5.0)


def latencies(replayed_ms: Sequence[float], recorded_ms: Sequence[float] = ()) -> Latencies:
    found = Latencies()
    for at, ms in enumerate(replayed_ms):
        recorded = recorded_ms[at] if at < len(recorded_ms) else None
        found.note(PROFILE, recorded_ms=recorded, replayed_ms=ms)
    return found


def decisions(limit: str, found: Latencies) -> dict[str, str]:
    return {result.endpoint: result.decision for result in LatencyLimit.of(limit).decided(found)}


SLOW_TAIL = [10.0] * 900 + [500.0] * 100


@pytest.mark.parametrize(
    "limit, decision",
    [
        ("p50 <= 20ms", "kept"),
        ("p95 <= 100ms", "exceeded"),
        ("p95 <= 0.6s", "kept"),
        ("p95 <= 2x", "exceeded"),
        ("p50 <= 1.5x", "kept"),
        ("p99.5 <= 100ms", "not decided"),
    ],
)
def test_a_limit_is_kept_or_exceeded_or_not_decided(limit: str, decision: str) -> None:
    found = latencies(SLOW_TAIL, [10.0] * 1_000)

    assert decisions(limit, found)[ALL] == decision


def test_few_requests_decide_nothing() -> None:
    assert decisions("p95 <= 1ms", latencies([500.0] * 20)) == {ALL: "not decided"}


def test_noise_alone_exceeds_nothing() -> None:
    """The recording against itself: the same latencies in another order."""
    noisy = [10.0 + at % 40 for at in range(1_000)]

    assert decisions("p95 <= 1.0x", latencies(noisy, noisy[::-1]))[ALL] != "exceeded"


@pytest.mark.parametrize("text", ["", "p95", "p0 <= 1x", "p100 <= 1x", "95 <= 1x", "p95 < 1x", "p95 <= 0ms"])
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--latency"):
        LatencyLimit.of(text)


def test_histograms_merge_to_that_of_all() -> None:
    one, other, both = LatencyHistogram(), LatencyHistogram(), LatencyHistogram()
    for at in range(2_000):
        for each in (one if at % 3 else other, both):
            each.note(0.05 * at)

    assert one.merged(other).as_json() == other.merged(one).as_json() == both.as_json()


def test_latencies_are_read_as_they_were_written() -> None:
    found = latencies(SLOW_TAIL, [10.0] * 1_000)

    assert Latencies.of(json.loads(json.dumps(found.as_json()))).as_json() == found.as_json()


def test_loads_of_parts_merge(recording: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        replayed(recording, tmp_path / name, rate=400.0, latency=("p50 <= 3600s", "p50 <= 0.01ms"))
    code = main(["merge", str(tmp_path / "one"), str(tmp_path / "two"), "--out", str(tmp_path / "both")])
    rows = [
        json.loads((tmp_path / name / "results.json").read_text())["replay"]["load"]
        for name in ("one", "two", "both")
    ]
    counts = [row["latency"][ALL]["replayed"]["requests"] for row in rows]

    assert code == ExitCode.FAILED
    assert counts[2] == counts[0] + counts[1]
    assert rows[2]["rate"] == 800.0
    assert {row["decision"] for row in rows[2]["limits"] if row["endpoint"] == ALL} == {"kept", "exceeded"}


def test_a_percentile_is_exact_to_a_hundredth() -> None:
    found = LatencyHistogram()
    for at in range(1, 10_001):
        found.note(at / 10)

    assert found.at(50) == pytest.approx(500, rel=0.01)
    assert found.at(99) == pytest.approx(990, rel=0.01)


def test_a_step_is_filed_under_its_endpoint_with_its_last_latency() -> None:
    meter = LoadMeter(Schedule(10.0), recorded_ms=lambda position: 7.0)
    meter.answered(4, 900.0)
    meter.answered(4, 30.0)
    meter.take(ReplayStep(4, ExchangeOutcome(5, State.SAME, PROFILE)))
    meter.take(ReplayStep(6, ExchangeOutcome(7, State.SKIPPED, PROFILE)))

    shown = meter.latencies.as_json()[PROFILE]
    assert (shown["replayed"]["requests"], shown["recorded"]["requests"]) == (1, 1)
    assert shown["replayed"]["max_ms"] == 30.0


@dataclass
class Load:
    """A replay at a rate, and what its results say of it."""

    result: ReplayResult
    row: dict[str, Any]


def loaded(recording: Path, out: Path, **options: Any) -> Load:
    result = replayed(recording, out, rate=400.0, **options)
    return Load(result, json.loads((out / "results.json").read_text())["replay"]["load"])


@pytest.fixture(scope="module")
def once(recording: Path, tmp_path_factory: pytest.TempPathFactory) -> Load:
    limits = ("p50 <= 3600s", "p50 <= 0.01ms")
    return loaded(recording, tmp_path_factory.mktemp("once"), latency=limits)


def test_a_load_compares_what_a_replay_compares(recording: Path, tmp_path: Path) -> None:
    calm = replayed(recording, tmp_path / "calm")
    load = loaded(recording, tmp_path / "load", latency=("p50 <= 3600s",))

    assert load.result.tally.compared == calm.tally.compared
    assert not load.result.run.regressions
    assert load.result.run.exit_code == ExitCode.CONFORMANT
    assert load.row["latency"][ALL]["replayed"]["requests"] <= load.row["requests"]
    assert load.row["limits"][0]["decision"] == "kept"
    page = (tmp_path / "load" / "report.html").read_text()
    assert "Latency, recorded and replayed" in page
    assert "p50 &lt;= 3600s" in page


def test_a_load_that_is_too_slow_fails(once: Load) -> None:
    assert once.result.run.exit_code == ExitCode.FAILED
    assert any("is exceeded for all requests" in row for row in once.result.run.ending.too_slow)
    assert any("is exceeded for all requests" in note for note in once.result.notes)


def test_a_load_is_repeated(recording: Path, tmp_path: Path, once: Load) -> None:
    twice = loaded(recording, tmp_path, repeat=2)

    assert twice.result.tally.compared == 2 * once.result.tally.compared, twice.result.notes
    assert not twice.result.run.regressions
    assert twice.row["passes"] == 2
    numbers = [exchange.n for exchange in capture.read(tmp_path / "exchanges.jsonl")]
    assert numbers == list(range(1, twice.row["requests"] + 1))


def test_a_load_lasts_as_long_as_asked(recording: Path, tmp_path: Path, once: Load) -> None:
    """A pass that is begun ends; so there are two where one takes less than the time."""
    short = once.row["requests"] / once.row["reached_rate"]
    load = loaded(recording, tmp_path, duration=10 * short)

    assert load.result.tally.compared >= 2 * once.result.tally.compared > 0


def finished(*regressed: int) -> FinishedReplay:
    """A pass in which exchanges 1 to 5 were compared, and these regressed."""
    tally = OutcomeTally()
    for number in range(1, 6):
        state = State.REGRESSED if number in regressed else State.SAME
        tally.add(ExchangeOutcome(number, state, PROFILE))
    replay: Any = SimpleNamespace(sessions=SimpleNamespace(tally=tally))
    return FinishedReplay(replay, Lag(), datetime.now(UTC))


def test_what_regresses_only_later_is_known() -> None:
    whole = finished(2).followed_by(finished(2, 4)).followed_by(finished(5))

    assert whole.only_later == {4, 5}
    assert whole.tally.counts == {State.SAME: 11, State.REGRESSED: 4}


def test_a_replay_without_a_rate_moves_nothing(tmp_path: Path) -> None:
    assert ReplayOptions(out=tmp_path, concurrency=4).sessions_at_once == 4
    assert ReplayOptions(out=tmp_path, rate=1.0).sessions_at_once > 4
