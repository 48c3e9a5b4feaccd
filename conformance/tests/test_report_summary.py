"""``summary.md`` for a job summary: new failures first, and nothing of a target's is read as Markdown."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from conformance.report.across.baseline_rows import BaselineRow
from conformance.report.formats.html.run_page import report
from conformance.report.formats.summary import code, markdown, quoted
from conformance.report.formats.terminal import summary_lines
from conformance.report.model.evidence import read
from conformance.report.model.run import Scope
from conformance.spec import REQUIREMENTS
from conformance.tests.hostile_portal import hostile
from conformance.tests.sample_run import (
    ACCOUNTS,
    PROFILE,
    URL,
    Sample,
    conformant,
    envelope,
    exchange,
    row_of,
    sample,
    with_rows,
)
from conformance.verdicts.findings import Ledger
from conformance.verdicts.selection import RuleSelection


@pytest.mark.parametrize("option", ["--only", "--rerun"])
def test_every_report_counts_what_is_not_selected_apart(tmp_path: Path, option: str) -> None:
    rules = frozenset({"PAGE-026", "PAGE-027"})
    selection = RuleSelection(rules, f"{option} PAGE-026")
    made = Sample(Ledger(dict(REQUIREMENTS), selection=selection))
    made.contradict("PAGE-026", exchange(1, ACCOUNTS, answer=envelope()), path="data", expected=[])
    run = made.run(scope=Scope(selection=selection.text))
    others = f"Not selected: {len(REQUIREMENTS) - len(rules)} requirements."

    console = "\n".join(summary_lines(run, colour=False, quiet=False))
    summary = markdown(run)
    page = report(run, read(tmp_path / "none", ()))

    assert "untested   1 rule" in console
    assert "UNTESTED 1 requirement" in console
    assert "<summary>1 untested</summary>" in summary
    assert others in summary
    assert '<a href="#untested">1 rule</a>' in page
    assert 'Not tested <span class="num">1</span>' in page
    assert others in page


def test_a_failure_says_what_where_and_how_to_see_it_again() -> None:
    text = markdown(sample().run())

    assert "- **FAIL PAGE-026** `currentPage` of the account query counts from 0" in text
    assert f"`{ACCOUNTS}` at `data.currentPage`: seen `1`, expected `0` (exchange 41)" in text
    assert f"`portal-conformance run --rerun PAGE-026 --target {URL} --profile staging.toml`" in text


def test_a_rule_that_the_same_mistake_contradicts_says_so() -> None:
    made = conformant()
    for number, rule in ((901, "AUTHN-007"), (902, "AUTHN-008")):
        answer = exchange(number, PROFILE, answer=envelope({}))
        made.add(answer)
        made.contradict(rule, answer, path="status", expected=401)

    first, second = markdown(made.run()).split("**FAIL AUTHN-008**")

    assert "the same mistake" not in first
    assert "the same mistake as AUTHN-007" in second


def test_known_failures_are_not_listed_among_what_blocks() -> None:
    run = sample().run()
    listed = row_of(next(each for each in run.findings if each.requirement == "ENV-008"))
    entry = replace(listed, reason="fixed in release 7", until=date(2031, 2, 1), ticket="PORTAL-123")
    gone = BaselineRow("ENV-001", "GET /x", reason="was broken")

    text = markdown(with_rows(run, entry, gone))

    assert "What fails the run (5)" in text
    assert "4 new · 1 known · 1 stale · 0 expired" in text
    assert "- **STALE** `ENV-001 GET /x`: in the baseline, but no longer fails" in text
    assert text.index("**STALE**") < text.index("Against the baseline")
    assert "fixed in release 7, until 2031\\-02\\-01, PORTAL\\-123" in text.partition("Known")[2]


def test_an_entry_of_the_baseline_that_alone_fails_the_run_is_what_fails_it() -> None:
    old = BaselineRow("ENV-999", "GET /x", reason="was broken", until=date(2026, 11, 20))

    text = markdown(with_rows(conformant().run(exit_code=1), old))

    assert "What fails the run (1)" in text
    assert "- **EXPIRED** `ENV-999 GET /x`: accepted until 2026-11-20 (was broken)" in text


def test_nothing_that_a_target_sent_becomes_markup() -> None:
    rendered = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(markdown(hostile().run()))

    for forbidden in ("<script", "<img", '"javascript:', "<h1>", 'evil.example.test"'):
        assert forbidden not in rendered


def test_code_holds_any_text() -> None:
    assert code("a`b") == "``a`b``"
    assert code("`") == "`` ` ``"
    assert code("a|b\nc") == "`a\\|b␊c`"


def test_quoted_text_reads_letter_by_letter() -> None:
    rendered = MarkdownIt().render(quoted("*a* _b_ [c](d) <e> & #1"))

    assert rendered == "<p>*a* _b_ [c](d) &lt;e&gt; &amp; #1</p>\n"


def test_a_run_with_thousands_of_findings_gives_a_short_summary() -> None:
    made = conformant()
    answer = exchange(50, PROFILE, answer=envelope("x" * 100_000))
    for row in list(made.ledger.requirements):
        made.contradict(row, answer, path="data", expected=None)

    assert len(markdown(made.run())) < 60_000
