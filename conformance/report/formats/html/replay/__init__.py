"""The beginning of a replay's page: the recording, its sessions, the load, the differences, the latencies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from conformance.report.formats.html.chart import figure, line, rect
from conformance.report.formats.html.latency import LogScale, compared_latencies, limits
from conformance.report.formats.html.replay.differences import difference_groups
from conformance.report.formats.page import Cells
from conformance.report.model.run import Run
from conformance.report.model.visible import one_line
from conformance.report.model.words import duration, in_figures, listed, plural
from conformance.traffic.exchange import dig

STATES = {
    "same": "answered as recorded",
    "regressed": "regressed",
    "changed": "changed as the specification permits",
    "not comparable": "not comparable",
    "not replayable": "not replayable",
    "skipped": "skipped, as an earlier answer lacked what they need",
    "unwanted": "left out by an option",
}
"""The states of the exchanges, in the words of a reader."""

FAILS_ON = {
    "contradiction": "contradictions only",
    "breaking": "contradictions and breaking changes",
    "permitted": "contradictions, breaking changes and permitted changes",
}
MOST_SESSIONS = 100
BEHIND_MS, BUSY = 50.0, 0.9
"""The mean lag of a driver, and its share of a core, from which on latencies are not the portal's alone."""


def replayed(run: Run) -> Cells | None:
    """The values of a replay's page; None for a run or a check."""
    if run.command != "replay":
        return None
    return Cells(
        plan=plan(run),
        differences=difference_groups(run),
        latencies=compared_latencies(run),
        by_time=by_time(run),
        limits=limits(run),
    )


def plan(run: Run) -> Cells:
    """Named facts of the replay, and its sessions."""
    replay = dig(run.model_extra, ("replay",))
    replay = replay if isinstance(replay, dict) else {}
    rows = [row for row in _list(replay, "plan") if isinstance(row, dict)]
    has_workers = any(row.get("worker") for row in rows)
    return Cells(
        facts=[(name, one_line(text, 900)) for name, text in _facts(run, replay, rows)],
        sessions=[_session(row) for row in rows[:MOST_SESSIONS]],
        has_workers=has_workers,
        more=max(0, int(replay.get("sessions") or 0) - MOST_SESSIONS),
    )


def _facts(
    run: Run, replay: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    if "recorded" in replay:
        recorded = plural(int(replay["recorded"]), "exchange")
        yield "Recording", f"{recorded} in {plural(int(replay.get('sessions', 0)), 'session')}"
    if "compared" in replay:
        share = f" ({replay['share']:.0%})" if replay.get("share") else ""
        yield "Compared", f"{replay['compared']:,} of {replay.get('wanted', 0):,} exchanges{share}"
    states = _mapping(replay, "states")
    counts = [(times, STATES.get(name, name)) for name, times in states.items() if times]
    if counts:
        times, words = counts[0]
        others = (f"{times:,} {words}" for times, words in counts[1:])
        yield "Results", "; ".join((f"{plural(times, 'exchange')} {words}", *others))
    accounts = Counter(name for row in rows for name in row.get("accounts") or [])
    if accounts:
        names = (f"[accounts.{name}] in {plural(times, 'session')}" for name, times in accounts.items())
        yield "Accounts", listed(names, 12)
    yield from _workers(run)
    yield from _load(_mapping(replay, "load"))
    if replay.get("fail_on") in FAILS_ON:
        yield "Fails on", f"{FAILS_ON[replay['fail_on']]} (--fail-on {replay['fail_on']})"


def _workers(run: Run) -> Iterator[tuple[str, str]]:
    rows = [row for row in _list(run.model_extra or {}, "workers") if isinstance(row, dict)]
    if not rows:
        return
    shares = (
        f"worker {row.get('worker')}: {_share(row)}{', lost' if row.get('lost') else ''}" for row in rows
    )
    yield "Workers", f"{len(rows)}, whose results are merged here: " + "; ".join(shares)


def _share(row: Mapping[str, Any]) -> str:
    if row.get("sessions") is None:
        return "its share is not known"
    return f"{plural(int(row['sessions']), 'session')} with {plural(int(row['exchanges'] or 0), 'exchange')}"


def _load(load: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if not load:
        return
    ramp = f", reached in {duration(load['ramp_seconds'])}" if load.get("ramp_seconds") else ""
    passes = int(load.get("passes", 1))
    times = "once" if passes == 1 else f"{passes} times"
    yield (
        "Load",
        (
            f"{plural(int(load.get('requests', 0)), 'request')}, the recording {times}; "
            f"{load.get('rate', 0):g}/s asked for{ramp}, {in_figures(load.get('reached_rate', 0))}/s sent"
        ),
    )
    driver = _mapping(load, "driver")
    if driver:
        lag, busy = float(driver.get("mean_lag_ms", 0)), float(driver.get("share_of_a_core", 0))
        is_behind = lag > BEHIND_MS or busy > BUSY
        verdict = (
            "it could not keep up: do not blame the portal for these latencies" if is_behind else "it kept up"
        )
        yield "Load driver", f"{lag:.1f} ms late on average, {busy:.0%} of a core: {verdict}"


def _session(row: Mapping[str, Any]) -> Cells:
    names = [f"[accounts.{name}]" for name in row.get("accounts") or []]
    return Cells(
        first=f"#{row.get('first')}",
        exchanges=f"{int(row.get('exchanges', 0)):,}",
        accounts=one_line(", ".join(names) or "none signs in", 200),
        worker=str(row.get("worker") or "–"),
    )


def _list(value: Mapping[str, Any], name: str) -> list[Any]:
    part = value.get(name)
    return part if isinstance(part, list) else []


def _mapping(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = value.get(name)
    return part if isinstance(part, dict) else {}


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
    return Cells(drawing=_along(rows, seconds), words=f"{len(rows)} stretches of {seconds} s")


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
    tall = [REQUESTS * int(row["requests"]) / most for row in rows]
    columns = [
        rect("bar2", x - 50 * seconds / end, FOOT - height, width=95 * seconds / end, height=height)
        for x, height in zip(middles, tall, strict=True)
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
