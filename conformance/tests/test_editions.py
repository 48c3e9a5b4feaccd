"""An edition is frozen: what a run makes of it stays the same, whatever becomes of the rules."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from conformance.editions import EDITIONS, FOLDER, LEVELS, rules_of
from conformance.report.across.baseline import Baseline
from conformance.report.model.edition import edition_outcome
from conformance.report.model.run import EditionOutcome, Ending, Run, Scope
from conformance.report.model.words import MUSTS, edition_in_words
from conformance.run.testable import TESTABLE
from conformance.spec import REQUIREMENTS
from conformance.tests.sample_run import conformant, row_of, sample
from conformance.tests.test_report_finish import finished

RELEASED = {"2026.1": "bfb82019435c04b18183f715a9ae65a670f71897b173e721f8b0eb05c461b951"}
STRICT = Scope(edition="2026.1", edition_level="strict")


def outcome(run: Run) -> EditionOutcome:
    found = edition_outcome(run)
    assert found is not None
    return found


def altered(run: Run, rule: str, **changes: object) -> Run:
    """The run with another row of one rule."""
    rows = [row.model_copy(update=changes) if row.id == rule else row for row in run.requirements]
    return run.model_copy(update={"requirements": rows})


def test_no_released_edition_has_changed() -> None:
    files = {name: FOLDER.joinpath(f"{name}.toml").read_bytes() for name in EDITIONS}

    assert {name: sha256(content).hexdigest() for name, content in files.items()} == RELEASED


def test_the_levels_hold_what_they_are_named_for() -> None:
    core, full, strict = (set(rules_of("2026.1", level)) for level in LEVELS)

    assert core < full < strict
    assert len(rules_of("2026.1", "strict")) == len(strict)
    assert full == MUSTS
    assert strict == {rule for rule in TESTABLE if REQUIREMENTS[rule].level != "open"}


def conforming() -> Run:
    """A run in which each rule of the edition held."""
    run = conformant().run(scope=STRICT)
    for rule in outcome(run).untested:
        run = altered(run, rule, verdict="pass")
    return run


def in_words(run: Run) -> str:
    return edition_in_words(run.model_copy(update={"edition": outcome(run)}))


def test_a_run_in_which_everything_held_conforms() -> None:
    run = conformant().run(scope=STRICT)

    tested = [row.id for row in run.requirements if row.verdict == "pass"]
    assert set(outcome(run).untested) == set(rules_of("2026.1", "strict")) - set(tested)
    assert outcome(conforming()).conforms
    assert in_words(conforming()) == "conforms to 2026.1, Strict"


CONTRADICTED = "PAGE-026"


@pytest.mark.parametrize(
    "changes",
    [{"level": "should"}, {"level": "open", "verdict": "open"}, {"statement": "Another."}, {"section": "9"}],
)
def test_a_change_of_a_rule_changes_no_result_of_an_edition(changes: dict[str, str]) -> None:
    run = sample().run(scope=STRICT)
    before = outcome(run)

    after = outcome(altered(run, CONTRADICTED, **changes))

    assert CONTRADICTED in before.contradicted
    assert after == before


def test_a_rule_that_is_newer_is_not_scored() -> None:
    run = sample().run(scope=STRICT)
    newer = run.requirements[0].model_copy(update={"id": "PAGE-999", "level": "must", "verdict": "fail"})

    after = run.model_copy(update={"requirements": [*run.requirements, newer]})

    assert outcome(after) == outcome(run).model_copy(update={"not_scored": ["PAGE-999"]})
    assert in_words(after).endswith("; 1 newer rule not scored")


@pytest.mark.parametrize(
    "changes",
    [
        {"scope": STRICT.model_copy(update={"selection": "--only must"})},
        {"ending": Ending(interrupted=True)},
        {"ending": Ending(inconclusive="Too little.")},
        {"ending": Ending(errors={"check x": "ValueError"})},
    ],
)
def test_a_selection_and_a_run_that_did_not_end_well_never_conform(changes: dict[str, object]) -> None:
    run = conforming().model_copy(update=changes)

    assert not outcome(run).conforms
    assert "does not conform" in in_words(run)


def test_a_row_of_a_baseline_hides_no_contradiction_from_an_edition(tmp_path: Path) -> None:
    listing = Baseline("known.toml", tuple(map(row_of, sample().run().findings)))

    run = finished(sample(), tmp_path, baseline=listing, scope=STRICT)

    assert run.exit_code == 0
    assert run.edition is not None
    assert CONTRADICTED in run.edition.contradicted
    for name in ("summary.md", "report.html"):
        assert "does not conform to 2026" in (tmp_path / name).read_text(encoding="utf-8").replace("\\", "")


def test_a_run_without_an_edition_says_nothing_of_one(tmp_path: Path) -> None:
    run = finished(conformant(), tmp_path)

    assert run.edition is None
    assert "edition" not in run.dump()
    assert edition_in_words(run) == ""
