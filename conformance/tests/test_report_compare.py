"""Two runs compared: what newly fails, what is fixed, what is with a changed reading, what is slower."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from conformance.report.across import matrix
from conformance.report.across.compare import compare, since
from conformance.report.across.compare_pages import as_html, as_text, conclusion
from conformance.report.across.models import as_json
from conformance.report.model.run import OperationTime, Regression, Run, Scope
from conformance.spec import REQUIREMENTS
from conformance.tests.sample_run import (
    ACCOUNTS,
    INITIATE,
    PROFILE,
    START,
    conformant,
    envelope,
    exchange,
    sample,
)

READING = next(row.reading for row in REQUIREMENTS.values() if row.reading)


def time(endpoint: str, median: float, requests: int = 20) -> OperationTime:
    times = dict.fromkeys(("total_ms", "median_ms", "p95_ms", "max_ms"), median)
    return OperationTime(endpoint=endpoint, group="x", requests=requests, **times)


def yesterday() -> Run:
    return conformant().run(started=START - timedelta(days=1))


def test_what_fails_now_and_did_not_is_newly_failing() -> None:
    found = compare(yesterday(), sample().run())

    newly_failing = [one.requirement for one in found.newly_failing]
    assert newly_failing == ["ENV-008", "ENV-011", "PAGE-026", "LOGIN-030", "SECURE-007"]
    assert found.newly_failing[0].endpoints == [INITIATE]
    assert found.is_worse


def test_what_could_no_longer_be_tried_is_neither_worse_nor_fixed() -> None:
    broken = conformant()
    broken.contradict("FILE-001", exchange(50, PROFILE, answer=envelope()), path="data", expected={})
    found = compare(broken.run(), sample().run())

    assert found.no_longer_tested[0].requirement == "FILE-001"
    assert "FILE-001" not in {one.requirement for one in found.fixed}
    assert since(broken.run(), sample().run()).no_longer_tested[0] == "FILE-001"


def test_a_new_place_of_a_requirement_that_failed_before_is_told() -> None:
    more, refused = sample(), exchange(60, ACCOUNTS, answer=envelope({}, success=False))
    more.contradict("ENV-008", refused, path="data", expected=None)

    found = compare(sample().run(), more.run())

    assert [(one.requirement, one.endpoint) for one in found.new_places] == [("ENV-008", ACCOUNTS)]
    assert not found.newly_failing
    assert found.is_worse


def test_a_changed_reading_is_told_and_is_not_worse() -> None:
    other = conformant()
    seen = other.ledger._observations
    other.ledger._observations = {at: each for at, each in seen.items() if each.topic != READING}
    other.ledger.observe(READING, other.exchanges[0], "otherwise")

    found = compare(conformant().run(), other.run())

    (changed,) = found.changed_readings
    assert (changed.key, changed.old, changed.new) == (READING, [True], ["otherwise"])
    assert not found.is_worse


def test_a_reading_with_a_further_value_is_no_change_of_the_portal() -> None:
    wider = conformant()
    wider.ledger.observe(READING, wider.exchanges[0], "also this")
    old, new = conformant().run(), wider.run()

    assert compare(old, new).changed_readings == compare(new, old).changed_readings == []


def test_a_median_that_grew_by_half_and_by_twenty_milliseconds_is_slower() -> None:
    old = conformant().run(timings=[time(INITIATE, 40), time(ACCOUNTS, 1), time(PROFILE, 100)])
    new = conformant().run(timings=[time(INITIATE, 90), time(ACCOUNTS, 9), time(PROFILE, 40)])

    found = compare(old, new)

    assert [one.endpoint for one in found.slower] == [INITIATE]
    assert [one.endpoint for one in found.faster] == [PROFILE]
    assert len(found.timings) == 3


@pytest.mark.parametrize("before, after", [(19, 20), (20, 19)])
def test_few_requests_show_no_change_of_a_median(before: int, after: int) -> None:
    old = conformant().run(timings=[time(INITIATE, 40, before), time(PROFILE, 400, before)])
    new = conformant().run(timings=[time(INITIATE, 400, after), time(PROFILE, 40, after)])

    found = compare(old, new)

    assert (found.slower, found.faster) == ([], [])
    assert "slower" not in as_text(found).lower()


def test_new_regressions_of_replays_are_worse() -> None:
    lost = Regression(exchange=7, endpoint=PROFILE, path="data.bizId", kind="changed", recorded=1, replayed=2)
    old = conformant().run(command="replay")
    new = conformant().run(command="replay", regressions=[lost], exit_code=1)

    assert compare(old, new).new_regressions == [lost]
    assert compare(old, new).is_worse
    assert compare(new, old).fixed_regressions == [lost]


def test_every_form_tells_what_newly_fails() -> None:
    found = compare(yesterday(), sample().run())

    for told in (as_text(found), as_html(found), as_json(found)):
        assert "PAGE-026" in told
        assert "5 newly failing" in told or json.loads(told)["newly_failing"]


def test_a_reruns_few_requirements_do_not_make_the_next_run_look_worse() -> None:
    rerun = sample()
    rerun.ledger.tallies.clear()
    rerun.ledger._findings.clear()

    assert since(rerun.run(exit_code=0), sample().run()).newly_failing == []


def test_a_selection_fixes_only_what_was_found_at_endpoints_that_it_asked() -> None:
    before, after = sample().run(), conformant()
    whole, some = after.run(), after.run(scope=Scope(selection="--rerun LOGIN-030"))

    assert "ENV-008" in since(before, whole).fixed
    assert since(before, some).fixed == []


def test_a_run_breaks_only_what_is_found_at_endpoints_that_a_selection_before_it_asked() -> None:
    whole, after = conformant().run(), sample().run()
    some = whole.model_copy(update={"scope": Scope(selection="--rerun LOGIN-030"), "timings": []})

    assert "ENV-008" in since(whole, after).newly_failing
    assert since(some, after).newly_failing == []
    assert since(whole, after).newly_warned == ["ACCOUNT-015"]


def test_what_the_two_runs_were_told_differently_stands_at_the_head_of_every_form() -> None:
    old = yesterday().model_copy(update={"impact": "mutating", "scope": Scope(effort="quick")})
    new = yesterday().model_copy(update={"impact": "read-only", "scope": Scope(time_budget="10m")})

    found = compare(old, new)

    assert {row.what: (row.old, row.new) for row in found.scope_changes} == {
        "impact": ("mutating", "read-only"),
        "time budget": ("none", "10m"),
    }
    assert "The runs differ in time budget: none → 10m.\n" in as_text(found)
    assert "<dt>Differs in impact</dt><dd>mutating → read-only</dd>" in as_html(found)
    assert not compare(old, old).scope_changes


def test_what_a_selection_leaves_out_is_neither_no_longer_nor_newly_tested() -> None:
    whole, some = yesterday(), without_file_rule("not selected by --only LOGIN-*")

    less, more = compare(whole, some), compare(some, whole)

    assert (less.no_longer_tested, more.newly_tested) == ([], [])
    assert less.left_out_by_new == more.left_out_by_old == ["FILE-001"]
    assert "Every requirement has the same verdict" not in as_html(less)
    sentence = "It leaves out 1 rule that only the other run tested; none is listed as no longer tested."
    for text in (as_text(less), as_html(less)):
        assert sentence in text
        assert "--only LOGIN-*" in text


def without_file_rule(reason: str = "") -> Run:
    """A run that did not test FILE-001; with a reason, as a selection leaves it out."""
    run = yesterday()
    untested = {"verdict": "untested", "reason": reason or "no case came across it"}
    rows = [row.model_copy(update=untested) if row.id == "FILE-001" else row for row in run.requirements]
    scope = Scope(selection="--only LOGIN-*" if reason else "")
    return run.model_copy(update={"requirements": rows, "scope": scope})


def test_a_new_warning_is_shown_and_makes_nothing_worse() -> None:
    made = conformant()
    page = exchange(40, ACCOUNTS, answer=envelope({"accounts": [{"updatedAt": 1}]}))
    made.contradict("ACCOUNT-015", page, path="data.accounts[0].updatedAt", expected="a text")

    found = compare(yesterday(), made.run())

    assert [row.requirement for row in found.new_warnings] == ["ACCOUNT-015"]
    assert not found.is_worse
    assert conclusion(found) == "1 newly warned"
    for text in (as_text(found), as_html(found)):
        assert "New warnings" in text


def test_of_several_runs_each_requirement_is_a_row_and_each_run_a_column() -> None:
    found = matrix.matrix([conformant().run(), sample().run()], ["release 1", "release 2"])

    assert sorted(row.requirement for row in found.rows) == sorted(REQUIREMENTS)
    row = next(row for row in found.rows if row.requirement == "PAGE-026")
    assert (row.verdicts, row.differs) == (["pass", "fail"], True)
    for text in (matrix.as_text(found), matrix.as_html(found), as_json(found)):
        assert "release 2" in text
        assert "PAGE-026" in text
