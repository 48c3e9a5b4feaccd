"""The last block of the terminal, and the whole result in a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.report.formats.closing import closing_block, verdict_line
from conformance.report.formats.write import write_all
from conformance.report.model.run import BaselineEntry, BaselineOutcome, ChangesMade, Run, Scope
from conformance.tests.sample_run import ACCOUNTS, PROFILE, conformant, envelope, exchange


def test_a_line_counts_the_causes_and_names_their_rules() -> None:
    builder = conformant()
    profile = exchange(40, PROFILE, answer=envelope(timestamp=1795254787))
    accounts = exchange(41, ACCOUNTS, answer=envelope(timestamp=1795254787))
    for answer in (profile, accounts):
        builder.contradict("ENV-011", answer, path="timestamp", expected="epoch milliseconds")
    builder.contradict("ENV-008", profile, path="data", expected=None)
    run = builder.run()

    line = verdict_line(run, Path("reports"))
    assert line.startswith("Not conformant: 2 causes at most: 2 break a client. · 97 % of ")
    assert " musts tested · ENV-008, ENV-011 · " in line
    assert line.endswith("exit code 1: the specification is contradicted")


def test_against_a_baseline_a_line_counts_and_names_what_is_new_alone() -> None:
    builder = conformant()
    profile, accounts = exchange(40, PROFILE, answer=envelope()), exchange(41, ACCOUNTS, answer=envelope())
    for rule, answer in (("ENV-008", profile), ("ENV-008", accounts), ("ENV-011", accounts)):
        builder.contradict(rule, answer, path="data", expected=None)
    run = builder.run()
    known = [
        BaselineEntry(signature=finding.signature, requirement=finding.requirement)
        for finding in run.findings
        if finding.endpoint == PROFILE
    ]
    against = run.model_copy(update={"baseline": BaselineOutcome(file="base.toml", known=known)})
    line = verdict_line(against, Path("reports"))

    assert line.startswith("Not conformant: 1 cause that breaks a client. · 97 % of ")
    assert " musts tested · ENV-008, ENV-011 · " in line
    assert line.endswith("exit code 1: the specification is contradicted beyond what the baseline lists")
    assert line.count("ENV-011") == 1


def test_the_line_names_the_rules_of_entries_that_are_stale_or_expired() -> None:
    gone = [
        BaselineEntry(signature=f"ENV-001|{key}|status", requirement="ENV-001") for key in (PROFILE, ACCOUNTS)
    ]
    over = [BaselineEntry(signature="LOGIN-022", requirement="LOGIN-022")]
    outcome = BaselineOutcome(file="base.toml", stale=gone, expired=over)
    run = conformant().run().model_copy(update={"baseline": outcome, "exit_code": 1})

    line = verdict_line(run, Path("reports"))

    assert " · stale: ENV-001 · expired: LOGIN-022 · " in line
    assert line.endswith("exit code 1: 2 stale entries in the baseline, 1 expired entry in the baseline")


def test_the_last_line_of_a_run_on_the_bundled_portal_says_that_no_other_was_judged() -> None:
    run = conformant().run().model_copy(update={"exit_code": 0, "scope": Scope(bundled=True)})

    *_, last = closing_block(run, Path("reports"))

    assert last == "exit code  0: nothing failed; no portal of yours was judged, only the bundled one"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (ChangesMade(attempted=17, accepted=3, restored=3), "3 accepted by the target, 3 restored"),
        (
            ChangesMade(attempted=17, accepted=3, restored=2, staying=1),
            "3 accepted by the target, 2 restored, 1 that nothing restores",
        ),
        (
            ChangesMade(attempted=17, accepted=0, restored=0),
            "none: of 17 attempts, most of them wrong on purpose, none was accepted",
        ),
        (ChangesMade(attempted=0, accepted=0, restored=0), "none attempted"),
    ],
)
def test_the_terminal_the_summary_and_the_page_say_what_the_run_changed(
    changes: ChangesMade, words: str, tmp_path: Path
) -> None:
    run = conformant().run(impact="mutating", changes=changes)
    write_all(run, tmp_path, exchanges=conformant().write(tmp_path / "exchanges.jsonl"))

    assert f"changes    {words}" in list(closing_block(run, tmp_path))
    assert f"Changes: {words}\n" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert f"<dt>Changes</dt><dd>{words}</dd>" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert Run.read(tmp_path).changes == changes
