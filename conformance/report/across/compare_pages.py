"""A comparison of two runs to read: as textand as a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pydantic import JsonValue

from conformance.report.across.compare import Comparison, ReadingChange, TimeChange, VerdictChange
from conformance.report.formats.page import render, with_code
from conformance.report.model.marked import literal
from conformance.report.model.regressions import change_of
from conformance.report.model.run import FindingEntry, ObservationEntry, Regression
from conformance.report.model.visible import one_line
from conformance.report.model.words import day_and_time, listed, plural

MOST_ROWS = 200
MOST_LINES = 40

ID = re.compile(r"^([A-Z]+-\d+) ")
"""An id at the beginning of a line, which is its label on a terminal."""
LABEL = r"\1  "


def as_text(comparison: Comparison) -> str:
    """For the terminal: what is worse last, so that it stands where one looks."""
    scope = comparison.scope_changes
    blocks = [
        [
            f"{name}: {one_line(side.url)}, {day_and_time(side.started)}: {side.verdict} ({side.numbers})"
            for name, side in (("old", comparison.old), ("new", comparison.new))
        ],
        [
            *(f"The runs differ in {row.what}: {one_line(row.old)} → {one_line(row.new)}." for row in scope),
            *selections(comparison),
        ],
        *(
            [title, *(f"  {ID.sub(LABEL, line)}" for line in lines)]
            for title, lines in reversed(list(_blocks(comparison)))
        ),
        [conclusion(comparison)],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def as_html(comparison: Comparison) -> str:
    """One self-contained page of the same look as a run's report."""
    return render(
        "compare.html.j2",
        comparison=comparison,
        conclusion=conclusion(comparison),
        selections=list(selections(comparison)),
        with_code=with_code,
        literal=literal,
        day_and_time=day_and_time,
        tone="bad" if comparison.is_worse else "good",
        most=MOST_ROWS,
    )


def conclusion(comparison: Comparison) -> str:
    counts = [(len(getattr(comparison, name)), words) for name, _, words, _ in BLOCKS]
    parts = [
        plural(count, words) if words.endswith("regression") else f"{count:,} {words}"
        for count, words in counts
        if count and words
    ]
    return ", ".join(parts) if parts else "Nothing changed"


def selections(comparison: Comparison) -> Iterator[str]:
    """What is not listed because one of the runs is a selection, as sentences."""
    for side, rules, title in (
        ("new", comparison.left_out_by_new, "no longer tested"),
        ("old", comparison.left_out_by_old, "newly tested"),
    ):
        if rules:
            tested = f"{plural(len(rules), 'rule')} that only the other run tested"
            yield f"The {side} run is a selection. It leaves out {tested}; none is listed as {title}."


def _blocks(comparison: Comparison) -> Iterator[tuple[str, list[str]]]:
    """Titles with their lines, the worst first."""
    for name, title, _, line in BLOCKS:
        lines = [line(row) for row in getattr(comparison, name)]
        if lines:
            more = [f"and {len(lines) - MOST_LINES:,} more"] if len(lines) > MOST_LINES else []
            yield f"{title} ({len(lines):,})", [*lines[:MOST_LINES], *more]


def _requirement_line(change: VerdictChange) -> str:
    return f"{change.requirement} {one_line(change.statement)}"


def _place_line(place: FindingEntry) -> str:
    return f"{place.requirement} {one_line(place.endpoint)}: {one_line(place.message)}"


def _reading_line(change: ReadingChange) -> str:
    if change.differences:
        return f"{change.key}: {one_line('; '.join(change.differences))}"
    if len(change.gone) < len(change.old) or len(change.added) < len(change.new):
        still = [value for value in change.new if value not in change.added]
        parts = [("no longer", change.gone), ("new", change.added), ("still", still)]
        return (
            f"{change.key}: {'; '.join(f'{word} {one_line(_values(each))}' for word, each in parts if each)}"
        )
    return f"{change.key}: {one_line(_values(change.old))} is now {one_line(_values(change.new))}"


def _observation_line(observation: ObservationEntry) -> str:
    observed = one_line(literal(observation.observed, 120))
    return f"{one_line(observation.topic)}: {observed} ({one_line(observation.endpoint)})"


def _change_line(change: VerdictChange) -> str:
    where = f": {one_line(listed(change.endpoints, 3))}" if change.endpoints else ""
    verdicts = f"{change.old or 'missing'} → {change.new or 'missing'}"
    return f"{change.requirement} {one_line(change.statement)} ({verdicts}){where}"


def _regression_line(regression: Regression) -> str:
    change = change_of(regression, 80, quoted=one_line)
    return f"{one_line(regression.endpoint)} {one_line(regression.path)} {regression.kind}: {change}"


def _time_line(change: TimeChange) -> str:
    times = f"{change.old_ms:,.0f} ms → {change.new_ms:,.0f} ms"
    return f"{one_line(change.endpoint)}: {times}{f' ({change.times})' if change.times else ''}"


def _values(values: list[JsonValue]) -> str:
    return " and ".join(literal(value, 80) for value in values) or "nothing"


BLOCKS: tuple[tuple[str, str, str, Callable[..., str]], ...] = (
    ("newly_failing", "Newly failing", "newly failing", _change_line),
    ("new_places", "Failing in a new place", "failing in a new place", _place_line),
    ("new_regressions", "New regressions", "new regression", _regression_line),
    ("new_warnings", "New warnings", "newly warned", _change_line),
    ("changed_readings", "Changed readings", "with a changed reading", _reading_line),
    ("slower", "Slower", "slower", _time_line),
    ("no_longer_tested", "No longer tested", "no longer tested", _requirement_line),
    ("newly_tested", "Newly tested", "newly tested", _requirement_line),
    ("new_observations", "New observations", "", _observation_line),
    ("fixed", "Fixed", "fixed", _requirement_line),
    ("gone_places", "No longer failing there", "", _place_line),
    ("fixed_regressions", "No longer regressed", "", _regression_line),
    ("faster", "Faster", "", _time_line),
)
"""The changes, the worst first: field, title, the words after their number, and the line of one."""
