"""The last block of the terminal counts what the report shows."""

from __future__ import annotations

from pathlib import Path

from conformance.report.formats.closing import closing_block, verdict_line
from conformance.tests.sample_run import ACCOUNTS, PROFILE, conformant, envelope, exchange, sample


def test_findings_are_counted_as_the_report_shows_them_and_their_rules_where_these_are_fewer() -> None:
    made = conformant()
    profile = exchange(40, PROFILE, answer=envelope(timestamp=1795254787))
    accounts = exchange(41, ACCOUNTS, answer=envelope(timestamp=1795254787))
    for answer in (profile, accounts):
        made.contradict("ENV-011", answer, path="timestamp", expected="epoch milliseconds")
    made.contradict("ENV-008", profile, path="data", expected=None)
    run = made.run()

    assert "findings   3 FAIL of 2 rules · 0 WARN" in "\n".join(closing_block(run, Path("reports")))
    assert "3 FAIL of 2 rules" in verdict_line(run, Path("reports"))


def test_a_finding_of_each_rule_needs_no_second_number() -> None:
    assert any(
        line.startswith("findings   5 FAIL · 1 WARN · ") for line in closing_block(sample().run(), Path())
    )


def test_a_replay_counts_its_regressions_as_well() -> None:
    lines = closing_block(sample().run(command="replay"), Path())

    assert any(line.endswith(" · 0 regressions") for line in lines)
