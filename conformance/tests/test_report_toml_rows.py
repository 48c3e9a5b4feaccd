"""A baseline is updated and pruned in place: comments, order and line ends of what stays are kept."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from conformance.errors import UsageError
from conformance.report.across import accepted
from conformance.report.across.baseline import (
    ABOUT_GONE,
    Baseline,
    KnownFailure,
    initial_baseline,
    load,
    write,
)
from conformance.report.across.baseline_update import against_baseline, prune, update
from conformance.report.model.run import Regression
from conformance.tests.sample_run import INITIATE, conformant, sample

DATA = f"ENV-008 {INITIATE} data"
OURS = f"""\
# Owned by team A; ask before you add a row.

# the error handler, see the wiki
[[known]] # oldest
signature = "{DATA}"
requirement = "ENV-008"   # the envelope
reason = 'fixed in 7'
# until then

# --- undecided ---

[[known]]
requirement = "ZZZ-001"
signature = "ZZZ-001 GET /z"
reason = \"\"\"of two lines:
[[known]]
# no comment\"\"\"
"""


def updated(text: str, path: Path, *, failing: bool) -> str:
    path.write_bytes(text.encode())
    run = (sample() if failing else conformant()).run()
    write(update(run, load(path)), path)
    return path.read_bytes().decode()


def test_an_update_keeps_comments_order_and_form_of_what_stays(tmp_path: Path) -> None:
    after = updated(OURS, tmp_path / "known.toml", failing=True)

    assert after.startswith(OURS)
    assert len(load(tmp_path / "known.toml").entries) == 6
    assert updated(after, tmp_path / "known.toml", failing=True) == after


def test_line_ends_stay_as_they_are(tmp_path: Path) -> None:
    after = updated(OURS.replace("\n", "\r\n"), tmp_path / "known.toml", failing=True)

    assert after == updated(OURS, tmp_path / "other.toml", failing=True).replace("\n", "\r\n")


def test_an_entry_that_is_set_aside_and_returns_keeps_its_comments(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"

    fixed = updated(OURS, file, failing=False)
    assert [entry.signature for entry in load(file).gone] == [DATA]
    assert ABOUT_GONE in fixed
    lead = "# the error handler, see the wiki\n[[gone]] # oldest\n"
    assert lead in fixed
    assert fixed.index("# --- undecided ---") < fixed.index(lead)

    again = updated(fixed, file, failing=True)
    assert "[[known]] # oldest" in again
    assert "# until then" in again
    assert ABOUT_GONE not in again
    assert load(file).gone == ()


def test_rows_of_several_tables_stay_in_the_order_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    row = '[[regression]]\nendpoint = "GET /a"\npath = "data"\nkind = "value"\nreason = "r"\n\n'
    known = '[[known]]\nrequirement = "ZZZ-00N"\nsignature = "ZZZ-00N x"\nreason = "r"\n\n'
    text = known.replace("N", "1") + row + known.replace("N", "2") + row.replace("/a", "/b").rstrip() + "\n"

    assert updated(text, file, failing=False) == text


def test_a_value_that_changes_is_replaced_and_the_rest_of_its_row_stays(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(OURS, encoding="utf-8")
    first, second = load(file).entries
    later = replace(first, expires=date(2030, 1, 31))

    write(Baseline(str(file), (later, second)), file)

    assert file.read_text() == OURS.replace("# until then\n", "# until then\nexpires = 2030-01-31\n")


def test_pruning_removes_what_no_longer_fails_with_its_comments_and_names_it(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(OURS, encoding="utf-8")

    run = against_baseline(conformant().run(), load(file), is_updated=False, is_pruned=True)

    after = file.read_text(encoding="utf-8")
    assert run.notes == [f"Removed from {file}: {DATA} (fixed in 7)."]
    assert run.baseline is not None
    assert run.baseline.stale == []
    assert "error handler" not in after
    assert after.startswith(
        "# Owned by team A; ask before you add a row.\n\n# --- undecided ---\n\n[[known]]\n"
    )
    assert [entry.requirement for entry in load(file).entries] == ["ZZZ-001"]


@pytest.mark.parametrize("exit_code, left", [(0, 0), (2, 2), (6, 2)])
def test_only_a_run_that_ended_prunes_also_what_was_set_aside(exit_code: int, left: int) -> None:
    row = KnownFailure("ENV-008", DATA, "r")
    baseline = Baseline("known.toml", (row,), (KnownFailure("ENV-008", f"{DATA}.x", "s"),))

    pruned, notes = prune(conformant().run(exit_code=exit_code), baseline)

    assert len(pruned.entries) + len(pruned.gone) == left
    assert len(notes) == 2 - left


def test_pruning_needs_a_baseline() -> None:
    with pytest.raises(UsageError, match="--baseline-prune needs --baseline FILE"):
        initial_baseline(None, is_updated=False, is_pruned=True)


def test_a_difference_of_the_whole_body_has_a_row_that_can_be_read(tmp_path: Path) -> None:
    seen = Regression(exchange=1, endpoint="GET /a", path="", kind="type")

    accepted.write(accepted.updated((), [seen]), tmp_path / "changes.toml")

    rows = accepted.load(tmp_path / "changes.toml")
    assert [row.path for row in rows] == ["body"]
    assert accepted.against_rows([seen], rows).held == ()
