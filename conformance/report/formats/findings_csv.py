"""``findings.csv``: a row for each finding, for a spreadsheet or a script."""

from __future__ import annotations

import csv
import io

from conformance.report.formats.finding_text import message_of
from conformance.report.model.run import Run
from conformance.report.model.visible import one_line

COLUMNS = ("requirement", "verdict", "endpoint", "path", "message")
FORMULA = ("=", "+", "-", "@")
"""How a cell begins that a spreadsheet calculates instead of showing it."""


def document(run: Run) -> str:
    """The file: a line of names, then the findings in the order of ``results.json``."""
    csv_text = io.StringIO()
    writer = csv.writer(csv_text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for finding in run.findings:
        cells = (finding.requirement, finding.verdict, finding.endpoint, finding.path, message_of(finding))
        writer.writerow([_cell(cell) for cell in cells])
    return csv_text.getvalue()


def _cell(text: str) -> str:
    """One line without invisible characters, which no spreadsheet takes for a formula."""
    shown = one_line(text, 600)
    return f"'{shown}" if shown.lstrip().startswith(FORMULA) else shown
