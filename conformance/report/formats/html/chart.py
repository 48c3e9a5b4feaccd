"""Drawings as SVG, as wide as the page."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup


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


def rect(css: str, left: float, top: float, *, width: float, height: float) -> Markup:
    """A column: its place along the page and its width are percentages."""
    drawn = Markup('<rect class="{}" x="{:.2f}%" y="{:.1f}" width="{:.2f}%" height="{:.1f}"/>')
    return drawn.format(css, left, top, width, height)
