"""Keeps the runs of a target in an embedded database: trend, flaky requirements, since when each fails."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

from conformance.errors import UsageError
from conformance.report.across.trends import CONTRADICTED, Failing, Fixed, Flaky, Point, Trend
from conformance.report.model.failures import failing_rules
from conformance.report.model.run import Run, Since, VerdictName
from conformance.report.model.words import headline
from conformance.spec import present_id

VERSION = 1
TABLES = files("conformance.report.across").joinpath("history.sql").read_text(encoding="utf-8")
MOST_RUNS = 200
"""How many of the newest runs of a target a trend looks at."""

FAILURES = 2
"""How often a requirement must have begun to fail to be flaky: what failed once and was fixed is not."""


def check(path: Path) -> None:
    """Checks that runs can be stored in a file. UsageError: it is no history, or cannot be written."""
    with _database(path):
        pass


def record(run: Run, path: Path, *, reports: Path | None = None) -> None:
    """Adds a run, with the folder of its reports; a run that is there already is skipped. UsageError: the
    file is no history, or cannot be written."""
    with _database(path) as database, database:
        values = {
            "target": target_of(run),
            "url": run.target.url,
            "started": run.started,
            "finished": run.finished,
            "command": run.command,
            "impact": run.impact,
            "strict": run.strict,
            "suite": run.suite.version,
            "exit_code": run.exit_code,
            "headline": headline(run).title,
            "passed": run.summary.pass_,
            "failed": run.summary.fail,
            "warned": run.summary.warn,
            "opened": run.summary.open,
            "untested": run.summary.untested,
        }
        columns, places = ", ".join(values), ", ".join(f":{name}" for name in values)
        row = database.execute(f"INSERT OR IGNORE INTO runs ({columns}) VALUES ({places})", values)
        if row.rowcount != 1:
            return
        if reports is not None:
            folder = str(reports.absolute())
            database.execute("INSERT OR REPLACE INTO reports VALUES (?,?)", (row.lastrowid, folder))
        database.executemany(
            "INSERT INTO verdicts VALUES (?,?,?)",
            [(row.lastrowid, entry.id, entry.verdict) for entry in run.requirements],
        )
        database.executemany(
            "INSERT OR REPLACE INTO requirements VALUES (?,?,?)",
            [(entry.id, entry.level, entry.statement) for entry in run.requirements],
        )


def trend(path: Path) -> list[Trend]:
    """The trend of every target, the newest run's target first. UsageError: there is no such history."""
    if not path.exists():
        raise UsageError(
            f"{path}: there is no such database. `portal-conformance run --history {path}` creates it."
        )
    with _database(path) as database:
        names = database.execute(
            "SELECT target FROM runs GROUP BY target ORDER BY max(started) DESC"
        ).fetchall()
        return [_trend(database, name) for (name,) in names]


def since(run: Run, path: Path) -> Since | None:
    """What changed since the newest run of the same target in a history; None where there is none."""
    if not path.exists():
        return None
    with _database(path) as database:
        row = database.execute(
            "SELECT id, started FROM runs WHERE target = ? AND command = ? AND started < ?"
            " ORDER BY started DESC LIMIT 1",
            (target_of(run), run.command, run.started),
        ).fetchone()
        if row is None:
            return None
        verdicts = database.execute("SELECT requirement, verdict FROM verdicts WHERE run = ?", (row[0],))
        before = {present_id(requirement): verdict for requirement, verdict in verdicts}
    failing = failing_rules(run)
    return Since(
        started=row[1],
        newly_failing=[
            row.id
            for row in run.requirements
            if row.id in failing and before.get(row.id, "untested") not in ("untested", "fail", row.verdict)
        ],
        newly_warned=[
            row.id
            for row in run.requirements
            if row.verdict == "warn" and row.id not in failing and before.get(row.id) in ("pass", "open")
        ],
        fixed=[
            row.id for row in run.requirements if row.verdict == "pass" and before.get(row.id) in CONTRADICTED
        ],
    )


def target_of(run: Run) -> str:
    """The key of a trend: the profile, which stays the same where a port changes; else the URL."""
    return run.target.profile or run.target.url


