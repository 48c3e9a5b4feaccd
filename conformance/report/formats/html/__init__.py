"""``report.html``: the whole run on one page that needs no other file."""

from conformance.report.formats.html.run_page import report

__all__ = ["report"]
