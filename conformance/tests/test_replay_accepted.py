"""Rows that accept differences of a replay: which of them fail it, how they are counted, what is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance.replay import ReplayOptions
from conformance.replay.compare.difference import Difference, Kind, breaking
from conformance.replay.compare.outcome import ExchangeOutcome, OutcomeTally, State
from conformance.replay.differences import DecidedDifferences, decided, groups_of
from conformance.replay.stable_values import has_stable_values
from conformance.report.across.accepted import MOST_VALUES, AcceptedDifference, against_rows, updated, write
from conformance.report.across.accepted import load as accepted_rows
from conformance.report.across.baseline import Baseline, load
from conformance.report.formats.closing import exit_reason
from conformance.report.formats.terminal import summary_lines
from conformance.report.model.run import Ending, Regression, Run
from conformance.tests.sample_run import conformant
from conformance.tests.test_report_finish import finished
from conformance.traffic.exchange import Json
from conformance.work.merge import merge

ROLES, OTHER = "GET /web/v1/system/roles", "GET /web/v1/system/profile"
REASON = "renamed in release 7"
UNSAID = "say here why this is accepted"


def row(path: str, reason: str = REASON, endpoint: str = ROLES) -> AcceptedDifference:
    return AcceptedDifference(endpoint, path, "value", reason)


def text(*rows: AcceptedDifference, table: str = "accept") -> str:
    return "\n".join(one.row(table).text for one in rows)


def written(file: Path, *rows: AcceptedDifference, table: str = "accept") -> Path:
    file.write_text(text(*rows, table=table))
    return file


SEEN = row("data[*].roleName")
STALE = row("data[*].updatedAt")
NOT_COMPARED = row("data.name", endpoint=OTHER)


def answered(*answers: tuple[Difference, ...]) -> OutcomeTally:
    """Answers of the roles, with what differs in each."""
    found = OutcomeTally()
    for number, differing in enumerate(answers, 1):
        meanings = (breaking("it differs"),) * len(differing)
        outcome = ExchangeOutcome(
            number, State.REGRESSED, ROLES, "", differing, line=number, meanings=meanings
        )
        found.add(outcome)
    return found


def tally() -> OutcomeTally:
    """One answer of the roles, whose name differs."""
    return answered((Difference("value", ("data", 0, "roleName"), "old", "new"),))


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
    file = written(tmp_path / "changes.toml", SEEN, STALE, NOT_COMPARED)

    run = replayed(decision(tmp_path, accept=file), tmp_path)

    assert run.exit_code == 1
    assert exit_reason(run) == "1 row of accepted differences no longer needed"
    assert decision(tmp_path, accept=file, is_complete=False).outdated == []
    assert run.ending.outdated_rows == [f"Accepted and not seen: {ROLES} data[*].updatedAt value ({REASON})."]


def test_an_update_says_what_it_wrote_and_removed_and_what_is_left_to_say(tmp_path: Path) -> None:
    file = written(tmp_path / "changes.toml", STALE, NOT_COMPARED)

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


def test_rows_of_a_baseline_are_counted_as_its_failures_are(tmp_path: Path) -> None:
    file = written(
        tmp_path / "known.toml", row("data[*].roleName", UNSAID), STALE, NOT_COMPARED, table="regression"
    )

    run = replayed(decision(tmp_path, baseline=load(file)), tmp_path)
    shown = [line.strip() for line in summary_lines(run, colour=False, quiet=False)]

    assert f"Against {file}: 0 new · 1 known · 1 stale · 0 expired · 1 not decided" in shown
    assert "1 entry without a reason: write why it is accepted" in shown
    assert not [line for line in shown if "there is no such rule" in line]


def test_a_difference_that_no_row_of_a_baseline_lists_is_new(tmp_path: Path) -> None:
    file = written(tmp_path / "known.toml", NOT_COMPARED, table="regression")

    run = replayed(decision(tmp_path, baseline=load(file)), tmp_path)

    assert run.baseline is not None
    assert [entry.signature for entry in run.baseline.new] == [f"{ROLES} data[*].roleName value"]
    assert run.exit_code == 1


@pytest.mark.parametrize("is_seen_by_another", [False, True])
def test_a_row_that_no_part_of_a_replay_saw_fails_the_whole(tmp_path: Path, is_seen_by_another: bool) -> None:
    file = written(tmp_path / "changes.toml", SEEN, STALE)
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


def status(replayed: int, recorded: int = 200, exchange: int = 1) -> Regression:
    more = {"recorded": recorded, "replayed": replayed, "meaning": "breaking"}
    return Regression(exchange=exchange, endpoint=ROLES, path="status", kind="status", **more)


def at_status(**values: Any) -> AcceptedDifference:
    return AcceptedDifference(ROLES, "status", "status", REASON, **values)


@pytest.mark.parametrize(
    ("values", "accepted"),
    [
        ({}, {404, 500}),
        ({"was": 200, "now": 404}, {404}),
        ({"now": 404}, {404}),
        ({"was": 200}, {404, 500}),
        ({"was": 201}, set()),
        ({"now": "404"}, set()),
    ],
)
def test_a_row_with_values_accepts_only_these(values: dict[str, Any], accepted: set[int]) -> None:
    found = against_rows([status(404), status(500)], [at_status(**values)])

    assert {each.replayed for each, _ in found.accepted} == accepted
    assert {each.replayed for each in found.held} == {404, 500} - accepted
    assert bool(found.unseen) is not bool(accepted)


def test_rows_of_one_place_are_known_by_their_values(tmp_path: Path) -> None:
    file = tmp_path / "changes.toml"
    file.write_text("# the gateway\n" + text(at_status(was=200, now=404)))
    rows = [*accepted_rows(file), at_status(was=200, now=500), at_status(was=False, now=True), at_status()]

    write(rows, file)

    assert file.read_text().startswith("# the gateway\n[[accept]]")
    assert {(row.was, row.now) for row in accepted_rows(file)} == {(row.was, row.now) for row in rows}


def difference(path: str, kind: str, old: object, new: object, endpoint: str = ROLES) -> Regression:
    return Regression(exchange=1, endpoint=endpoint, path=path, kind=kind, recorded=old, replayed=new)


STABLE = [
    status(404),
    difference("code", "code", "2000", "AUTH.MFA_CODE_INVALID"),
    difference("success", "value", True, False),
    difference("data[2].roleType.code", "value", "SYSTEM", "CUSTOM"),
    difference("data[2].roleType.value", "value", 1, 2),
    difference("data[0].code", "value", "EN", "DE", "GET /web/v1/system/constants/user-institution-types"),
]
UNSTABLE = [
    difference("data[2].roleName", "value", "Owner", "Administrator"),
    difference("data[2].roleType.label", "value", "Own", "Other"),
    difference("data[2].bizId", "value", "8f14e45f", "c9f0f895"),
    difference("data[2].createdAt", "value", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
    difference("data", "length", 4, 5),
    difference("data[0].roleType", "type", None, True),
    difference("code", "code", "2000", None),
    difference("data.expiresIn", "value", 900, 600, "POST /web/v1/system/auth/login/complete"),
]


def test_an_update_writes_values_that_are_stable_and_no_others() -> None:
    rows = {seen.path: updated((), [seen], has_stable_values) for seen in STABLE}

    assert {path: (row.was, row.now) for path, (row,) in rows.items()} == {
        seen.path: (seen.recorded, seen.replayed) for seen in STABLE
    }
    assert [seen.path for seen in UNSTABLE if updated((), [seen], has_stable_values)[0].has_values] == []


def test_a_place_with_many_values_has_one_row_without_them() -> None:
    seen = [status(500 + number) for number in range(MOST_VALUES + 1)]

    assert len(updated((), seen[:-1], has_stable_values)) == MOST_VALUES
    assert [row.has_values for row in updated((), seen, has_stable_values)] == [False]


def test_an_update_keeps_a_row_without_values_for_all_of_its_place() -> None:
    assert updated([at_status()], [status(404)], has_stable_values) == (at_status(),)
    assert len(updated([at_status(was=200, now=500)], [status(404)], has_stable_values)) == 2


def statuses(*replayed: int) -> OutcomeTally:
    return answered(*((Difference("status", ("status",), 200, live),) for live in replayed))


def test_a_row_whose_values_changed_names_both_and_leaves_the_new_ones_held(tmp_path: Path) -> None:
    file = written(tmp_path / "changes.toml", at_status(was=200, now=404))
    options = ReplayOptions(out=tmp_path, accept=file)

    made = decided(statuses(500, 500), options, (), None)

    unseen = f"Accepted and not seen: {ROLES} status status 200 → 404 ({REASON})."
    assert made.outdated == [f"{unseen} Seen there instead: recorded 200, now 500."]
    assert made.outdated[0] in list(made.notes())
    assert [each.replayed for each in made.regressions] == [500, 500]


def test_a_group_counts_only_what_its_row_accepts(tmp_path: Path) -> None:
    file = written(tmp_path / "changes.toml", at_status(was=200, now=404))
    made = decided(statuses(404, 500, 404), ReplayOptions(out=tmp_path, accept=file), (), None)

    groups = groups_of(made, {})

    assert [(each["replayed"], each["times"], each["accepted"]) for each in groups] == [
        (404, 2, REASON),
        (500, 1, None),
    ]


def test_the_file_that_an_update_writes_accepts_the_same_again_and_nothing_else(tmp_path: Path) -> None:
    options = ReplayOptions(out=tmp_path, accept=tmp_path / "changes.toml")

    decided(statuses(404), replace(options, accept_update=True), (), None)

    assert "was = 200\nnow = 404\n" in (tmp_path / "changes.toml").read_text()
    assert decided(statuses(404, 404), options, (), None).regressions == []
    assert len(decided(statuses(404, 500), options, (), None).regressions) == 1


def refused(*, status: int = 404, recorded: int = 200) -> OutcomeTally:
    """One answer of the roles, whose status and code differ."""
    code = Difference("code", ("code",), "2000", "RESOURCE.NOT_FOUND")
    return answered((Difference("status", ("status",), recorded, status), code))


def without_answer() -> OutcomeTally:
    """One answer that is the same, and one that did not come."""
    tally = OutcomeTally()
    tally.add(ExchangeOutcome(1, State.SAME, ROLES, line=1))
    tally.add(ExchangeOutcome(2, State.NOT_COMPARABLE, ROLES, "no response came"))
    return tally


def with_another_body(kind: Kind, *place: str, replayed: Json = None) -> OutcomeTally:
    return answered((Difference(kind, place, [], replayed),))


@pytest.mark.parametrize(
    ("tally", "path", "is_kept"),
    [
        (refused(), "data[*].isCurrent", True),
        (refused(), "success", False),
        (without_answer(), "data[*].isCurrent", True),
        (with_another_body("type"), "data[*].isCurrent", True),
        (with_another_body("type"), "success", True),
        (with_another_body("missing", "data"), "data[*].isCurrent", True),
        (with_another_body("length", "data", replayed=0), "data[*].isCurrent", True),
        (with_another_body("length", "data", replayed=2), "data[*].isCurrent", False),
    ],
)
def test_a_row_at_a_place_that_an_answer_does_not_show_is_not_decided_and_kept(
    tmp_path: Path, tally: OutcomeTally, path: str, is_kept: bool
) -> None:
    baseline = Baseline("known.toml", regressions=(row(path),))

    made = decided(tally, ReplayOptions(out=tmp_path, baseline_prune=True), (), baseline)
    unpruned = decided(tally, ReplayOptions(out=tmp_path), (), baseline)

    assert made.baseline is not None
    assert unpruned.baseline is not None
    assert bool(made.baseline.regressions) is is_kept
    assert bool(made.pruned) is not is_kept
    assert bool(unpruned.baseline.compared.undecided) is is_kept
    assert bool(unpruned.baseline.compared.stale) is not is_kept
