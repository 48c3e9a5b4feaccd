"""Rows that accept differences of a replay: which of them fail it, how they are counted, what is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from conformance.replay.accepted import ComparedPlaces, acceptance_of, has_stable_values
from conformance.replay.compare.outcome import (
    Difference,
    ExchangeOutcome,
    Kind,
    OutcomeTally,
    State,
    breaking,
)
from conformance.replay.differences import groups_of, lines_of, weighed_differences
from conformance.report.across.baseline import MOST_VALUES, Baseline, accept
from conformance.report.across.baseline_rows import NOISE, BaselineRow, load, write
from conformance.report.formats.terminal import summary_lines
from conformance.report.model.regressions import difference_id, place_of
from conformance.report.model.run import Regression, Run
from conformance.tests.sample_run import conformant
from conformance.tests.test_report_finish import finished
from conformance.traffic.exchange import Json
from conformance.work.merge import merge

ROLES, OTHER = "GET /web/v1/system/roles", "GET /web/v1/system/profile"
REASON = "renamed in release 7"
UNSAID = "say here why this is accepted"
TODAY = date(2026, 11, 21)


def row(path: str, reason: str = REASON, endpoint: str = ROLES) -> BaselineRow:
    return BaselineRow("", endpoint, path, "value", reason=reason)


SEEN = row("data[*].roleName")
STALE = row("data[*].updatedAt")
NOT_COMPARED = row("data.name", endpoint=OTHER)


def answered(*answers: tuple[Difference, ...]) -> OutcomeTally:
    """Answers of the roles, with what differs in each."""
    tally = OutcomeTally()
    for number, differing in enumerate(answers, 1):
        meanings = (breaking("it differs"),) * len(differing)
        outcome = ExchangeOutcome(
            number, State.REGRESSED, ROLES, "", differing, line=number, meanings=meanings
        )
        tally.add(outcome)
    return tally


def with_another_name() -> OutcomeTally:
    """One answer of the roles, whose name differs."""
    return answered((Difference("value", ("data", 0, "roleName"), "old", "new"),))


def replayed(
    out: Path, *rows: BaselineRow, tally: OutcomeTally | None = None, is_complete: bool = True
) -> Run:
    """A replay with these answers, compared with rows."""
    out.mkdir(exist_ok=True)
    tally = tally or with_another_name()
    differences, baseline = list(weighed_differences(tally)), Baseline("known.toml", rows)
    acceptance = acceptance_of(differences, baseline, TODAY)
    baseline = ComparedPlaces.of(tally, differences, (), is_complete=is_complete).within(baseline)
    facts = {"command": "replay", "regressions": acceptance.held, "notes": list(acceptance.notes())}
    return finished(conformant(), out, baseline=baseline, **facts)


def listed(run: Run, name: str) -> list[str]:
    return [entry.signature for entry in getattr(run.baseline, name)]


def test_a_row_that_was_not_seen_fails_a_replay_that_compared_its_place(tmp_path: Path) -> None:
    run = replayed(tmp_path, SEEN, STALE, NOT_COMPARED)

    assert run.exit_code == 1
    assert listed(run, "known") == [SEEN.signature]
    assert listed(run, "stale") == [STALE.signature]
    assert listed(run, "undecided") == [NOT_COMPARED.signature]
    assert listed(replayed(tmp_path, SEEN, STALE, is_complete=False), "stale") == []
    over = replace(NOT_COMPARED, until=date(2020, 1, 31))
    assert listed(replayed(tmp_path, SEEN, over), "expired") == [NOT_COMPARED.signature]


def test_rows_of_differences_are_counted_as_those_of_failures_are(tmp_path: Path) -> None:
    run = replayed(tmp_path, row("data[*].roleName", UNSAID), STALE, NOT_COMPARED)
    shown = [line.strip() for line in summary_lines(run, colour=False, quiet=False)]

    assert "Against known.toml: 0 new · 1 known · 1 stale · 0 expired · 1 not decided" in shown
    assert f"without a reason of its own, write why it is accepted: {SEEN.signature}" in shown
    assert not [line for line in shown if "there is no such rule" in line]


def test_a_difference_that_no_row_lists_is_new_and_named_with_its_id(tmp_path: Path) -> None:
    run = replayed(tmp_path, NOT_COMPARED)

    assert run.baseline is not None
    (entry,) = run.baseline.new
    assert (entry.signature, entry.id) == (SEEN.signature, difference_id(run.regressions[0]))
    assert run.exit_code == 1
    groups = groups_of(run.regressions, acceptance_of(run.regressions, None, TODAY), {})
    assert next(lines_of(groups)).endswith(f"  id {entry.id}")


@pytest.mark.parametrize("is_seen_by_another", [False, True])
def test_a_row_that_no_part_of_a_replay_saw_fails_the_whole(tmp_path: Path, is_seen_by_another: bool) -> None:
    updated = answered((Difference("value", ("data", 0, "updatedAt"), "old", "new"),))
    replayed(tmp_path / "first", SEEN, STALE)
    replayed(tmp_path / "second", SEEN, STALE, tally=updated if is_seen_by_another else None)
    first = tmp_path / "first" / "exchanges.jsonl"
    first.write_text(first.read_text().replace("2026", "2025"))

    whole = merge([tmp_path / "first", tmp_path / "second"], tmp_path / "whole")

    assert listed(whole, "stale") == ([] if is_seen_by_another else [STALE.signature])
    assert SEEN.signature in listed(whole, "known")
    assert whole.exit_code == int(not is_seen_by_another)


def status(replayed: int, recorded: int = 200, exchange: int = 1) -> Regression:
    more = {"recorded": recorded, "replayed": replayed, "meaning": "breaking"}
    return Regression(exchange=exchange, endpoint=ROLES, path="status", kind="status", **more)


def at_status(**values: Any) -> BaselineRow:
    return BaselineRow("", ROLES, "status", "status", **{"reason": REASON, **values})


@pytest.mark.parametrize(
    ("values", "accepted"),
    [
        ({}, {404, 500}),
        ({"was": 200, "now": 404}, {404}),
        ({"now": 404}, {404}),
        ({"was": 200}, {404, 500}),
        ({"was": 201}, set()),
        ({"now": "404"}, set()),
        ({"until": date(2026, 11, 20)}, set()),
    ],
)
def test_a_row_with_values_accepts_only_these(values: dict[str, Any], accepted: set[int]) -> None:
    decision = acceptance_of([status(404), status(500)], Baseline("", (at_status(**values),)), TODAY)

    assert {each.replayed for each, _ in decision.accepted} == accepted
    assert {each.replayed for each in decision.held} == {404, 500} - accepted


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


def accepted(
    differences: Sequence[Regression], folder: Path, *ids: str, before: Sequence[BaselineRow] = ()
) -> tuple[BaselineRow, ...]:
    """The rows of a file in which such differences of a replay were accepted."""
    run, path = conformant().run(command="replay", regressions=differences), folder / "known.toml"
    write(before, path)
    accept(run, path, ids or ("all",), is_pruned=False, is_stable=has_stable_values)
    return load(path)


def test_an_accepted_difference_has_the_values_that_are_stable_and_no_others(tmp_path: Path) -> None:
    assert {(row.path, row.was, row.now) for row in accepted(STABLE, tmp_path)} == {
        (row.path.replace("[0]", "[*]").replace("[2]", "[*]"), row.recorded, row.replayed) for row in STABLE
    }
    (tmp_path / "known.toml").unlink()
    assert [row.path for row in accepted(UNSTABLE, tmp_path) if row.has_values] == []


def test_a_place_with_many_values_has_one_row_without_them(tmp_path: Path) -> None:
    many = [status(500 + number) for number in range(MOST_VALUES + 1)]

    assert [row.has_values for row in accepted(many, tmp_path)] == [False]
    (tmp_path / "known.toml").unlink()
    assert len(accepted(many[:-1], tmp_path)) == MOST_VALUES


def test_a_row_without_values_lists_all_of_its_place(tmp_path: Path) -> None:
    assert accepted([status(404)], tmp_path, before=[at_status()]) == (at_status(),)


def test_a_difference_of_the_whole_body_has_a_row_that_accepts_it(tmp_path: Path) -> None:
    whole = difference("", "type", {}, [])

    rows = accepted([whole], tmp_path, difference_id(whole))

    assert [row.path for row in rows] == ["body"]
    assert acceptance_of([whole], Baseline("", rows), TODAY).held == []


def test_an_accepted_contradiction_covers_its_rule(tmp_path: Path) -> None:
    contradiction = Regression(
        **{**status(404).model_dump(), "meaning": "contradiction"}, requirement="OP-023"
    )

    (row,) = accepted([contradiction], tmp_path, difference_id(contradiction))

    assert (row.rule, row.place) == ("OP-023", (ROLES, "status", "status"))


def test_noise_is_accepted_as_flaky_and_is_never_a_status_or_another_form(tmp_path: Path) -> None:
    rows = accepted([*STABLE, *UNSTABLE], tmp_path, "noise")

    assert {(row.reason, row.flaky, row.has_values) for row in rows} == {(NOISE, True, False)}
    assert {row.kind for row in rows} == {"value", "length"}
    assert not {"code", "value"} & {row.path.rpartition(".")[2] for row in rows}
    noisy = acceptance_of(UNSTABLE[:4], Baseline("", rows), TODAY)
    assert (noisy.held, next(iter(noisy.notes()))[:17]) == ([], "Accepted by a row")


def statuses(*replayed: int) -> OutcomeTally:
    return answered(*((Difference("status", ("status",), 200, live),) for live in replayed))


def test_a_row_whose_values_changed_is_not_stale_and_leaves_the_new_ones_held(tmp_path: Path) -> None:
    run = replayed(tmp_path, at_status(was=200, now=404), tally=statuses(500, 500))

    assert (listed(run, "stale"), listed(run, "undecided")) == ([], [f"{ROLES} status status 200 → 404"])
    assert [each.replayed for each in run.regressions] == [500, 500]


def test_a_place_that_differs_in_other_values_than_its_row_is_accepted_for_any_values(tmp_path: Path) -> None:
    _, new = accepted([status(404)], tmp_path, before=[at_status(was=200, now=500)])

    assert not new.has_values


def test_a_group_counts_only_what_its_row_accepts() -> None:
    differences = list(weighed_differences(statuses(404, 500, 404)))
    baseline = Baseline("", (at_status(was=200, now=404),))

    groups = groups_of(differences, acceptance_of(differences, baseline, TODAY), {})

    assert [(each["replayed"], each["times"], each["accepted"], "id" in each) for each in groups] == [
        (404, 2, REASON, False),
        (500, 1, None, True),
    ]


def test_a_difference_that_breaks_a_client_is_no_drift_as_well() -> None:
    differences = list(weighed_differences(statuses(404)))
    place, other = place_of(differences[0]), (ROLES, "data[*].updatedAt", "value")

    groups = groups_of(differences, acceptance_of(differences, None, TODAY), {place: 1, other: 1})

    assert [(each["path"], each["meaning"] == "drift") for each in groups] == [
        ("status", False),
        ("data[*].updatedAt", True),
    ]


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
    ("tally", "path", "is_undecided"),
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
def test_a_row_at_a_place_that_an_answer_does_not_show_is_not_decided(
    tmp_path: Path, tally: OutcomeTally, path: str, is_undecided: bool
) -> None:
    run = replayed(tmp_path, row(path), tally=tally)

    assert bool(listed(run, "undecided")) is is_undecided
    assert bool(listed(run, "stale")) is not is_undecided