@contextmanager
def _database(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with closing(sqlite3.connect(path, timeout=30.0)) as database:
            database.row_factory = sqlite3.Row
            database.execute("PRAGMA foreign_keys = ON")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version not in (0, VERSION):
                writer = f"a later version of the suite wrote this history (format {version})"
                raise UsageError(f"{path}: {writer}. Use that version.")
            database.executescript(TABLES)
            database.execute(f"PRAGMA user_version = {VERSION}")
            yield database
    except (sqlite3.DatabaseError, UnicodeDecodeError) as wrong:
        raise UsageError(
            f"{path}: not a history of this suite, or not usable ({wrong}). Choose another file."
        ) from None


def _trend(database: sqlite3.Connection, target: str) -> Trend:
    rows = database.execute(
        "SELECT id, url, started, headline AS verdict, exit_code, impact, passed, failed, warned,"
        " opened AS open, untested, CAST(coalesce(folder, '') AS TEXT) AS reports"
        " FROM runs LEFT JOIN reports ON reports.run = runs.id WHERE target = ?"
        " ORDER BY started DESC LIMIT ?",
        (target, MOST_RUNS),
    ).fetchall()[::-1]
    lines = sorted(_verdict_lines(database, {row["id"]: row["started"] for row in rows}).items())
    rules = {
        present_id(name): {"requirement": present_id(name), "level": level, "statement": statement}
        for name, level, statement in database.execute("SELECT id, level, statement FROM requirements")
    }
    flaky = [
        Flaky(**rules[name], flips=_flips(line), verdicts=[verdict for _, verdict in line])
        for name, line in lines
        if _failures(line) >= FAILURES
    ]
    steady = [(name, line) for name, line in lines if _failures(line) < FAILURES]
    return Trend(
        target=target,
        url=rows[-1]["url"],
        runs=[Point.model_validate(dict(row)) for row in rows],
        failing=[_failing(rules[name], line) for name, line in lines if line[-1][1] in CONTRADICTED],
        flaky=sorted(flaky, key=lambda row: -row.flips),
        fixed=[
            _fixed(rules[name], line)
            for name, line in steady
            if _failures(line) and line[-1][1] not in CONTRADICTED
        ],
    )


def _verdict_lines(
    database: sqlite3.Connection, started: dict[int, str]
) -> dict[str, list[tuple[str, VerdictName]]]:
    """The verdicts of each requirement, oldest first, each with the start of its run."""
    lines: dict[str, list[tuple[str, VerdictName]]] = {}
    marks = ",".join("?" * len(started))
    query = (
        f"SELECT run, requirement, verdict FROM verdicts WHERE run IN ({marks})"
        " AND verdict NOT IN ('untested', 'open')"
    )
    # A damaged file may give rows of other runs, or of none.
    rows = [row for row in database.execute(query, list(started)) if row[0] in started]
    for run, requirement, verdict in sorted(rows, key=lambda row: started[row[0]]):
        lines.setdefault(present_id(requirement), []).append((started[run], verdict))
    return lines


VerdictLine = Sequence[tuple[str, VerdictName]]
"""The verdicts of a requirement, oldest first, each with the start of its run."""


def _failing(rule: Mapping[str, str], line: VerdictLine) -> Failing:
    streak = next((at for at, (_, verdict) in enumerate(reversed(line)) if verdict == "pass"), len(line))
    held = [started for started, verdict in line if verdict == "pass"]
    since, last_held = line[-streak][0], held[-1] if held else None
    return Failing(**rule, verdict=line[-1][1], since=since, runs=streak, last_held=last_held)


def _fixed(rule: Mapping[str, str], line: VerdictLine) -> Fixed:
    failed = [at for at, (_, verdict) in enumerate(line) if verdict in CONTRADICTED]
    first, after = line[failed[0]][0], line[failed[-1] + 1][0]
    return Fixed(**rule, failed_since=first, fixed_since=after, runs=len(failed))


def _failures(line: VerdictLine) -> int:
    """How often it began to fail, after it held or at the first run."""
    bad = [False, *(verdict in CONTRADICTED for _, verdict in line)]
    return sum(after and not before for before, after in pairwise(bad))


def _flips(line: VerdictLine) -> int:
    bad = [verdict in CONTRADICTED for _, verdict in line]
    return sum(before != after for before, after in pairwise(bad))
