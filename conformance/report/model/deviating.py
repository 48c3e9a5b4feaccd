"""Deviations from descriptions in words: another authority than the specification."""

from __future__ import annotations

from conformance.report.model.run import FindingEntry, Run
from conformance.verdicts.deviations import LEARNED, YOURS

SUBJECTS = {YOURS: "your description", LEARNED: "what was learned, which nobody has accepted"}
"""What answers differ from, by authority."""

LABELS = {YOURS: "DIFFERS", LEARNED: "DRIFT"}


def label_of(finding: FindingEntry) -> str:
    """What stands before a finding: its verdict, or which authority a deviation differs from."""
    return LABELS.get(finding.requirement.partition("-")[0], finding.verdict.upper())


def unaccepted_deviations(run: Run, authority: str = "") -> list[FindingEntry]:
    """The deviations, or those of an authority, that no row of the baseline lists."""
    accepted = {entry.signature for entry in run.baseline.known} if run.baseline else set()
    rows = (row for row in run.deviations if row.requirement.startswith(authority))
    return [row for row in rows if row.signature not in accepted]


def deviations_in_words(run: Run) -> str:
    """``differs from your description, in 3 places``; empty where nothing differs."""
    parts = []
    for authority, subject in SUBJECTS.items():
        count = sum(row.requirement.startswith(authority) for row in run.deviations)
        accepted = count - len(unaccepted_deviations(run, authority))
        listed = f", {accepted:,} of them in the baseline" if accepted else ""
        if count:
            parts.append(f"differs from {subject}, in {count:,} place{'s' * (count > 1)}{listed}")
    return "; ".join(parts)
