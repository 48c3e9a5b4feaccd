"""A run in words: the verdict, the numbers that matter, what blocks, what was not tested."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from conformance.report.formats.terminal import summary_lines
from conformance.report.formats.write import write_all
from conformance.report.model.failures import failures_of
from conformance.report.model.run import Ending, Regression, Run, Scope
from conformance.report.model.words import BUNDLED, headline, levels, numbers, standing
from conformance.spec import REQUIREMENTS
from conformance.spec.endpoints import LOGOUT, PROFILE, ROLES
from conformance.tests.sample_run import Sample, conformant, row_of, sample, with_rows

MUSTS = sum(row.level == "must" and row.can_hold for row in REQUIREMENTS.values())


def with_baseline(run: Run, *signatures: str, expires: date | None = None) -> Run:
    rows = (replace(row_of(each), until=expires) for each in run.findings if each.signature in signatures)
    against = with_rows(run, *rows)
    assert against.baseline is not None
    is_failed = bool(against.baseline.new or against.baseline.stale)
    return against.model_copy(update={"exit_code": int(is_failed)})


LOST = Regression(exchange=7, endpoint=ROLES, path="data[0].bizId", kind="changed")
LOGIN = Scope(selection="-k login")
CAUSES = "5 causes at most: 1 shows a secret, 4 break a client"

HEADLINES: list[tuple[Run, str, str, str]] = [
    (sample().run(), "bad", "Not conformant", f"{CAUSES}; warnings of 1 cause beside."),
    (sample().run(strict=True), "bad", "Not conformant", "of the warnings ACCOUNT-015 count too (--fail-on"),
    (conformant().run(exit_code=2), "unsure", "Interrupted", "The report covers what was judged before"),
    (sample().run(exit_code=2), "unsure", "Interrupted", f"Before that, it failed for {CAUSES}"),
    (conformant().run(exit_code=3), "unsure", "Internal error", "does not judge the target"),
    (Sample().run(exit_code=5), "unsure", "Inconclusive", "Too little was tested"),
    (
        Sample().run(exit_code=5, ending=Ending(inconclusive="[accounts.admin] never received a token.")),
        *("unsure", "Inconclusive", "[accounts.admin] never received a token."),
    ),
    (conformant().run(exit_code=6), "unsure", "Inconclusive", "could not be reached"),
    (conformant().run(exit_code=7), "bad", "Clean-up incomplete", "could not restore everything"),
    (conformant().run(scope=LOGIN), "unsure", "Selection", "of the portal as a whole. Selected: -k login."),
    (sample().run(scope=LOGIN), "bad", "Not conformant in a selection", " Selected: -k login."),
    (conformant().run(scope=Scope(bundled=True)), "good", "Conformant", BUNDLED),
    (sample().run(scope=Scope(bundled=True)), "bad", "Not conformant", BUNDLED),
    (conformant().run(command="check"), "good", "Nothing contradicted", "shows a part of a portal."),
    (conformant().run(command="replay"), "good", "No regression", "Nothing contradicted."),
    (
        conformant().run(exit_code=1, command="replay", regressions=[LOST]),
        *("bad", "Regressed"),
        "1 answer differs from the recording, at 1 place.",
    ),
]


@pytest.mark.parametrize(("run", "tone", "title", "words"), HEADLINES)
def test_a_run_has_a_headline_for_each_ending(run: Run, tone: str, title: str, words: str) -> None:
    head = headline(run)

    assert (head.tone, head.title) == (tone, title)
    assert words in head.sentence


def test_a_pinned_reading_that_differs_contradicts_no_requirement_of_the_specification() -> None:
    run = sample().run()
    entry = next(row for row in run.requirements if row.verdict == "fail")
    pin = entry.model_copy(update={"id": "READING-success-status"})

    head = headline(run.model_copy(update={"requirements": [*run.requirements, pin]}))

    pinned = "1 reading that the profile pins differs"
    assert head.sentence == f"{CAUSES}; {pinned}; warnings of 1 cause beside."


def test_under_a_verdict_stands_how_much_was_tested_what_was_not_and_what_would_test_more() -> None:
    builder = conformant()
    for rule, fault_class in (("FILE-001", "target"), ("FILE-002", "target"), ("ORDER-001", "configuration")):
        builder.ledger.tallies.pop(rule)
        builder.ledger.leave_untested(rule, "a reason", fault_class)  # type: ignore[arg-type]
    more = ["--impact mutating tests 80 rules more", "[accounts.limited] tests 1 rule more"]

    assert headline(conformant().run()).sentence == "Nothing contradicted."
    assert dict(standing(builder.run(scope=Scope(more=more)))) == {
        "tested": f"96 % of {MUSTS} musts · 1 min 42 s",
        "untested": "3 rules, 2 of them because of what the portal answered; "
        "18 more cannot be seen from outside",
        "more": "; ".join(more),
    }


def test_the_terminal_the_summary_and_the_page_have_the_same_lines_under_the_verdict(tmp_path: Path) -> None:
    run = sample().run(scope=Scope(more=["--impact mutating tests 80 rules more"]))
    write_all(run, tmp_path, exchanges=sample().write(tmp_path / "exchanges.jsonl"))
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8").replace("\\", "")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    top = page[page.index("<header") : page.index("</header")]

    lines = summary_lines(run, colour=False, quiet=True)
    head = headline(run).sentence
    assert lines[-4:] == [
        f"Not conformant  {head}",
        *(f"{label:<10} {words}" for label, words in standing(run)),
    ]
    assert summary.startswith(f"## Not conformant\n\n{head}\n\n")
    assert [f"- **{label}** {words}\n" in summary for label, words in standing(run)] == [True] * 3
    assert f'<p class="lead">{head}</p>' in top
    for words in ("https://portal.example.test", "21 Nov 2026, 09:53 UTC", "read-only: sign in and read"):
        assert words in top
    assert f"<dt>tested</dt><dd>90 %<small> of {MUSTS} musts</small></dd>" in top
    assert "<dt>More</dt><dd>--impact mutating tests 80 rules more</dd>" in top


def test_a_lawful_replay_tells_what_changed_and_not_how_much_of_the_specification_it_came_to() -> None:
    states = {"same": 250, "changed": 37, "regressed": 3, "skipped": 10}
    endpoints = {PROFILE: {"same": 250, "changed": 37}, ROLES: {"regressed": 3}, LOGOUT: {"skipped": 10}}
    replay = {"states": states, "compared": 290, "wanted": 300, "endpoints": endpoints}

    run = conformant().run(command="replay").model_copy(update={"replay": replay})
    head = headline(run)

    assert (head.tone, head.title, head.sentence) == ("good", "No regression", "Nothing contradicted.")
    compared = (
        "290 of 300 exchanges compared, at 2 of 88 endpoints: 250 as recorded, "
        "37 changed as the specification permits"
    )
    assert standing(run) == [("tested", f"{compared}, 3 different as is accepted · 1 min 42 s")]


def test_a_run_whose_failures_are_all_known_has_no_new_one() -> None:
    run = sample().run()
    run = with_baseline(run, *(finding.signature for finding in run.findings if finding.verdict == "fail"))

    head = headline(run)

    assert (head.tone, head.title) == ("known", "No new failure")
    assert "all listed in the baseline: 5 causes at most: 1 shows a secret" in head.sentence
    assert failures_of(run).blockers == ()


def test_the_headline_says_that_the_other_failures_are_known() -> None:
    run = sample().run()
    known = [finding.signature for finding in run.findings if finding.requirement in ("ENV-008", "ENV-011")]

    assert headline(with_baseline(run, *known)).sentence == (
        "3 causes at most: 1 shows a secret, 2 break a client; warnings of 1 cause beside; "
        "2 others are known from the baseline."
    )
    assert "baseline" not in headline(run).sentence


def test_the_numbers_count_what_held_of_what_could_be_decided() -> None:
    run = sample().run()

    must = [row for row in run.requirements if row.level == "must"]
    decided = [row for row in must if row.verdict in ("pass", "fail")]
    assert levels(run)[0] == ("must", len(decided) - 5, len(decided))
    assert numbers(run).startswith(f"must {len(decided) - 5}/{len(decided)} · should ")
    assert numbers(run).endswith(f" · {run.summary.untested} untested")
    assert "%" not in numbers(run)
