"""The verdict of a run as a badge: the JSON that shields.io draws it from."""

from __future__ import annotations

import json

from conformance.report.model.run import Run
from conformance.report.model.words import Tone, headline, levels

LABEL = "portal conformance"
COLOURS: dict[Tone, str] = {"good": "#2e7d4f", "bad": "#b3372e", "known": "#8a6100", "unsure": "#5f646b"}


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
