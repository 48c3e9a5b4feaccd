"""The map at the head of the report has each endpoint once, with its state and where it leads."""

from __future__ import annotations

import pytest

from conformance.report.formats.html.run_page import endpoint_map
from conformance.report.formats.page import Cells
from conformance.report.model.run import OperationTime, Regression
from conformance.spec import OPERATIONS
from conformance.spec.endpoints import LOGOUT
from conformance.tests.sample_run import ACCOUNTS, INITIATE, PROFILE, Sample, conformant, finding, sample

FILES = next(row for row in OPERATIONS if row.group == "Files")


def tiles(made: Sample) -> dict[str, Cells]:
    return {tile.key: tile for group in endpoint_map(made.run(), {}).groups for tile in group.tiles}


def test_an_endpoint_is_failing_warned_tested_or_untested() -> None:
    builder = sample()
    warned = tiles(builder)[ACCOUNTS]
    builder.ledger.tallies.pop(FILES.requirement, None)
    builder.ledger.leave_untested(FILES.requirement, "the profile gives no [records] file")
    found = tiles(builder)

    assert (found[INITIATE].state, found[PROFILE].state) == ("fail", "fail")
    assert warned.state == "fail", "it fails one rule and warns by another"
    assert {rule for rule, _ in warned.rules} == {"PAGE-026", "ACCOUNT-015"}
    assert found[FILES.key].state == "untested"
    assert found[FILES.key].reason == "the profile gives no [records] file"
    assert tiles(conformant())[PROFILE].state == "pass"


@pytest.mark.parametrize(
    ("statuses", "state"), [({"403": 2, "404": 1}, "refused"), ({"200": 1, "403": 2}, "pass"), ({}, "pass")]
)
def test_an_endpoint_that_only_refused_is_not_shown_as_tested(statuses: dict[str, int], state: str) -> None:
    times = {"median_ms": 1.0, "p95_ms": 1.0, "max_ms": 1.0, "total_ms": 3.0}
    timing = OperationTime(endpoint=PROFILE, group="Profile", requests=3, statuses=statuses, **times)
    shown = endpoint_map(conformant().run().model_copy(update={"timings": [timing]}), {})

    assert [tile.state for group in shown.groups for tile in group.tiles if tile.key == PROFILE] == [state]
    assert [tile.key for row in shown.untested for tile in row.tiles] == [PROFILE] * (state == "refused")


def test_an_endpoint_whose_answers_regressed_in_a_replay_is_failing() -> None:
    lost = Regression(exchange=3, endpoint=FILES.key, path="data", kind="length", meaning="breaking")
    shown = endpoint_map(conformant().run(command="replay", regressions=[lost]), {})

    (bad,) = shown.bad
    assert (bad.key, bad.state, bad.href) == (FILES.key, "fail", "regressions")
    assert shown.words == "1 failing · 87 tested, nothing found"


def test_a_finding_marks_the_endpoint_that_its_rule_is_about_too() -> None:
    builder = conformant()
    seen = finding(requirement="TOKEN-011", verdict="warn", endpoint=PROFILE)
    shown = endpoint_map(builder.run().model_copy(update={"findings": [seen]}), {})

    assert {tile.key for tile in shown.bad} == {PROFILE, LOGOUT}
