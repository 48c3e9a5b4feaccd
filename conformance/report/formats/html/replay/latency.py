"""The latencies of a replay: recorded beside replayed, by endpoint, and the limits on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from markupsafe import Markup

from conformance.report.formats.html.cells import Cells, cells
from conformance.report.formats.html.scale import SHORTEST_MS, LogScale
from conformance.report.latency.spread import Spread
from conformance.report.model.evidence import OTHER
from conformance.report.model.run import Run
from conformance.report.model.visible import one_line
from conformance.traffic.exchange import dig

PERCENTILES = (50.0, 95.0, 99.0)
NAMES = ("p50_ms", "p95_ms", "p99_ms")

Three = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class EndpointLatency:
    """p50, p95 and p99 of an endpoint in ms, recorded where that is known, and replayed."""

    endpoint: str
    requests: int
    recorded: Three | None
    replayed: Three


def has_latencies(run: Run) -> bool:
    """Whether there is any endpoint whose latency is known."""
    return next(chain(_of_load(run), _of_replay(run)), None) is not None


def compared_latencies(run: Run) -> list[Cells]:
    """A row for each endpoint, the slowest first; of a load all requests together come before."""
    rows = list(_of_load(run)) or list(_of_replay(run))
    times = [ms for row in rows for three in (row.recorded, row.replayed) if three for ms in three]
    scale = LogScale(min(times, default=SHORTEST_MS), max(times, default=1.0))
    ordered = sorted(rows, key=lambda row: (" " in row.endpoint and "/" in row.endpoint, -row.replayed[0]))
    return [_row(row, scale) for row in ordered]


def _of_load(run: Run) -> Iterator[EndpointLatency]:
    latency = dig(run.model_extra, ("replay", "load", "latency"))
    for name, row in latency.items() if isinstance(latency, dict) else ():
        replayed, recorded = _three(row, "replayed"), _three(row, "recorded")
        if replayed is not None:
            requests = dig(row, ("replayed", "requests"))
            yield EndpointLatency(str(name), requests if isinstance(requests, int) else 0, recorded, replayed)


def _three(row: Any, side: str) -> Three | None:
    values = [dig(row, (side, name)) for name in NAMES]
    if not all(isinstance(value, int | float) for value in values):
        return None
    p50, p95, p99 = (float(str(value)) for value in values)
    return p50, p95, p99


def _of_replay(run: Run) -> Iterator[EndpointLatency]:
    recorded = dig(run.model_extra, ("replay", "recorded_latency"))
    spreads = recorded if isinstance(recorded, dict) else {}
    for timing in run.timings:
        if timing.endpoint == OTHER:
            continue
        p99 = timing.max_ms if timing.p99_ms is None else timing.p99_ms
        yield EndpointLatency(
            timing.endpoint,
            timing.requests,
            _spread(spreads.get(timing.endpoint)),
            (timing.median_ms, timing.p95_ms, p99),
        )


def _spread(row: Any) -> Three | None:
    if not isinstance(row, dict) or not isinstance(row.get("counts"), dict):
        return None
    spread = Spread.of(row["counts"])
    p50, p95, p99 = (spread.at(percentile) for percentile in PERCENTILES)
    return (p50, p95, p99) if spread.samples else None


def _row(row: EndpointLatency, scale: LogScale) -> Cells:
    recorded = row.recorded or (None, None, None)
    return cells(
        endpoint=one_line(row.endpoint, 200),
        requests=f"{row.requests:,}",
        percentiles=[_pair(before, now) for before, now in zip(recorded, row.replayed, strict=True)],
        plot=_plot(row, scale),
    )


def _pair(recorded: float | None, replayed: float) -> str:
    return f"{'–' if recorded is None else f'{recorded:,.1f}'} → {replayed:,.1f}"


def _plot(row: EndpointLatency, scale: LogScale) -> Markup:
    """Two lines from p50 to p99, the recorded one above the replayed one; a dot is p50, ticks are p95 and
    p99."""
    words = f"replayed p50 {row.replayed[0]:.1f}, p95 {row.replayed[1]:.1f}, p99 {row.replayed[2]:.1f} ms"
    if row.recorded:
        old = row.recorded
        words = f"recorded p50 {old[0]:.1f}, p95 {old[1]:.1f}, p99 {old[2]:.1f} ms; {words}"
    lines = [_line(row.recorded, scale, at=6, css="old")] if row.recorded else []
    return Markup('<svg class="small-plot" viewBox="0 0 150 24" role="img" aria-label="{}">{}</svg>').format(
        words, Markup("").join([*lines, _line(row.replayed, scale, at=18, css="new")])
    )


def _line(three: Three, scale: LogScale, *, at: int, css: str) -> Markup:
    p50, p95, p99 = map(scale.place, three)
    return Markup(
        f'<path class="span {css}" d="M{p50:.1f} {at}H{p99:.1f}M{p95:.1f} {at - 3}v6M{p99:.1f} {at - 4}v8"/>'
        f'<circle class="dot {css}" cx="{p50:.1f}" cy="{at}" r="3.2"/>'
    )


def limits(run: Run) -> list[Cells]:
    """What became of each limit on latency, at each endpoint where that can be told."""
    rows = dig(run.model_extra, ("replay", "load", "limits"))
    return [
        cells(
            limit=one_line(str(row.get("limit", "")), 100),
            endpoint=one_line(str(row.get("endpoint", "")), 200),
            decision=str(row.get("decision", "")),
            tone={"exceeded": "fail", "kept": "pass"}.get(str(row.get("decision")), "untested"),
            why=one_line(str(row.get("why", "")), 300),
        )
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict)
    ]
