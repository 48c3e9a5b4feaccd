"""Several runs side by side."""

from __future__ import annotations

from conformance.report.across.matrix import as_html, as_text, matrix
from conformance.report.across.models import as_json
from conformance.spec import REQUIREMENTS
from conformance.tests.sample_run import conformant, sample


def test_each_requirement_is_a_row_and_each_run_a_column() -> None:
    found = matrix([conformant().run(), sample().run()], ["old", "new"])

    assert sorted(row.requirement for row in found.rows) == sorted(REQUIREMENTS)
    row = next(row for row in found.rows if row.requirement == "PAGE-026")
    assert row.verdicts == ["pass", "fail"]
    assert row.differs


def test_every_form_names_the_runs_and_what_differs() -> None:
    found = matrix([conformant().run(), sample().run()], ["release 1", "release 2"])

    for told in (as_text(found), as_html(found), as_json(found)):
        assert "release 2" in told
        assert "PAGE-026" in told
