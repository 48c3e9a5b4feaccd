"""The latencies of each endpoint: p50, p95 and p99 with a plot; in a replay, recorded beside replayed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import log10
from typing import Any

from markupsafe import Markup

from conformance.report.formats.page import Cells
from conformance.report.latency import SHOWN, Spread
from conformance.report.model.evidence import OTHER
from conformance.report.model.run import OperationTime, Run
from conformance.report.model.visible import one_line
from conformance.traffic.exchange import dig

SHORTEST_MS = 0.1
"""What is shorter is drawn as this."""

PLOT_WIDTH, PLOT_INSET = 150.0, 5.0
"""The width of a small plot, and the room at both of its sides."""

Three = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class LogScale:
    """From the lowest to the highest time, in ms."""

    lowest: float
    highest: float

    @classmethod
    def of(cls, times: Iterable[float]) -> LogScale:
        every = list(times)
        return cls(min(every, default=SHORTEST_MS), max(every, default=1.0))

    def place(self, ms: float, width: float = PLOT_WIDTH, inset: float = PLOT_INSET) -> float:
        """Where a time stands on so many pixels."""
        start = log10(max(self.lowest, SHORTEST_MS))
        span = log10(max(self.highest, SHORTEST_MS)) - start
        share = (log10(max(ms, SHORTEST_MS)) - start) / span if span > 0 else 0.0
        return inset + (width - 2 * inset) * min(1.0, max(0.0, share))


@dataclass(frozen=True, slots=True)
class EndpointLatency:
    """p50, p95 and p99 of an endpoint in ms, recorded where that is known, and replayed."""

    endpoint: str
    requests: int
    recorded: Three | None
    replayed: Three


def latencies(timings: Sequence[OperationTime]) -> list[Cells]:
    """A row for each endpoint of a run, the slowest first."""
    scale = LogScale.of(ms for timing in timings for ms in _three_of(timing))
    return [
        Cells(
            endpoint=timing.endpoint,
            requests=f"{timing.requests:,}",
            p50=f"{timing.median_ms:,.1f}",
            p95=f"{timing.p95_ms:,.1f}",
            p99=f"{_three_of(timing)[2]:,.1f}",
            longest=f"{timing.max_ms:,.1f}",
            plot=_plot(scale, {"": _three_of(timing)}),
        )
        for timing in sorted(timings, key=lambda timing: -timing.median_ms)
    ]


def has_latencies(run: Run) -> bool:
    return next(chain(_of_load(run), _of_replay(run)), None) is not None


def compared_latencies(run: Run) -> list[Cells]:
    """A row for each endpoint of a replay, the slowest first; of a load all requests together come before."""
    rows = list(_of_load(run)) or list(_of_replay(run))
    scale = LogScale.of(ms for row in rows for three in (row.recorded, row.replayed) if three for ms in three)
    ordered = sorted(rows, key=lambda row: (" " in row.endpoint and "/" in row.endpoint, -row.replayed[0]))
    return [
        Cells(
            endpoint=one_line(row.endpoint, 200),
            requests=f"{row.requests:,}",
            percentiles=[
                f"{'–' if before is None else f'{before:,.1f}'} → {now:,.1f}"
                for before, now in zip(row.recorded or (None,) * 3, row.replayed, strict=True)
            ],
            plot=_plot(
                scale, ({"recorded": row.recorded} if row.recorded else {}) | {"replayed": row.replayed}
            ),
        )
        for row in ordered
    ]


def _three_of(timing: OperationTime) -> Three:
    """The percentiles; the longest time is the last where a report of an earlier version has none."""
    p99 = timing.max_ms if timing.p99_ms is None else timing.p99_ms
    return timing.median_ms, timing.p95_ms, p99


def _of_load(run: Run) -> Iterator[EndpointLatency]:
    latency = dig(run.model_extra, ("replay", "load", "latency"))
    for name, row in latency.items() if isinstance(latency, dict) else ():
        replayed, recorded = _three(row, "replayed"), _three(row, "recorded")
        if replayed is not None:
            requests = dig(row, ("replayed", "requests"))
            yield EndpointLatency(str(name), requests if isinstance(requests, int) else 0, recorded, replayed)


def _three(row: Any, side: str) -> Three | None:
    values = [dig(row, (side, name)) for name in SHOWN]
    if not all(isinstance(value, int | float) for value in values):
        return None
    p50, p95, p99 = (float(str(value)) for value in values)
    return p50, p95, p99


def _of_replay(run: Run) -> Iterator[EndpointLatency]:
    recorded = dig(run.model_extra, ("replay", "recorded_latency"))
    spreads = recorded if isinstance(recorded, dict) else {}
    for timing in run.timings:
        if timing.endpoint != OTHER:
            before = _spread(spreads.get(timing.endpoint))
            yield EndpointLatency(timing.endpoint, timing.requests, before, _three_of(timing))


def _spread(row: Any) -> Three | None:
    if not isinstance(row, dict) or not isinstance(row.get("counts"), dict):
        return None
    spread = Spread.of(row["counts"])
    p50, p95, p99 = map(spread.at, SHOWN.values())
    return (p50, p95, p99) if spread.samples else None


def _plot(scale: LogScale, rows: dict[str, Three]) -> Markup:
    """A line from p50 to p99 for each row, with a dot at p50, a tick at p95 and one at p99."""
    words = "; ".join(
        f"{name} p50 {p50:.1f} ms, p95 {p95:.1f} ms, p99 {p99:.1f} ms".strip()
        for name, (p50, p95, p99) in rows.items()
    )
    lines = [_line(scale, three, name, at=8 + 12 * at) for at, (name, three) in enumerate(rows.items())]
    return Markup(
        '<svg class="small-plot" viewBox="0 0 {:.0f} {}" role="img" aria-label="{}">{}</svg>'
    ).format(PLOT_WIDTH, 4 + 12 * len(rows), words, Markup("").join(lines))


def _line(scale: LogScale, three: Three, name: str, *, at: int) -> Markup:
    p50, p95, p99 = map(scale.place, three)
    return Markup(
        f'<path class="span {name}" d="M{p50:.1f} {at}H{p99:.1f}M{p95:.1f} {at - 3}v6M{p99:.1f} {at - 4}v8"/>'
        f'<circle class="dot {name}" cx="{p50:.1f}" cy="{at}" r="3.2"/>'
    )


def limits(run: Run) -> list[Cells]:
    rows = dig(run.model_extra, ("replay", "load", "limits"))
    return [
        Cells(
            limit=one_line(str(row.get("limit", "")), 100),
            endpoint=one_line(str(row.get("endpoint", "")), 200),
            decision=str(row.get("decision", "")),
            tone={"exceeded": "fail", "kept": "pass"}.get(str(row.get("decision")), "untested"),
            why=one_line(str(row.get("why", "")), 300),
        )
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict)
    ]
