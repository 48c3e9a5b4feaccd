"""Differences of a replay grouped by meaning, one row for each cause."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from conformance.report.formats.page import Cells
from conformance.report.model.json_differences import differences_in
from conformance.report.model.marked import literal
from conformance.report.model.regressions import (
    BESIDE,
    answers_in,
    by_cause,
    difference_id,
    kind_in_words,
    pattern_of,
)
from conformance.report.model.run import Run
from conformance.report.model.visible import one_line
from conformance.report.model.words import answers_in_words, listed, plural
from conformance.spec import REQUIREMENTS
from conformance.traffic.exchange import Json, dig

TITLES = {
    "contradiction": (
        "Contradictions",
        "The replayed answer contradicts the specification, and the recorded one did not.",
    ),
    "breaking": (
        "Breaking changes",
        "No answer contradicts a must; a client of the recorded portal may not work any more.",
    ),
    "permitted": (
        "Permitted changes",
        "The specification leaves them open, and a tolerant client does not care.",
    ),
    "drift": ("Drift", "State, time and data: what differs from one replay of the same build to the next."),
    "": ("Regressions", "The answers are other ones than were recorded."),
}
"""The groups, the gravest first, each with what it means."""

MOST_ROWS = 200
MOST_ENDPOINTS = 100
MOST_NUMBERS = 6

Row = Mapping[str, Any]


def difference_groups(run: Run) -> list[Cells]:
    """The groups that have rows; the gravest are open."""
    numbers = _numbers(run)
    by_meaning: dict[str, list[list[Row]]] = {name: [] for name in TITLES}
    for rows in by_cause(_rows(run)):
        by_meaning.get(str(rows[0].get("meaning", "")), by_meaning[""]).append(rows)
    return [_group(name, causes, numbers) for name, causes in by_meaning.items() if causes]


def differing_places(recorded: Json, replayed: Json) -> list[Cells]:
    """The places that differ between two long values; none where the values themselves are shown."""
    return [
        Cells(path=each.path, recorded=each.old or "nothing", replayed=each.new or "nothing")
        for each in differences_in(recorded, replayed)
    ]


def _rows(run: Run) -> Iterable[Row]:
    """The differences that the replay grouped; else its regressions, a row for each place."""
    rows = dig(run.model_extra, ("replay", "differences"))
    if isinstance(rows, list) and rows:
        return [row for row in rows if isinstance(row, dict)]
    places: dict[tuple[str, str, str], dict[str, Any]] = {}
    for each in run.regressions:
        key = (each.endpoint, pattern_of(each.path), each.kind)
        facts = {**each.model_dump(), "id": difference_id(each), "path": key[1]}
        row = places.setdefault(key, {**facts, "times": 0, "exchanges": []})
        if each.exchange not in row["exchanges"]:
            row["exchanges"].append(each.exchange)
            row["times"] += 1
    return places.values()


def _numbers(run: Run) -> dict[int, int]:
    """Maps exchange numbers of the replay to those of the recording, for all regressions."""
    pairs = ((each.exchange, (each.model_extra or {}).get("recorded_exchange")) for each in run.regressions)
    return {replayed: recorded for replayed, recorded in pairs if replayed and isinstance(recorded, int)}


def _group(name: str, causes: Sequence[Sequence[Row]], numbers: Mapping[int, int]) -> Cells:
    rows = [row for cause in causes for row in cause]
    is_counted = name != "drift"
    places = plural(sum(1 + (BESIDE in row) for row in rows), "place")
    extent = f"in {answers_in_words(rows)}" if is_counted else plural(_times(rows), "difference")
    title, hint = TITLES[name]
    more = len(causes) - MOST_ROWS
    return Cells(
        name=name or "other",
        title=title,
        hint=hint,
        words=f"{plural(len(causes), 'cause')} at {places}, {extent}",
        unit="Answers" if is_counted else "Differences",
        open=name in ("contradiction", "breaking", ""),
        rows=[_row(rows, numbers) for rows in causes[:MOST_ROWS]],
        more=f"{more:,} more in results.json." if more > 0 else "",
    )


def _row(rows: Sequence[Row], numbers: Mapping[int, int]) -> Cells:
    first = rows[0]
    both = [first, first[BESIDE]] if BESIDE in first else [first]
    kind, basis = str(first.get("kind", "")), str(first.get("basis", ""))
    endpoints = list(dict.fromkeys(one_line(str(row.get("endpoint", "")), 200) for row in rows))
    places = differing_places(first.get("recorded"), first.get("replayed"))
    if len(both) > 1:
        places = [_values(row) for row in both]
    has_values, path = "recorded" in first, one_line(str(first.get("path", "")), 200)
    return Cells(
        what=" and ".join(
            kind_in_words(str(row.get("kind", "")), row.get("recorded"), row.get("replayed")) for row in both
        ),
        ids=listed(
            dict.fromkeys(each["id"] for row in rows for each in (row, row.get(BESIDE, {})) if "id" in each),
            MOST_NUMBERS,
        ),
        path="" if len(both) > 1 else path if len(rows) == 1 else path.rpartition(".")[2],
        endpoints=endpoints[:MOST_ENDPOINTS],
        more_endpoints=max(0, len(endpoints) - MOST_ENDPOINTS),
        times=_count(rows),
        exchanges=_exchanges(rows, numbers),
        places=places,
        recorded=_side(first, "recorded", is_missing=kind == "extra") if has_values else "",
        replayed=_side(first, "replayed", is_missing=kind == "missing") if has_values else "",
        varies=bool(first.get("varies")),
        basis=one_line(basis, 300),
        statement=REQUIREMENTS[basis].statement if basis in REQUIREMENTS else "",
        other=_other(first.get("other")),
        accepted=one_line(str(first.get("accepted") or ""), 200),
    )


def _other(place: Any) -> str:
    if not isinstance(place, Mapping):
        return ""
    return one_line(f"{place.get('endpoint', '')} {place.get('path', '')}", 200)


def _times(rows: Sequence[Row]) -> int:
    return sum(int(row.get("times", 0)) for row in rows)


def _count(rows: Sequence[Row]) -> str:
    """How many answers show the rows; of drift, which names none, how many differences there are."""
    if rows[0].get("meaning") == "drift":
        return f"{_times(rows):,}"
    count, is_exact = answers_in(rows)
    return f"{'' if is_exact else '≥ '}{count:,}"


def _values(row: Row) -> Cells:
    """A place of several that differ together."""
    return Cells(
        path=str(row.get("path", "")),
        recorded=literal(row.get("recorded"), 160),
        replayed=literal(row.get("replayed"), 160),
    )


def _side(row: Row, name: str, *, is_missing: bool) -> str:
    return "nothing" if is_missing else literal(row.get(name), 160)


def _exchanges(rows: Sequence[Row], numbers: Mapping[int, int]) -> list[str]:
    """Links to the first exchanges: the recorded number, if available, and the replayed one."""
    shown = [number for row in rows for number in row.get("exchanges") or [] if number]
    pairs = [
        f"#{numbers[number]} → #{number}" if number in numbers else f"#{number}"
        for number in dict.fromkeys(shown)
    ]
    more = [f"and {len(pairs) - MOST_NUMBERS:,} more"] if len(pairs) > MOST_NUMBERS else []
    return [*pairs[:MOST_NUMBERS], *more]
