"""Shows several runs side by side: targets or releases as columns, requirements as rows."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.report.across.models import ComparedRun, FrozenModel
from conformance.report.formats.page import render, with_code
from conformance.report.model.run import VERDICTS, Run, VerdictName
from conformance.report.model.words import Tone, chapters, day_and_time, headline


class Column(ComparedRun):
    """One run. ``name`` is unique among the columns."""

    name: str
    tone: Tone


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
        return next(verdict for verdict in VERDICTS if verdict in self.verdicts)


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
    entries = {
        entry.id: entry
        for run in reversed(runs)
        for chapter in reversed(chapters(run))
        for section in reversed(chapter.sections)
        for entry in reversed(section.requirements)
    }
    rows = [
        MatrixRow(
            requirement=entry.id,
            section=entry.section,
            level=entry.level,
            statement=entry.statement,
            verdicts=[decided.get(entry.id) for decided in verdicts],
        )
        for entry in reversed(entries.values())
    ]
    return RunMatrix(
        columns=[
            Column.of(run, name=title, tone=headline(run).tone)
            for run, title in zip(runs, titles, strict=True)
        ],
        rows=rows,
    )


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
