"""What a check or a replay of recorded traffic tells besides findings: what it covered, and what became
of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from conformance.report.model.marked import literal
from conformance.report.model.run import Run
from conformance.report.model.visible import one_line
from conformance.report.model.words import plural
from conformance.traffic.exchange import Json, dig

MOST = 150


@dataclass(frozen=True, slots=True)
class Table:
    """A fold of the page: its title, what follows it, and rows of texts under their heads."""

    title: str
    note: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]


def tables(run: Run) -> list[Table]:
    """The tables of the run's ``coverage`` and ``replay``; none where it has neither."""
    extra: Mapping[str, Json] = run.model_extra or {}
    return [table for table in (*_coverage(extra), *_replay(extra)) if table.rows]


def _coverage(extra: Mapping[str, Json]) -> Iterator[Table]:
    rows: list[tuple[str, ...]]
    seen, missing = _at(extra, "coverage.operations.seen"), _at(extra, "coverage.operations.missing")
    if isinstance(seen, dict) and isinstance(missing, list):
        note = f"{len(seen)} of {len(seen) + len(missing)} were seen with an answer"
        rows = [
            *((str(name), str(times)) for name, times in seen.items()),
            *((str(name), "never") for name in missing),
        ]
        yield _table("Endpoints in the traffic", note, ("Endpoint", "Answers"), rows)
    codes, unseen = _at(extra, "coverage.codes.seen"), _at(extra, "coverage.codes.missing")
    if isinstance(codes, dict) and isinstance(unseen, list):
        rows = [
            *((str(name), str(times)) for name, times in codes.items()),
            *((str(name), "never") for name in unseen),
        ]
        note = f"{plural(len(codes), 'code')} seen, {len(unseen)} of the error table never"
        yield _table("Error codes in the traffic", note, ("Code", "Times"), rows)
    fields = _at(extra, "coverage.fields")
    if isinstance(fields, dict):
        rows = [
            (
                str(key),
                f"{one.get('seen')} of {one.get('of')}",
                ", ".join(map(str, one.get("missing", [])[:12])),
            )
            for key, one in fields.items()
            if isinstance(one, dict) and one.get("missing")
        ]
        yield _table(
            "Fields never seen", plural(len(rows), "endpoint"), ("Endpoint", "Seen", "Never seen"), rows
        )
    bodies = _at(extra, "coverage.unknown_bodies")
    if isinstance(bodies, dict):
        rows = [(str(name), str(times)) for name, times in bodies.items()]
        yield _table(
            "Bodies that the record does not hold", "nothing was concluded from them", ("Body", "Times"), rows
        )


def _replay(extra: Mapping[str, Json]) -> Iterator[Table]:
    rows: list[tuple[str, ...]]
    states = _at(extra, "replay.states")
    if isinstance(states, dict):
        rows = [(str(name), str(times)) for name, times in states.items() if times]
        note = f"{_at(extra, 'replay.compared')} of {_at(extra, 'replay.recorded')} compared"
        yield _table("What became of each exchange", note, ("State", "Exchanges"), rows)
    others = _at(extra, "replay.others")
    if isinstance(others, list):
        rows = [
            (
                f"#{one.get('recorded_exchange')}",
                str(one.get("endpoint")),
                str(one.get("state")),
                str(one.get("reason")),
            )
            for one in others
            if isinstance(one, dict)
        ]
        heads = ("Recorded", "Endpoint", "State", "Why")
        yield _table("Not compared, and why", plural(len(rows), "exchange"), heads, rows)
    noise = _at(extra, "replay.noise")
    if isinstance(noise, list):
        rows = [
            (str(one.get("operation")), str(one.get("path")), str(one.get("kind")), str(one.get("times")))
            for one in noise
            if isinstance(one, dict)
        ]
        note = "compared by type, shape or range only"
        yield _table("Differences taken as noise", note, ("Endpoint", "Place", "Kind", "Times"), rows)


def _table(title: str, note: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    shown = [tuple(one_line(cell, 300) for cell in row) for row in rows[:MOST]]
    more = f"; {len(rows) - MOST:,} more in results.json" if len(rows) > MOST else ""
    return Table(title, note + more, heads, shown)


def _at(value: Mapping[str, Json], path: str) -> Json:
    return dig(dict(value), path.split("."))


def set_aside(run: Run) -> str:
    """What of the traffic was not the portal's, in words; nothing where none was."""
    extra: Mapping[str, Json] = run.model_extra or {}
    found = extra.get("set_aside")
    if not isinstance(found, dict) or not found:
        return ""
    return ", ".join(f"{literal(times)} {one_line(str(name), 60)}" for name, times in found.items())
