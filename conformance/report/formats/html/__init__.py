"""``report.html``: the whole run on one page that needs no other file."""

from pathlib import Path

from conformance.report.formats.html.run_page import report
from conformance.traffic.replacing import replace_file

__all__ = ["link_cases", "report"]

PLACE = "<!--cases-->"
"""Where the footer links to pytest-html's page, which exists only after the reports were written."""


def link_cases(folder: Path, name: str) -> None:
    """Links the page of a folder to pytest-html's, which stands beside it. OSError."""
    page = folder / "report.html"
    text = page.read_text(encoding="utf-8")
    link = f' <a href="{name}">The cases one by one, by pytest-html</a>.'
    replace_file(page, text.replace(PLACE, link, 1))
