"""The differences of a replay on the page, by what they mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from conformance.report.formats.html.cells import Cells, cells
from conformance.report.model.json_differences import differences_in
from conformance.report.model.marked import literal
from conformance.report.model.run import Run
from conformance.report.model.visible import one_line
from conformance.report.model.words import plural
from conformance.traffic.exchange import Json, dig

TITLES = {
    "contradiction": "Contradictions",
    "breaking": "Breaking changes",
    "permitted": "Permitted changes",
    "drift": "Drift",
}
"""The groups, the gravest first."""

MOST_ROWS = 200


def difference_groups(run: Run) -> list[Cells]:
    """The groups that have rows; the first two are open."""
    rows = dig(run.model_extra, ("replay", "differences"))
    if not isinstance(rows, list):
        return []
    by_meaning = {
        name: [row for row in rows if isinstance(row, dict) and row.get("meaning") == name] for name in TITLES
    }
    return [_group(name, found) for name, found in by_meaning.items() if found]


def differing_places(recorded: Json, replayed: Json) -> list[Cells]:
    """The places that differ between two long values; none where the values themselves are shown."""
    return [
        cells(path=each.path, recorded=each.old or "nothing", replayed=each.new or "nothing")
        for each in differences_in(recorded, replayed)
    ]


def _group(name: str, rows: Sequence[dict[str, Any]]) -> Cells:
    answers = sum(int(row.get("times", 0)) for row in rows)
    more = len(rows) - MOST_ROWS
    return cells(
        title=TITLES[name],
        words=f"{plural(len(rows), 'place')}, {plural(answers, 'answer')}",
        open=name in ("contradiction", "breaking"),
        rows=[_row(row) for row in rows[:MOST_ROWS]],
        more=f"{more:,} more in results.json." if more > 0 else "",
    )


def _row(row: dict[str, Any]) -> Cells:
    has_values = "recorded" in row
    return cells(
        endpoint=one_line(str(row.get("endpoint", "")), 200),
        path=one_line(str(row.get("path", "")), 200),
        kind=str(row.get("kind", "")),
        times=f"{int(row.get('times', 0)):,}",
        places=differing_places(row.get("recorded"), row.get("replayed")),
        recorded=literal(row.get("recorded"), 160) if has_values else "",
        replayed=literal(row.get("replayed"), 160) if has_values else "",
        basis=one_line(str(row.get("basis", "")), 300),
        accepted=one_line(str(row.get("accepted") or ""), 200),
    )
