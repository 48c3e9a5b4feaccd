"""A badge says what a run came to, and never more."""

from __future__ import annotations

import json

import pytest

from conformance.report.formats.write import shield, words
from conformance.report.model.run import Run, Scope
from conformance.tests.sample_run import conformant, sample


def test_a_shield_has_the_fields_that_shields_asks_for() -> None:
    badge = json.loads(shield(sample().run()))

    assert badge["schemaVersion"] == 1
    assert badge["label"] == "portal conformance"
    assert badge["message"].startswith("must ")
    assert badge["isError"] is True


@pytest.mark.parametrize(
    "run, said",
    [
        (conformant().run(exit_code=6), "inconclusive"),
        (conformant().run(exit_code=2), "interrupted"),
        (conformant().run(scope=Scope(selection="-k login")), "selection: must "),
        (conformant().run(scope=Scope(bundled=True)), "bundled portal: must "),
    ],
)
def test_a_run_without_a_verdict_of_a_selection_or_of_the_bundled_portal_says_so(run: Run, said: str) -> None:
    assert words(run).startswith(said)
