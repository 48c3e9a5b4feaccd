"""Shows the trend of a target's runs: as text, and as a page with a column for each run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

import msgspec
from markupsafe import Markup

from conformance.report.across.models import FrozenModel
from conformance.report.formats.html.chart import figure, line, rect
from conformance.report.formats.page import render, with_code
from conformance.report.model.run import VerdictName
from conformance.report.model.visible import one_line
from conformance.report.model.words import day_and_time, plural


class _Started(msgspec.Struct):
    started: str


STARTED = msgspec.json.Decoder(_Started)
"""Reads of a results.json when its run started."""

CONTRADICTED: tuple[VerdictName, ...] = ("fail", "warn")


class Point(FrozenModel):
    """One run of a trend, in requirements."""

    started: str
    verdict: str
    exit_code: int
    impact: str
    passed: int
    failed: int
    warned: int
    open: int
    untested: int
    reports: str = ""
    """The folder in which its reports were written; a later run may have written there since."""

    @property
    def tested(self) -> int:
        """The share of the requirements that was tested, in percent and rounded down; open ones aside."""
        decided = self.passed + self.failed + self.warned
        return 100 * decided // (decided + self.untested) if decided else 0


class RuleTrend(FrozenModel):
    requirement: str
    level: str
    statement: str


class Failing(RuleTrend):
    """A requirement that failed in the newest run that tested it: since which run, and when it last held."""

    verdict: VerdictName
    since: str
    runs: int
    last_held: str | None


class Flaky(RuleTrend):
    """A requirement whose verdict changes back and forth. ``verdicts`` are those of the runs that tested it,
    oldest first."""

    flips: int
    verdicts: list[VerdictName]


class Fixed(RuleTrend):
    """A requirement that failed in ``runs`` runs and has held since."""

    failed_since: str
    fixed_since: str
    runs: int


class Trend(FrozenModel):
    """The runs of one target (a profile, or a URL where there is none), oldest first."""

    target: str
    url: str
    runs: list[Point]
    failing: list[Failing]
    flaky: list[Flaky]
    fixed: list[Fixed] = []


NEVER_PASSED = "never passed here"


def as_text(trends: Sequence[Trend]) -> str:
    """For the terminal: a line for each run, then what fails since when, then what is flaky."""
    blocks = []
    for trend in trends:
        lines = [f"{one_line(trend.target, 160)} · {plural(len(trend.runs), 'run')}"]
        lines += [
            f"  {day_and_time(run.started):<24} {run.verdict:<22} {run.passed} pass · {run.failed} fail"
            f" · {run.warned} warn · {run.untested} untested · {run.tested} % tested"
            for run in trend.runs[-20:]
        ]
        lines += [
            f"  {row.verdict.upper()} {row.requirement} since {day_and_time(row.since)}"
            f" ({plural(row.runs, 'run')}), "
            + (f"last passed {day_and_time(row.last_held)}" if row.last_held else NEVER_PASSED)
            for row in trend.failing
        ]
        lines += [
            f"  flaky {row.requirement}: changed {row.flips} times ({_signs(row.verdicts)})"
            for row in trend.flaky
        ]
        lines += [
            f"  fixed {row.requirement}: failed in {plural(row.runs, 'run')} since"
            f" {day_and_time(row.failed_since)}, passes since {day_and_time(row.fixed_since)}"
            for row in trend.fixed
        ]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n" if blocks else "The history has no run yet.\n"


def as_html(trends: Sequence[Trend], folder: Path | None = None) -> str:
    """One self-contained page, for a folder from which it links to the reports of the runs."""
    failing = any(trend.failing for trend in trends)
    return render(
        "history.html.j2",
        trends=trends,
        drawing=drawing,
        link=partial(report_link, folder=folder),
        with_code=with_code,
        day_and_time=day_and_time,
        signs=_signs,
        tone="bad" if failing else "good",
    )


def report_link(run: Point, *, folder: Path | None) -> str:
    """Where the report of a run is, from the folder of the page; empty where it is none or a later run's."""
    if folder is None or not run.reports:
        return ""
    try:
        started = STARTED.decode((Path(run.reports) / "results.json").read_bytes()).started
        relative = os.path.relpath(Path(run.reports) / "report.html", folder.absolute())
    except (OSError, ValueError, msgspec.MsgspecError):
        return ""
    return quote(relative.replace(os.sep, "/")) if started == run.started else ""


DRAWN_RUNS, LEAST_COLUMNS = 40, 20
"""The newest runs that are drawn, and how many columns there is room for at least."""

COLUMN_SHARE = 0.8
"""The part of its place that a column fills."""

FEW_RUNS = 9
"""Below so many runs there is no room for two days under them on a phone."""

FOOT = 110.0


def drawing(trend: Trend) -> Markup:
    """The newest runs as columns of failures and warnings; a run without any is a green dot."""
    runs = trend.runs[-DRAWN_RUNS:]
    most = max([5, *(run.failed + run.warned for run in runs)])
    step = 100 / max(LEAST_COLUMNS, len(runs))
    words = f"The last {len(runs)} runs: " + ", ".join(f"{run.failed} failed" for run in runs[-10:])
    words += f"; {runs[-1].tested} % tested in the newest" if runs else ""
    columns = [_column(run, at * step, step * COLUMN_SHARE, most) for at, run in enumerate(runs)]
    middles = [(at + COLUMN_SHARE / 2) * step for at in range(len(runs))]
    tested = [(x, FOOT - 88.0 * run.tested / 100) for x, run in zip(middles, runs, strict=True)]
    rule = Markup('<line class="rule" x1="0" y1="110" x2="100%" y2="110"/>')
    shares = [line("share", FOOT, tested)] if len(runs) > 1 else []
    return figure(132, words, *columns, rule, *shares, _ends(runs))


def _column(run: Point, left: float, wide: float, most: int) -> Markup:
    drawn, top = Markup(""), FOOT
    for name, count in (("fail", run.failed), ("warn", run.warned)):
        tall = 88.0 * count / most
        top -= tall
        drawn += rect(f"b-{name}", left, top, width=wide, height=tall)
    middle = left + wide / 2
    if run.exit_code > 1:
        drawn += Markup('<circle class="b-untested" cx="{:.2f}%" cy="104" r="4"/>').format(middle)
    elif top == FOOT:
        drawn += Markup('<circle class="b-pass" cx="{:.2f}%" cy="104" r="4"/>').format(middle)
    else:
        drawn += Markup('<text x="{:.2f}%" y="{:.1f}" text-anchor="middle">{}</text>').format(
            middle, top - 4, run.failed + run.warned
        )
    numbers = f"{run.failed} failed, {run.warned} warned, {run.untested} untested"
    words = f"{day_and_time(run.started)}: {run.verdict}, {numbers}"
    return Markup("<g><title>{}</title>{}</g>").format(words, drawn)


def _ends(runs: Sequence[Point]) -> Markup:
    """The days of the first and the last run."""
    if not runs:
        return Markup("")
    first, last = (day_and_time(run.started).partition(",")[0] for run in (runs[0], runs[-1]))
    ends = Markup('<text x="0" y="126">{}</text>').format(first)
    if len(runs) < FEW_RUNS:
        return ends
    right = 100 * len(runs) / max(LEAST_COLUMNS, len(runs))
    return ends + Markup('<text x="{:.2f}%" y="126" text-anchor="end">{}</text>').format(right, last)


def _signs(verdicts: Sequence[VerdictName]) -> str:
    """The newest verdicts as signs: a dot where the requirement held, a cross where it failed."""
    return "".join("×" if verdict in CONTRADICTED else "·" for verdict in verdicts[-40:])
