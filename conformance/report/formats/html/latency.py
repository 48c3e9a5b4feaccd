"""The table of each endpoint's latency: p50, p95, p99, and a small plot of them on a scale that all share."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from conformance.report.formats.html.cells import Cells, cells
from conformance.report.formats.html.scale import SHORTEST_MS, WIDTH, LogScale
from conformance.report.model.run import OperationTime

HEIGHT = 16.0


def latencies(timings: Sequence[OperationTime]) -> list[Cells]:
    """A row for each endpoint, the slowest first."""
    lowest = min((timing.median_ms for timing in timings), default=SHORTEST_MS)
    scale = LogScale(lowest, max((_p99(timing) for timing in timings), default=1.0))
    return [
        cells(
            endpoint=timing.endpoint,
            requests=f"{timing.requests:,}",
            p50=_milliseconds(timing.median_ms),
            p95=_milliseconds(timing.p95_ms),
            p99=_milliseconds(_p99(timing)),
            longest=_milliseconds(timing.max_ms),
            plot=_plot(timing, scale),
        )
        for timing in sorted(timings, key=lambda timing: -timing.median_ms)
    ]


def _p99(timing: OperationTime) -> float:
    """The 99th percentile; the longest time where a report of an earlier version has none."""
    return timing.max_ms if timing.p99_ms is None else timing.p99_ms


def _plot(timing: OperationTime, scale: LogScale) -> Markup:
    """A line from p50 to p99, with a dot at p50, a tick at p95 and one at p99."""
    p50, p95, p99 = map(scale.place, (timing.median_ms, timing.p95_ms, _p99(timing)))
    words = f"p50 {timing.median_ms:.1f} ms, p95 {timing.p95_ms:.1f} ms, p99 {_p99(timing):.1f} ms"
    return Markup(
        '<svg class="small-plot" viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}">'
        '<path class="span" d="M{:.1f} 8H{:.1f}M{:.1f} 4V12M{:.1f} 2V14"/>'
        '<circle class="b-open" cx="{:.1f}" cy="8" r="3.5"/></svg>'
    ).format(WIDTH, HEIGHT, words, p50, p99, p95, p99, p50)


def _milliseconds(value: float) -> str:
    return f"{value:,.1f}"
