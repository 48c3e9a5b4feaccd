"""Several runs side by side: targets or releases across, requirements down, with a badge for each run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from conformance.report.formats import badge
from conformance.report.formats.page import anchor, render, spelled
from conformance.report.model.run import Run, VerdictName
from conformance.report.model.visible import json_text
from conformance.report.model.words import Tone, chapters, day_and_time, headline, numbers


class Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Column(Part):
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


class Row(Part):
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


class Matrix(Part):
    columns: list[Column]
    rows: list[Row]


def matrix(runs: Sequence[Run], names: Sequence[str] = ()) -> Matrix:
    """The runs side by side, in the order given; ``names`` head the columns (default: the target,
    numbered where alike)."""
    titles = _titles(runs, names)
    verdicts = [{entry.id: entry.verdict for entry in run.requirements} for run in runs]
    rows: dict[str, Row] = {}
    for run in runs:
        for chapter in chapters(run):
            for section in chapter.sections:
                for entry in section.requirements:
                    rows.setdefault(
                        entry.id,
                        Row(
                            requirement=entry.id,
                            section=entry.section,
                            level=entry.level,
                            statement=entry.statement,
                            verdicts=[one.get(entry.id) for one in verdicts],
                        ),
                    )
    return Matrix(
        columns=[_column(run, title) for run, title in zip(runs, titles, strict=True)],
        rows=list(rows.values()),
    )


def as_json(found: Matrix) -> str:
    return json_text(found.model_dump(mode="json"))


def as_text(found: Matrix) -> str:
    """The columns with their verdicts, then the requirements that differ or fail."""
    lines = [f"{at:>3}  {one.name}: {one.verdict} ({one.numbers})" for at, one in enumerate(found.columns, 1)]
    told = [row for row in found.rows if row.differs or row.worst in ("fail", "warn")]
    if not told:
        return "\n".join([*lines, "", "No requirement differs, none fails."]) + "\n"
    heads = _across([str(at) for at in range(1, len(found.columns) + 1)])
    lines += ["", f"{'':<16} {heads}"]
    lines += [
        f"{row.requirement:<16} {_across([one or '-' for one in row.verdicts])}  {row.statement}"
        for row in told
    ]
    return "\n".join(lines) + "\n"


def _across(cells: Sequence[str]) -> str:
    return " ".join(f"{cell:>8}" for cell in cells)


def as_html(found: Matrix) -> str:
    """One self-contained page: what differs first, then everything."""
    sections: dict[str, list[Row]] = {}
    for row in found.rows:
        sections.setdefault(row.section, []).append(row)
    bad = any(column.tone == "bad" for column in found.columns)
    return render(
        "matrix.html.j2",
        found=found,
        sections=sections,
        differing=[row for row in found.rows if row.differs or row.worst in ("fail", "warn")],
        tone="bad" if bad else "good",
        spelled=spelled,
        day_and_time=day_and_time,
    )


def write_all(runs: Sequence[Run], out: Path, names: Sequence[str] = ()) -> Matrix:
    """``matrix.html``, ``matrix.json``, and a badge (JSON and SVG) for each run, in a folder made where
    missing."""
    out.mkdir(parents=True, exist_ok=True)
    found = matrix(runs, names)
    (out / "matrix.html").write_text(as_html(found), encoding="utf-8")
    (out / "matrix.json").write_text(as_json(found), encoding="utf-8")
    for run, column in zip(runs, found.columns, strict=True):
        name = f"badge-{anchor(column.name).lower()}"
        (out / f"{name}.json").write_text(badge.shield(run), encoding="utf-8")
        (out / f"{name}.svg").write_text(badge.drawing(run), encoding="utf-8")
    return found


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
    seen: dict[str, int] = {}
    titles = []
    for name in wanted:
        seen[name] = seen.get(name, 0) + 1
        titles.append(f"{name} ({seen[name]})" if counts[name] > 1 else name)
    return titles
