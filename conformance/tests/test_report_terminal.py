"""The terminal tells a failure without a file being opened, with colour only where it is wanted."""

from __future__ import annotations

import io

import pytest

from conformance.report.across.baseline_rows import BaselineRow
from conformance.report.formats.terminal import summary_lines, wants_colour
from conformance.report.model.run import Ending
from conformance.spec import REQUIREMENTS
from conformance.tests.hostile_portal import TEXTS, hostile
from conformance.tests.sample_run import (
    ACCOUNTS,
    INITIATE,
    PROFILE,
    ROLES,
    URL,
    Sample,
    conformant,
    envelope,
    exchange,
    row_of,
    sample,
    with_rows,
)

AGAIN = f"portal-conformance run --rerun PAGE-026 --target {URL} --profile staging.toml"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def text(**options: bool) -> str:
    return "\n".join(summary_lines(sample().run(), **{"colour": False, "quiet": False, **options}))


def test_a_failure_reads_whole() -> None:
    block = text().split("FAIL PAGE-026")[1].split("\n\n")[0]

    assert block.splitlines() == [
        "  `currentPage` of the account query counts from 0: it is the page that was asked for.",
        "     POST /web/v1/system/accounts/admin/query",
        "     the page asked for is 0, the page given is 1",
        "     seen at data.currentPage: 1",
        "     expected: 0",
        f"     exchange 41 · id 245d984 · reproduce: {AGAIN}",
    ]


def test_warnings_and_the_untested_are_told_as_well() -> None:
    shown = " ".join(text().split())

    assert "WARN ACCOUNT-015" in shown
    orders = [row for row in REQUIREMENTS.values() if row.chapter == "ORDER" and row.level != "open"]
    testable = [row.id for row in orders if not row.untestable]
    listed = f"{', '.join(testable[:3])} and {len(testable) - 3} more"
    assert f"{len(testable)} the profile gives no [bot_challenge] ({listed})" in shown


def test_where_nothing_was_tested_the_verdict_is_the_one_reason() -> None:
    cause = "Nothing answers at http://127.0.0.1:9 (connection refused). Is the portal running?"
    run = Sample().run(exit_code=6, ending=Ending(unreachable=cause), notes=[cause])

    lines = summary_lines(run, colour=False, quiet=False)

    assert lines[0] == f"Inconclusive  {cause}"
    assert [line.partition(" ")[0] for line in lines[1:]] == ["tested", "untested"]
    assert lines[1].startswith("tested     0 % of ")


def test_nothing_that_a_target_sent_can_move_the_cursor_or_colour_anything() -> None:
    lines = summary_lines(hostile().run(target_profile=TEXTS[-2]), colour=False, quiet=False)
    shown = "\n".join(lines).split("\n")

    assert len(shown) == len(lines)
    assert not any(char in line for line in shown for char in "\x1b\x07\r\u202e")


def test_known_failures_are_not_shown_and_stale_ones_are_named() -> None:
    run = sample().run()
    known = [row_of(finding) for finding in run.findings if finding.verdict == "fail"]
    stale, mistyped = (BaselineRow(rule, "GET /x", reason="was so") for rule in ("ENV-001", "ENV-2"))

    shown = summary_lines(with_rows(run, *known, stale, mistyped), colour=False, quiet=False)

    assert not [line for line in shown if line.startswith("FAIL")]
    assert any("without a reason of its own" in line and known[0].signature in line for line in shown)
    assert any("unknown ENV-2 GET /x: there is no such rule; did you mean ENV-002?" in line for line in shown)
    stale_line = next(line for line in shown if "stale ENV-001 GET /x" in line)
    assert stale_line.endswith("but no longer fails; remove its row, or have `compare --prune` do it")


@pytest.mark.parametrize(
    "environment, stream, wanted",
    [
        ({}, Terminal(), True),
        ({"NO_COLOR": "1"}, Terminal(), False),
        ({"TERM": "dumb"}, Terminal(), False),
        ({}, io.StringIO(), False),
        ({"FORCE_COLOR": "1"}, io.StringIO(), True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, Terminal(), False),
    ],
)
def test_colour_is_for_terminals_and_for_nobody_who_said_no(
    environment: dict[str, str], stream: io.StringIO, wanted: bool
) -> None:
    assert wants_colour(stream, environment) is wanted


def test_failures_of_one_cause_are_one_block_that_names_the_others() -> None:
    builder = conformant()
    for number, endpoint in ((40, PROFILE), (41, ROLES), (42, ACCOUNTS), (43, INITIATE)):
        answer = exchange(number, endpoint, answer=envelope(timestamp=1795254787))
        builder.add(answer)
        builder.contradict("ENV-011", answer, path="timestamp", expected="epoch milliseconds")
    page = exchange(44, ACCOUNTS, answer=envelope({"pageSize": 50}))
    builder.contradict("LIMIT-011", page, path="data.pageSize", expected=20)
    builder.contradict("PAGE-024", page, path="data.pageSize", expected=20)
    shown = summary_lines(builder.run(), colour=False, quiet=True)

    rules = [line.split()[1] for line in shown if line.startswith("FAIL")]
    assert rules == ["ENV-011", "PAGE-024"]
    places, rule = (line for line in shown if line.startswith("     also "))
    assert places.startswith("     also in 3 more places: ")
    assert places.endswith(" and 1 more (4 findings in all)")
    assert rule == "     also contradicts LIMIT-011"
