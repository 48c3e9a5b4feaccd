"""The verdict of a run as a badge: for a shields endpoint (JSON), and drawn (SVG)."""

from __future__ import annotations

import json

from markupsafe import Markup

from conformance.report.model.run import Run
from conformance.report.model.words import Tone, headline, levels

LABEL = "portal conformance"
COLOURS: dict[Tone, str] = {"good": "#2e7d4f", "bad": "#b3372e", "known": "#8a6100", "unsure": "#5f646b"}
WIDE, NARROW = "mwMWABCDEGHKNOQRSUVXYZ@%", "ijlt1.,:;|' ()f/"


def words(run: Run) -> str:
    """``must 271/274`` where the run came to a verdict, else its headline."""
    head = headline(run)
    counts = " · ".join(f"{level} {held}/{of}" for level, held, of in levels(run))
    if head.title == "Selection":
        counts = f"selection: {counts}"
    elif head.tone == "unsure":
        counts = head.title.lower()
    return f"bundled portal: {counts}" if run.scope.bundled else counts


def shield(run: Run) -> str:
    """The JSON that a shields endpoint badge is made from."""
    head = headline(run)
    badge = {
        "schemaVersion": 1,
        "label": LABEL,
        "message": words(run),
        "color": COLOURS[head.tone].lstrip("#"),
    }
    return json.dumps(badge | {"isError": head.tone == "bad"}, ensure_ascii=False) + "\n"


def drawing(run: Run) -> str:
    """The badge as an SVG that needs no other file."""
    message = words(run)
    left, right = _width(LABEL) + 12, _width(message) + 12
    svg = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="20" role="img"'
        ' aria-label="{label}: {message}">'
        '<title>{label}: {message}</title><clipPath id="r"><rect width="{w}" height="20" rx="3"/></clipPath>'
        '<g clip-path="url(#r)"><rect width="{left}" height="20" fill="#3f4348"/>'
        '<rect x="{left}" width="{right}" height="20" fill="{colour}"/></g>'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        '<text x="{a}" y="14">{label}</text><text x="{b}" y="14">{message}</text></g></svg>\n'
    )
    return svg.format(
        w=left + right, left=left, right=right, label=LABEL, message=message,
        a=left / 2, b=left + right / 2, colour=COLOURS[headline(run).tone],
    )  # fmt: skip


def _width(text: str) -> int:
    """About how many pixels the text takes at 11 pixels of height."""
    return round(sum(9.2 if char in WIDE else 4.2 if char in NARROW else 6.9 for char in text))
