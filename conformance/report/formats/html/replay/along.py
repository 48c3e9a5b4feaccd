"""The latencies of a load along its time, with the requests that were due, drawn for a screen and a phone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from conformance.report.formats.html.cells import Cells, cells
from conformance.report.formats.html.scale import LogScale
from conformance.report.model.run import Run
from conformance.report.model.words import duration, in_figures
from conformance.traffic.exchange import dig

NAMES = ("p50_ms", "p95_ms", "p99_ms")
LEFT, RIGHT, TOP, BOTTOM = 52.0, 12.0, 10.0, 150.0
"""The room of the drawing along the time: labels at the left, requests below."""

REQUESTS = 40.0
"""The height of the columns that show how many requests were due."""


def by_time(run: Run) -> Cells | None:
    """The latencies along the time of a load, drawn for a screen and for a phone; None without a load."""
    along = dig(run.model_extra, ("replay", "load", "along"))
    slices = along.get("slices") if isinstance(along, dict) else None
    rows = [row for row in slices or [] if isinstance(row, dict) and row.get("requests")]
    if len(rows) < 2 or not isinstance(along, dict):
        return None
    seconds = int(along.get("seconds", 1))
    return cells(
        wide=_along(rows, seconds, width=960.0),
        slim=_along(rows, seconds, width=340.0),
        words=f"{len(rows)} stretches of {seconds} s",
    )


def _along(rows: Sequence[Mapping[str, Any]], seconds: int, *, width: float) -> Markup:
    """A line for each percentile over columns for the requests of each stretch."""
    end = max(int(row["begins"]) for row in rows) + seconds
    times = [float(row[name]) for row in rows for name in NAMES]
    scale, most = LogScale(min(times), max(times)), max(int(row["requests"]) for row in rows)
    room = width - LEFT - RIGHT

    def across(row: Mapping[str, Any]) -> float:
        return LEFT + room * (int(row["begins"]) + seconds / 2) / end

    def above(ms: float) -> float:
        return BOTTOM - scale.place(ms, BOTTOM - TOP, 0.0)

    lines = Markup("").join(
        Markup('<polyline class="along {}" points="{}"/>').format(
            name.removesuffix("_ms"),
            " ".join(f"{across(row):.1f},{above(float(row[name])):.1f}" for row in rows),
        )
        for name in reversed(NAMES)
    )
    columns = Markup("").join(
        Markup('<rect class="bar2" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
            across(row) - room * seconds / end / 2,
            BOTTOM + 8 + REQUESTS * (1 - int(row["requests"]) / most),
            max(1.0, room * seconds / end - 1),
            REQUESTS * int(row["requests"]) / most,
        )
        for row in rows
    )
    return _framed(
        Markup("").join([lines, columns]), scale, end, width=width, most=f"{in_figures(most / seconds)}/s"
    )


def _framed(drawing: Markup, scale: LogScale, end: int, *, width: float, most: str) -> Markup:
    """The drawing with its axes: milliseconds above, requests a second below, and the time."""
    marks = sorted({scale.lowest, (scale.lowest * scale.highest) ** 0.5, scale.highest})
    labels = Markup("").join(
        Markup('<text x="{:.0f}" y="{:.1f}" text-anchor="end">{} ms</text>').format(
            LEFT - 6, BOTTOM - scale.place(ms, BOTTOM - TOP, 0.0) + 4, in_figures(ms)
        )
        for ms in marks
    )
    foot = BOTTOM + 8 + REQUESTS
    axes = Markup(
        '<path class="rule" d="M{} {}H{:.0f}"/><text x="{:.0f}" y="{:.0f}" text-anchor="end">{}</text>'
        '<text x="{}" y="{:.0f}">0</text><text x="{:.0f}" y="{:.0f}" text-anchor="end">+{}</text>'
    ).format(LEFT, foot, width - RIGHT, LEFT - 6, foot - REQUESTS + 10, most, LEFT, foot + 15,
             width - RIGHT, foot + 15, duration(float(end)))  # fmt: skip
    span = f"from {in_figures(scale.lowest)} to {in_figures(scale.highest)} ms"
    words = f"Latency along {duration(float(end))} of the load, {span}"
    return Markup('<svg viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}">{}</svg>').format(
        width, foot + 22, words, Markup("").join([drawing, labels, axes])
    )
