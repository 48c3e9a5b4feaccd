"""Shows several runs side by side: targets or releases as columns, requirements as rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.report.across.models import FrozenModel
from conformance.report.formats.page import render, with_code
from conformance.report.model.run import Run, VerdictName
from conformance.report.model.visible import json_text
from conformance.report.model.words import Tone, chapters, day_and_time, headline, numbers
from conformance.traffic.replacing import write_report


class Column(FrozenModel):
    """One run. ``name`` is unique among the columns."""

    name: str
    url: str
    profile: str | None
    started: str
    impact: str
    verdict: str
    tone: Tone
    numbers: str
    exit_code: int


class MatrixRow(FrozenModel):
    """One requirement with its verdict in each run, None where a run does not know it."""

    requirement: str
    section: str
    level: str
    statement: str
    verdicts: list[VerdictName | None]

    @property
    def differs(self) -> bool:
        return len(set(self.verdicts)) > 1

    @property
    def worst(self) -> VerdictName:
        order: tuple[VerdictName, ...] = ("fail", "warn", "untested", "open", "pass")
        return next(verdict for verdict in order if verdict in self.verdicts)


class RunMatrix(FrozenModel):
    columns: list[Column]
    rows: list[MatrixRow]

    @property
    def differing(self) -> list[MatrixRow]:
        """What differs or fails: first what fails in the most runs, then what warns, then the others."""
        shown = [row for row in self.rows if row.differs or row.worst in ("fail", "warn")]
        return sorted(shown, key=lambda row: (-row.verdicts.count("fail"), -row.verdicts.count("warn")))


def matrix(runs: Sequence[Run], names: Sequence[str] = ()) -> RunMatrix:
    """The runs side by side, in their order; ``names`` head the columns (default: the target,
    numbered where two are equal)."""
    titles = _titles(runs, names)
    verdicts = [{entry.id: entry.verdict for entry in run.requirements} for run in runs]
    rows: dict[str, MatrixRow] = {}
    for run in runs:
        for chapter in chapters(run):
            for section in chapter.sections:
                for entry in section.requirements:
                    rows.setdefault(
                        entry.id,
                        MatrixRow(
                            requirement=entry.id,
                            section=entry.section,
                            level=entry.level,
                            statement=entry.statement,
                            verdicts=[decided.get(entry.id) for decided in verdicts],
                        ),
                    )
    return RunMatrix(
        columns=[_column(run, title) for run, title in zip(runs, titles, strict=True)],
        rows=list(rows.values()),
    )


def as_json(runs_matrix: RunMatrix) -> str:
    return json_text(runs_matrix.model_dump(mode="json"))


def as_text(runs_matrix: RunMatrix) -> str:
    """The columns with their verdicts, then the requirements that differ or fail."""
    lines = [
        f"{at:>3}  {column.name}: {column.verdict} ({column.numbers})"
        for at, column in enumerate(runs_matrix.columns, 1)
    ]
    shown = runs_matrix.differing
    if not shown:
        return "\n".join([*lines, "", "No requirement differs between the runs, and none fails."]) + "\n"
    heads = _across([str(at) for at in range(1, len(runs_matrix.columns) + 1)])
    lines += ["", f"{'':<16} {heads}"]
    lines += [
        f"{row.requirement:<16} {_across([column or '-' for column in row.verdicts])}  {row.statement}"
        for row in shown
    ]
    return "\n".join(lines) + "\n"


def _across(cells: Sequence[str]) -> str:
    return " ".join(f"{cell:>8}" for cell in cells)


def as_html(runs_matrix: RunMatrix) -> str:
    """One self-contained page: what differs first, then everything."""
    sections: dict[str, list[MatrixRow]] = {}
    for row in runs_matrix.rows:
        sections.setdefault(row.section, []).append(row)
    bad = any(column.tone == "bad" for column in runs_matrix.columns)
    return render(
        "matrix.html.j2",
        matrix=runs_matrix,
        sections=sections,
        differing=runs_matrix.differing,
        tone="bad" if bad else "good",
        with_code=with_code,
        day_and_time=day_and_time,
    )


def write_all(runs_matrix: RunMatrix, out: Path) -> None:
    """Writes ``matrix.html`` and ``matrix.json`` to a folder, which is created where it is missing."""
    out.mkdir(parents=True, exist_ok=True)
    write_report(out / "matrix.html", as_html(runs_matrix))
    write_report(out / "matrix.json", as_json(runs_matrix))


def _column(run: Run, title: str) -> Column:
    head = headline(run)
    return Column(
        name=title,
        url=run.target.url,
        profile=run.target.profile,
        started=run.started,
        impact=run.impact,
        verdict=head.title,
        tone=head.tone,
        numbers=numbers(run),
        exit_code=run.exit_code,
    )


def _titles(runs: Sequence[Run], names: Sequence[str]) -> list[str]:
    """A name for each run; the same name twice gets a number."""
    wanted = [
        names[at] if at < len(names) else run.target.url.partition("://")[2] or run.target.url
        for at, run in enumerate(runs)
    ]
    counts = {name: wanted.count(name) for name in wanted}
    used: dict[str, int] = {}
    titles = []
    for name in wanted:
        used[name] = used.get(name, 0) + 1
        titles.append(f"{name} ({used[name]})" if counts[name] > 1 else name)
    return titles
