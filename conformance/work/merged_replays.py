"""The part of ``results.json`` that replays alone have, of several replays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

from conformance.report.latency import Latencies, LatencyLimit, LatencySlices, LimitResult
from conformance.report.model.words import plural

MOST_OTHERS = 2_000
SHOWN_EXCHANGES = 20
COUNTS = " recorded exchanges of "
"""What marks the note of a replay that is no longer so of the whole."""

Numbers = Callable[[int], int]
"""The number in the whole of an exchange of one part."""


def replay_details(replays: Sequence[Mapping[str, Any]], numbers: Sequence[Numbers]) -> dict[str, Any]:
    """Counts are added, what is listed by exchange has its numbers in the whole."""
    wanted, compared, recorded, sessions, ambiguous = (
        sum(row.get(name, 0) for row in replays)
        for name in ("wanted", "compared", "recorded", "sessions", "ambiguous")
    )
    others = [
        {**row, "exchange": row["exchange"] and renumbered(row["exchange"])}
        for replay, renumbered in zip(replays, numbers, strict=True)
        for row in replay.get("others", [])
    ]
    return (
        {
            "recorded": recorded,
            "sessions": sessions,
            "states": _added(row.get("states", {}) for row in replays),
            "endpoints": {
                name: _added(row.get("endpoints", {}).get(name, {}) for row in replays)
                for name in dict.fromkeys(name for row in replays for name in row.get("endpoints", {}))
            },
            "wanted": wanted,
            "compared": compared,
            "share": round(compared / wanted, 4) if wanted else 0.0,
            "set_aside": _added(row.get("set_aside", {}) for row in replays),
            "others": others[:MOST_OTHERS],
            "root_causes": [row for replay in replays for row in replay.get("root_causes", [])],
            "ambiguous": ambiguous,
            "fail_on": next((row.get("fail_on") for row in replays), None),
            "differences": _differences(replays, numbers),
            "plan": sorted(
                (row for replay in replays for row in replay.get("plan", [])),
                key=lambda row: (row["first"], row["worker"] or 0),
            ),
        }
        | _recorded_latency(replays)
        | _load([row["load"] for row in replays if row.get("load")])
    )


def _recorded_latency(replays: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The recorded latencies of all replays by endpoint; nothing where none has them."""
    parts = [replay.get("recorded_latency", {}) for replay in replays]
    names = dict.fromkeys(name for part in parts for name in part)
    rows = {
        name: {"counts": _added(part[name]["counts"] for part in parts if name in part)} for name in names
    }
    return {"recorded_latency": rows} if rows else {}


def too_little(details: Mapping[str, Any], least_share: float) -> str:
    """Why replays as a whole decide nothing; empty where enough was compared."""
    replay = details.get("replay", {})
    if not least_share or (replay["compared"] and replay["compared"] >= least_share * replay["wanted"]):
        return ""
    compared = f"{replay['compared']} of {replay['wanted']} exchanges were compared"
    return f"{compared}, fewer than {least_share:.0%}; the notes say why."


def notes_of_replays(notes: Sequence[Sequence[str]], replay: Mapping[str, Any]) -> Iterator[str]:
    """The notes of several replays, each once; how many exchanges there were is counted anew."""
    counted = False
    for note in dict.fromkeys(note for each in notes for note in each):
        if COUNTS in note:
            if not counted:
                yield _counts(replay)
            counted = True
        else:
            yield note


def _counts(replay: Mapping[str, Any]) -> str:
    states = ", ".join(f"{times} {state}" for state, times in replay["states"].items() if times)
    return f"{replay['recorded']}{COUNTS}{plural(replay['sessions'], 'client')}: {states or 'none'}."


def exceeded_limits(details: Mapping[str, Any]) -> list[str]:
    rows = details.get("replay", {}).get("load", {}).get("limits", [])
    return [str(LimitResult(**row)) for row in rows if row["decision"] == "exceeded"]


def _load(loads: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Loads that went on at the same time, as one: rates are added, histograms merge, and limits are decided
    anew. Nothing where there was none."""
    if not loads:
        return {}
    latencies = reduce(Latencies.merged, (Latencies.of(load["latency"]) for load in loads))
    along = reduce(LatencySlices.merged, (LatencySlices.of(load.get("along", {})) for load in loads))
    limits = dict.fromkeys(row["limit"] for load in loads for row in load["limits"])
    drivers = [load["driver"] for load in loads]
    requests = sum(load["requests"] for load in loads)
    late = sum(load["requests"] * load["driver"]["mean_lag_ms"] for load in loads)
    merged = {
        "rate": sum(load["rate"] for load in loads),
        "ramp_seconds": max(load["ramp_seconds"] for load in loads),
        "passes": sum(load["passes"] for load in loads),
        "requests": requests,
        "reached_rate": round(sum(load["reached_rate"] for load in loads), 3),
        "driver": {
            "mean_lag_ms": round(late / requests, 3) if requests else 0.0,
            "most_lag_ms": max(driver["most_lag_ms"] for driver in drivers),
            "share_of_a_core": max(driver["share_of_a_core"] for driver in drivers),
        },
        "latency": latencies.as_json(),
        "along": along.as_json(),
        "limits": [
            result.as_json() for text in limits for result in LatencyLimit.of(text).decided(latencies)
        ],
    }
    return {"load": merged}


def _added(counts: Any) -> dict[str, int]:
    total: Counter[str] = Counter()
    for row in counts:
        total.update(row)
    return dict(total)


def _differences(replays: Sequence[Mapping[str, Any]], numbers: Sequence[Numbers]) -> list[dict[str, Any]]:
    """Merges equal differences of all replays into one row, gravest first, then in order of appearance."""
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for replay, renumbered in zip(replays, numbers, strict=True):
        for row in replay.get("differences", []):
            key = tuple(row.get(part) for part in ("meaning", "endpoint", "path", "kind", "accepted"))
            shown = [renumbered(number) for number in row.get("exchanges", [])]
            same = rows.get(key)
            if same is None:
                rows[key] = {**row, "exchanges": shown} if "exchanges" in row else dict(row)
                continue
            same["times"] += row["times"]
            if "exchanges" in row:
                same["exchanges"] = sorted([*same["exchanges"], *shown])[:SHOWN_EXCHANGES]
    gravest = ("contradiction", "breaking", "permitted", "drift")
    return sorted(rows.values(), key=lambda row: gravest.index(row["meaning"]))
