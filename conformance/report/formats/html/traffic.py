"""The tables of a check or a replay of recorded traffic: what it covered, and the result of each exchange."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from conformance.report.formats.page import Cells
from conformance.report.model.marked import literal
from conformance.report.model.run import Run
from conformance.report.model.visible import one_line
from conformance.report.model.words import plural
from conformance.traffic.exchange import Json, dig

MOST_ROWS = 150


def tables(run: Run) -> list[Cells]:
    """The tables of the run's ``coverage`` and ``replay``; none where it has neither."""
    extra: Mapping[str, Json] = run.model_extra or {}
    return [table for table in (*_coverage(extra), *_replay(extra)) if table.rows]


def _coverage(extra: Mapping[str, Json]) -> Iterator[Cells]:
    rows: list[tuple[str, ...]]
    answered, missing = _at(extra, "coverage.operations.seen"), _at(extra, "coverage.operations.missing")
    if isinstance(answered, dict) and isinstance(missing, list):
        note = f"{len(answered)} of {len(answered) + len(missing)} were answered"
        heads = ("Endpoint", "Answers")
        yield _table("Endpoints in the traffic", note, heads, _counts(answered, missing))
    codes, unseen = _at(extra, "coverage.codes.seen"), _at(extra, "coverage.codes.missing")
    if isinstance(codes, dict) and isinstance(unseen, list):
        note = f"{plural(len(codes), 'code')} seen, {len(unseen)} of the error table not seen"
        yield _table("Error codes in the traffic", note, ("Code", "Times"), _counts(codes, unseen))
    fields = _at(extra, "coverage.fields")
    if isinstance(fields, dict):
        rows = [
            (
                str(key),
                f"{counts.get('seen')} of {counts.get('of')}",
                ", ".join(map(str, counts.get("missing", [])[:12])),
            )
            for key, counts in fields.items()
            if isinstance(counts, dict) and counts.get("missing")
        ]
        yield _table(
            "Fields never seen", plural(len(rows), "endpoint"), ("Endpoint", "Seen", "Never seen"), rows
        )
    bodies = _at(extra, "coverage.unknown_bodies")
    if isinstance(bodies, dict):
        heads = ("Body", "Times")
        yield _table("Bodies that were not recorded in full", "not judged", heads, _counts(bodies, ()))


def _counts(counts: Mapping[str, Json], missing: Sequence[Json]) -> list[tuple[str, ...]]:
    """Rows of names with their counts, then rows of missing names."""
    rows = [(str(name), str(times)) for name, times in counts.items()]
    return [*rows, *((str(name), "not seen") for name in missing)]


def _replay(extra: Mapping[str, Json]) -> Iterator[Cells]:
    rows: list[tuple[str, ...]]
    others = _at(extra, "replay.others")
    if isinstance(others, list):
        rows = [
            (
                f"#{entry.get('recorded_exchange')}",
                str(entry.get("endpoint")),
                str(entry.get("state")),
                str(entry.get("reason")),
            )
            for entry in others
            if isinstance(entry, dict)
        ]
        heads = ("Recorded", "Endpoint", "State", "Reason")
        yield _table("Not compared, by reason", plural(len(rows), "exchange"), heads, rows)


def _table(title: str, note: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Cells:
    shown = [tuple(one_line(cell, 300) for cell in row) for row in rows[:MOST_ROWS]]
    more = f"; {len(rows) - MOST_ROWS:,} more in results.json" if len(rows) > MOST_ROWS else ""
    return Cells(title=title, note=note + more, heads=heads, rows=shown)


def _at(value: Mapping[str, Json], path: str) -> Json:
    return dig(dict(value), path.split("."))


def ignored_entries(run: Run) -> str:
    """How many entries of the traffic were ignored, by reason; empty where none was."""
    extra: Mapping[str, Json] = run.model_extra or {}
    ignored = extra.get("set_aside")
    if not isinstance(ignored, dict) or not ignored:
        return ""
    return ", ".join(f"{literal(times)} {one_line(str(name), 60)}" for name, times in ignored.items())
