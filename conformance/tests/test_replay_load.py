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
from conformance.replay import ReplayResult
from conformance.replay.compare.outcome import ExchangeOutcome, OutcomeTally, State
from conformance.replay.engine.step import ReplayStep
from conformance.replay.load import LoadMeter, Schedule, rate_of, seconds_of
from conformance.replay.notes import FinishedReplay
from conformance.replay.options import Lag
from conformance.report.latency import ALL, Latencies, LatencyLimit
from conformance.report.model.run import ChangesMade
from conformance.tests.replays import Replaying, replayed
from conformance.traffic import capture

PROFILE = "GET /web/v1/system/profile"


@pytest.mark.parametrize("text, rate", [("200/s", 200.0), ("90/min", 1.5), (" 0.5 ", 0.5)])
def test_a_rate_is_of_a_second_or_a_minute(text: str, rate: float) -> None:
    assert rate_of(text) == pytest.approx(rate)


@pytest.mark.parametrize("text", ["", "0/s", "-3/s", "200/day", "1e9/s"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="200/s"):
        rate_of(text)


def test_a_time_has_a_unit() -> None:
    assert [seconds_of(text, "--ramp") for text in ("30s", "5m", "250ms")] == [30.0, 300.0, 0.25]
    with pytest.raises(UsageError, match="--ramp 2: write a number with ms, s, m or h"):
        seconds_of("2", "--ramp")


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


def test_loads_of_parts_merge(recording: Path, tmp_path: Path, once: Load) -> None:
    loaded(recording, tmp_path / "two", latency=LIMITS)
    code = main(["merge", str(once.out), str(tmp_path / "two"), "--out", str(tmp_path / "both")])
    rows = [once.row, *(row_of(tmp_path / name) for name in ("two", "both"))]
    counts = [row["latency"][ALL]["replayed"]["requests"] for row in rows]

    assert code == ExitCode.FAILED
    assert counts[2] == counts[0] + counts[1]
    assert rows[2]["rate"] == 800.0
    assert {row["decision"] for row in rows[2]["limits"] if row["endpoint"] == ALL} == {"kept", "exceeded"}


def test_a_step_is_filed_under_its_endpoint_with_its_last_latency() -> None:
    meter = LoadMeter(Schedule(10.0), recorded_ms=lambda position: 7.0)
    meter.answered(4, 900.0)
    meter.answered(4, 30.0)
    meter.take(ReplayStep(4, ExchangeOutcome(5, State.SAME, PROFILE)))
    meter.take(ReplayStep(6, ExchangeOutcome(7, State.SKIPPED, PROFILE)))

    shown = meter.latencies.as_json()[PROFILE]
    assert (shown["replayed"]["requests"], shown["recorded"]["requests"]) == (1, 1)
    assert shown["replayed"]["max_ms"] == 30.0


LIMITS = ("p50 <= 3600s", "p50 <= 0.01ms")


@dataclass
class Load:
    """A replay at a rate, and what its results say of it."""

    result: ReplayResult
    out: Path

    @property
    def row(self) -> dict[str, Any]:
        return row_of(self.out)


def row_of(out: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((out / "results.json").read_text())["replay"]["load"]
    return found


def loaded(recording: Path, out: Path, **options: Any) -> Load:
    return Load(replayed(recording, out, rate=400.0, **options), out)


@pytest.fixture(scope="module")
def once(recording: Path, tmp_path_factory: pytest.TempPathFactory) -> Load:
    return loaded(recording, tmp_path_factory.mktemp("once"), latency=LIMITS)


def test_a_load_compares_what_a_replay_compares(visit: Replaying, once: Load) -> None:
    assert once.result.tally.compared == visit().tally.compared
    assert not once.result.run.regressions
    assert once.row["latency"][ALL]["replayed"]["requests"] <= once.row["requests"]
    page = (once.out / "report.html").read_text()
    assert "Latency, recorded and replayed" in page
    assert "p50 &lt;= 3600s" in page


def test_a_load_that_is_too_slow_fails(once: Load) -> None:
    assert {row["decision"] for row in once.row["limits"] if row["endpoint"] == ALL} == {"kept", "exceeded"}
    assert once.result.run.exit_code == ExitCode.FAILED
    assert any("is exceeded for all requests" in row for row in once.result.run.ending.too_slow)
    assert any("is exceeded for all requests" in note for note in once.result.notes)


def test_a_load_is_repeated(recording: Path, tmp_path: Path, once: Load) -> None:
    twice = loaded(recording, tmp_path, repeat=2)

    assert twice.result.tally.compared == 2 * once.result.tally.compared, twice.result.notes
    assert not twice.result.run.regressions
    first, both = once.result.run.changes, twice.result.run.changes
    assert first is not None
    assert both == ChangesMade(**{name: 2 * number for name, number in first.model_dump().items()})
    assert first.restored > 0
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
    machine = SimpleNamespace(changes=SimpleNamespace(followed_by=lambda later: None))
    replay: Any = SimpleNamespace(tally=tally, machine=machine)
    return FinishedReplay(replay, Lag(), datetime.now(UTC))


def test_what_regresses_only_later_is_known() -> None:
    whole = finished(2).followed_by(finished(2, 4)).followed_by(finished(5))

    assert whole.only_later == {4, 5}
    assert whole.tally.counts == {State.SAME: 11, State.REGRESSED: 4}
