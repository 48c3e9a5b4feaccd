"""A badge says what a run came to, and never more."""

from __future__ import annotations

import json

from conformance.report.formats.write import shield, words
from conformance.report.model.run import Scope
from conformance.tests.sample_run import conformant, sample


def test_a_shield_has_the_fields_that_shields_asks_for() -> None:
    badge = json.loads(shield(sample().run()))

    assert badge["schemaVersion"] == 1
    assert badge["label"] == "portal conformance"
    assert badge["message"].startswith("must ")
    assert badge["isError"] is True


def test_a_run_without_a_verdict_shows_no_numbers() -> None:
    assert words(conformant().run(exit_code=6)) == "inconclusive"
    assert words(conformant().run(exit_code=2)) == "interrupted"


def test_a_badge_of_a_selection_or_of_the_bundled_portal_says_so() -> None:
    selected = conformant().run(scope=Scope(selection="-k login"))
    bundled = conformant().run(scope=Scope(bundled=True))

    assert words(selected).startswith("selection: must ")
    assert words(bundled).startswith("bundled portal: must ")
    assert json.loads(shield(selected))["color"] == json.loads(shield(conformant().run(exit_code=5)))["color"]
