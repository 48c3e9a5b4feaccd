"""The latencies of a load along its time, with the requests that were due."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from conformance.report.formats.html.cells import Cells, cells
from conformance.report.formats.html.chart import figure, line
from conformance.report.formats.html.latency import LogScale
from conformance.report.model.run import Run
from conformance.report.model.words import duration, in_figures
from conformance.traffic.exchange import dig

NAMES = ("p50_ms", "p95_ms", "p99_ms")
TOP, BOTTOM, FOOT = 10.0, 150.0, 214.0
"""The heights of the drawing: latencies between the first two, requests below to the last."""

REQUESTS = 40.0
"""The height of the columns that show how many requests were due."""


def by_time(run: Run) -> Cells | None:
    """The latencies along the time of a load; None without a load."""
    along = dig(run.model_extra, ("replay", "load", "along"))
    slices = along.get("slices") if isinstance(along, dict) else None
    rows = [row for row in slices or [] if isinstance(row, dict) and row.get("requests")]
    if len(rows) < 2 or not isinstance(along, dict):
        return None
    seconds = int(along.get("seconds", 1))
    return cells(drawing=_along(rows, seconds), words=f"{len(rows)} stretches of {seconds} s")


def _along(rows: Sequence[Mapping[str, Any]], seconds: int) -> Markup:
    """A line for each percentile over columns for the requests of each stretch."""
    end = max(int(row["begins"]) for row in rows) + seconds
    times = [float(row[name]) for row in rows for name in NAMES]
    scale, most = LogScale(min(times), max(times)), max(int(row["requests"]) for row in rows)
    middles = [100 * (int(row["begins"]) + seconds / 2) / end for row in rows]
    lines = [
        line(
            f"along {name.removesuffix('_ms')}",
            FOOT,
            [(x, _above(scale, float(row[name]))) for x, row in zip(middles, rows, strict=True)],
        )
        for name in reversed(NAMES)
    ]
    columns = [
        Markup('<rect class="bar2" x="{:.2f}%" y="{:.1f}" width="{:.2f}%" height="{:.1f}"/>').format(
            x - 50 * seconds / end,
            FOOT - REQUESTS * int(row["requests"]) / most,
            95 * seconds / end,
            REQUESTS * int(row["requests"]) / most,
        )
        for x, row in zip(middles, rows, strict=True)
    ]
    span = f"from {in_figures(scale.lowest)} to {in_figures(scale.highest)} ms"
    words = f"Latency along {duration(float(end))} of the load, {span}"
    return figure(FOOT + 22, words, *columns, *lines, *_axes(scale, end, f"{in_figures(most / seconds)}/s"))


def _above(scale: LogScale, ms: float) -> float:
    return BOTTOM - scale.place(ms, BOTTOM - TOP, 0.0)


def _axes(scale: LogScale, end: int, most: str) -> Iterator[Markup]:
    """Milliseconds above, requests a second below, and the time."""
    for ms in sorted({scale.lowest, (scale.lowest * scale.highest) ** 0.5, scale.highest}):
        yield Markup('<text x="0" y="{:.1f}">{} ms</text>').format(_above(scale, ms) - 2, in_figures(ms))
    yield Markup(
        '<line class="rule" x1="0" y1="{0}" x2="100%" y2="{0}"/><text x="0" y="{1}">{2}</text>'
        '<text x="0" y="{3}">0</text><text x="100%" y="{3}" text-anchor="end">+{4}</text>'
    ).format(FOOT, FOOT - REQUESTS - 2, most, FOOT + 15, duration(float(end)))
