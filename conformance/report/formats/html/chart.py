"""Drawings as SVG, as wide as the page, and those of the time that each chapter took."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from conformance.report.model.run import OperationTime
from conformance.report.model.words import duration, plural


def figure(height: float, words: str, *parts: Markup) -> Markup:
    """A drawing that is as wide as the page: places along it are percentages, heights are pixels."""
    drawn = Markup('<svg height="{:.0f}" role="img" aria-label="{}">{}</svg>')
    return drawn.format(height, words, Markup("").join(parts))


def line(css: str, height: float, points: Sequence[tuple[float, float]]) -> Markup:
    """A line through points, each a percentage of the width and pixels from the top."""
    return Markup(
        '<svg viewBox="0 0 100 {0:.0f}" height="{0:.0f}" preserveAspectRatio="none">'
        '<polyline class="{1}" points="{2}"/></svg>'
    ).format(height, css, " ".join(f"{x:.2f},{y:.1f}" for x, y in points))


BAR_HEIGHT = 36


def bars(timings: Sequence[OperationTime]) -> Markup:
    """A bar for each group of endpoints, below its name: the total time of the target, and its median times
    the requests."""
    groups: dict[str, list[OperationTime]] = {}
    for timing in timings:
        groups.setdefault(timing.group, []).append(timing)
    if not groups:
        return Markup("")
    totals = {name: _totals(rows) for name, rows in groups.items()}
    longest = max(total for total, _, _ in totals.values()) or 1.0
    drawn = [_bar(at, name, totals[name], longest) for at, name in enumerate(groups)]
    words = "; ".join(f"{name} {duration(total / 1000)}" for name, (total, _, _) in totals.items())
    return figure(BAR_HEIGHT * len(groups), f"Time per chapter: {words}", *drawn)


def _bar(at: int, name: str, totals: tuple[float, float, str], longest: float) -> Markup:
    top, (total, usual, words) = BAR_HEIGHT * at, totals
    return Markup(
        '<text class="ink" x="0" y="{}">{}</text><text x="100%" y="{}" text-anchor="end">{}</text>'
        '<rect class="bar2" y="{}" width="{:.2f}%" height="11" rx="2"/>'
        '<rect class="bar1" y="{}" width="{:.2f}%" height="11" rx="2"/>'
    ).format(
        top + 12, name, top + 12, words,
        top + 17, max(0.3, 100 * total / longest), top + 17, max(0.3, 100 * usual / longest),
    )  # fmt: skip


def _totals(rows: Sequence[OperationTime]) -> tuple[float, float, str]:
    """The total time of some endpoints in ms, the median times the requests, and the total in words."""
    total = sum(row.total_ms for row in rows)
    usual = min(total, sum(row.median_ms * row.requests for row in rows))
    requests = sum(row.requests for row in rows)
    return total, usual, f"{duration(total / 1000)} in {plural(requests, 'request')}"
