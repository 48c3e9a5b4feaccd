"""The latency of each endpoint stands in the report as p50, p95 and p99, with a plot."""

from __future__ import annotations

import re
from pathlib import Path

from conformance.report.formats.html.latency import latencies
from conformance.report.model import evidence
from conformance.report.model.run import OperationTime
from conformance.tests.sample_run import PROFILE, ROLES, Sample, envelope, exchange


def timing(endpoint: str, *, p50: float, p95: float, p99: float | None, longest: float) -> OperationTime:
    times = {"requests": 9, "total_ms": 1.0, "median_ms": p50, "p95_ms": p95, "max_ms": longest}
    return OperationTime.model_validate({"endpoint": endpoint, "group": "x", "p99_ms": p99, **times})


def test_percentiles_are_those_of_the_answers(tmp_path: Path) -> None:
    builder = Sample()
    builder.add(*(exchange(at, PROFILE, answer=envelope(), took=float(at)) for at in range(1, 201)))

    (found,) = evidence.read(builder.write(tmp_path / "exchanges.jsonl"), ()).timings

    assert (found.median_ms, found.p95_ms, found.p99_ms, found.max_ms) == (101.0, 191.0, 199.0, 200.0)


def test_the_slowest_stands_first_and_the_plot_grows_with_the_time() -> None:
    quick = timing(ROLES, p50=1, p95=2, p99=3, longest=4)
    slow = timing(PROFILE, p50=100, p95=500, p99=1000, longest=1200)

    rows = latencies([quick, slow])

    assert [row.endpoint for row in rows] == [PROFILE, ROLES]
    shown = (rows[0].p50, rows[0].p95, rows[0].p99, rows[0].longest)
    assert shown == ("100.0", "500.0", "1,000.0", "1,200.0")
    middles = [float(re.findall(r'cx="([\d.]+)"', row.plot)[0]) for row in rows]
    assert middles[0] > middles[1]
    assert 'aria-label="p50 100.0 ms, p95 500.0 ms, p99 1000.0 ms"' in rows[0].plot
