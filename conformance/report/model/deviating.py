"""Deviations from descriptions in words: the user's own authority, beside the specification's verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.report.model.marked import literal
from conformance.report.model.run import DeviationEntry, Run
from conformance.report.model.visible import one_line
from conformance.verdicts.wording import expected_in_words, in_words

SUBJECTS = {"description": "your description", "learned": "what was learned, which nobody has accepted"}
"""What answers differ from, by authority."""


def unaccepted_deviations(run: Run, authority: str = "description") -> list[DeviationEntry]:
    """The deviations of an authority that no row of the baseline lists."""
    accepted = {entry.signature for entry in run.baseline.known} if run.baseline else set()
    return [row for row in run.deviations if row.authority == authority and row.signature not in accepted]


def deviations_in_words(run: Run) -> str:
    """``differs from your description in 3 places``; empty where nothing differs."""
    parts = []
    for authority, subject in SUBJECTS.items():
        rows = [row for row in run.deviations if row.authority == authority]
        new = unaccepted_deviations(run, authority)
        accepted = f", {len(rows) - len(new):,} of them in the baseline" if len(new) < len(rows) else ""
        if rows:
            places = "1 place" if len(rows) == 1 else f"{len(rows):,} places"
            parts.append(f"differs from {subject}, in {places}{accepted}")
    return "; ".join(parts)


def deviation_in_words(row: DeviationEntry) -> str:
    """``data.balance: expected a value of type string, seen 12``."""
    expected = expected_in_words(row.expected, literal) or literal(row.expected, 300)
    seen = in_words(row.actual, literal) or literal(row.actual, 160)
    times = f", {row.times:,} times" if row.times > 1 else ""
    return one_line(f"{row.path or 'the body'}: expected {expected}, seen {seen}{times}", 600)


def deviation_cells(run: Run) -> list[Sequence[str]]:
    """Rows of a table: authority, endpoint, rule, what differs, the exchanges, where it is described, the
    id."""
    return [
        (
            "yours" if row.authority == "description" else "learned",
            one_line(row.endpoint, 160),
            row.rule,
            deviation_in_words(row),
            ", ".join(f"#{number}" for number in row.exchanges),
            one_line(row.source, 200),
            row.id,
        )
        for row in run.deviations
    ]
