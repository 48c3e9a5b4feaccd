"""Rows that accept differences of a replay: which of them fail it, how they are counted, what is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.check.merged_runs import merge
from conformance.replay import ReplayOptions
from conformance.replay.compare.difference import Difference, breaking
from conformance.replay.compare.outcome import ExchangeOutcome, OutcomeTally, State
from conformance.replay.differences import DecidedDifferences, decided
from conformance.report.across.accepted import AcceptedDifference
from conformance.report.across.baseline import Baseline, load
from conformance.report.formats.annotations import annotations_of
from conformance.report.formats.closing import exit_reason, verdict_line
from conformance.report.formats.terminal import summary_lines
from conformance.report.formats.write import FORMATS
from conformance.report.model.run import Ending, Run
from conformance.tests.sample_run import conformant
from conformance.tests.test_report_finish import ABOUT_FINDINGS, SILENT, WITHOUT_REASON, finished

ROLES, OTHER = "GET /web/v1/system/roles", "GET /web/v1/system/profile"
REASON = "renamed in release 7"
UNSAID = "say here why this is accepted"


def row(path: str, reason: str = REASON, endpoint: str = ROLES) -> AcceptedDifference:
    return AcceptedDifference(endpoint, path, "value", reason)


def text(*rows: AcceptedDifference, table: str = "accept") -> str:
    return "\n".join(one.row(table).text for one in rows)


SEEN = row("data[*].roleName")
STALE = row("data[*].updatedAt")
NOT_COMPARED = row("data.name", endpoint=OTHER)


def tally() -> OutcomeTally:
    """One answer of the roles, whose name differs."""
    found = OutcomeTally()
    difference = Difference("value", ("data", 0, "roleName"), "old", "new")
    found.add(
        ExchangeOutcome(1, State.REGRESSED, ROLES, "", (difference,), line=1, meanings=(breaking("a name"),))
    )
    return found


def decision(
    tmp_path: Path, *, baseline: Baseline | None = None, is_complete: bool = True, **options: Any
) -> DecidedDifferences:
    chosen = ReplayOptions(out=tmp_path, **options)
    return decided(tally(), chosen, (), baseline, is_complete=is_complete)


def replayed(made: DecidedDifferences, out: Path) -> Run:
    facts = {"command": "replay", "regressions": made.regressions, "notes": list(made.notes())}
    ending = Ending(outdated_rows=made.outdated)
    return finished(conformant(), out, baseline=made.baseline, ending=ending, **facts)


def test_a_row_of_the_file_that_was_not_seen_fails_the_replay(tmp_path: Path) -> None:
    file = tmp_path / "changes.toml"
    file.write_text(text(SEEN, STALE, NOT_COMPARED))

    run = replayed(decision(tmp_path, accept=file), tmp_path)

    assert run.exit_code == 1
    assert exit_reason(run) == "1 row of accepted differences no longer needed"
    assert run.ending.outdated_rows == [f"Accepted and not seen: {ROLES} data[*].updatedAt value ({REASON})."]
    assert [one.title for one in annotations_of(run)] == ["Accepted differences out of date"]


def test_a_replay_that_is_not_complete_fails_for_no_row_that_it_did_not_see(tmp_path: Path) -> None:
    file = tmp_path / "changes.toml"
    file.write_text(text(SEEN, STALE))

    assert decision(tmp_path, accept=file, is_complete=False).outdated == []


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - SILENT - WITHOUT_REASON - ABOUT_FINDINGS))
def test_each_report_names_a_row_that_was_not_seen(tmp_path: Path, name: str) -> None:
    made = finished(
        conformant(), tmp_path, command="replay", ending=Ending(outdated_rows=["Accepted and not seen: it."])
    )

    assert made.exit_code == 1
    assert "Accepted and not seen: it" in (tmp_path / name).read_text(encoding="utf-8").replace("\\", "")


def test_an_update_says_what_it_wrote_and_removed_and_what_is_left_to_say(tmp_path: Path) -> None:
    file = tmp_path / "changes.toml"
    file.write_text(text(STALE, NOT_COMPARED))

    made = decision(tmp_path, accept=file, accept_update=True)

    assert made.outdated == []
    notes = list(made.notes())
    assert f"No longer seen, and removed: {ROLES} data[*].updatedAt value ({REASON})." in notes
    assert (
        f"Written to {file}: 2 rows, 1 of them new. "
        "Say in each new row why it is accepted (reason) and until when (expires)."
    ) in notes
    assert f"Accepted without a reason; say why in its row: {ROLES} data[*].roleName value." in notes
    assert list(decision(tmp_path, accept=file).notes())[-1] == notes[-1]


def test_an_update_that_has_nothing_to_add_asks_for_nothing(tmp_path: Path) -> None:
    file = tmp_path / "changes.toml"
    file.write_text(text(SEEN))

    notes = list(decision(tmp_path, accept=file, accept_update=True).notes())

    assert notes[-1] == f"Written to {file}: 1 row, 0 of them new."


def test_rows_of_a_baseline_are_counted_as_its_failures_are(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(text(row("data[*].roleName", UNSAID), STALE, NOT_COMPARED, table="regression"))

    run = replayed(decision(tmp_path, baseline=load(file)), tmp_path)
    shown = [line.strip() for line in summary_lines(run, colour=False, quiet=False)]

    assert f"Against {file}: 0 new · 1 known · 1 stale · 0 expired · 1 not decided" in shown
    assert "1 entry without a reason: write why it is accepted" in shown
    assert not [line for line in shown if "there is no such rule" in line]


def test_a_difference_that_no_row_of_a_baseline_lists_is_new(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(text(NOT_COMPARED, table="regression"))

    run = replayed(decision(tmp_path, baseline=load(file)), tmp_path)

    assert run.baseline is not None
    assert [entry.signature for entry in run.baseline.new] == [f"{ROLES} data[*].roleName value"]
    assert run.exit_code == 1


def test_the_quiet_line_names_the_places_of_stale_rows(tmp_path: Path) -> None:
    file = tmp_path / "known.toml"
    file.write_text(text(SEEN, STALE, table="regression"))

    run = replayed(decision(tmp_path, baseline=load(file)), tmp_path)

    assert f"stale: {ROLES} data[*].updatedAt value" in verdict_line(run, tmp_path)


@pytest.mark.parametrize("is_seen_by_another", [False, True])
def test_a_row_that_no_part_of_a_replay_saw_fails_the_whole(tmp_path: Path, is_seen_by_another: bool) -> None:
    file = tmp_path / "changes.toml"
    file.write_text(text(SEEN, STALE))
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        replayed(decision(tmp_path, accept=file), tmp_path / name)
    first = tmp_path / "first" / "exchanges.jsonl"
    first.write_text(first.read_text().replace("2026", "2025"))
    if is_seen_by_another:
        results = tmp_path / "second" / "results.json"
        results.write_text(results.read_text().replace("Accepted and not seen", "Seen"))

    whole = merge([tmp_path / "first", tmp_path / "second"], tmp_path / "whole")

    rows = [] if is_seen_by_another else decision(tmp_path, accept=file).outdated
    assert [row for row in whole.ending.outdated_rows if row.startswith("Accepted and not seen")] == rows
