"""``--only``, ``--skip`` and ``--failed``: which rules count, in a run, a plan, a check and a listing."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.errors import UsageError
from conformance.judging import Judge, watch
from conformance.report.model.again import rerun
from conformance.report.model.run import Run, Scope
from conformance.run.catalogue import collect, pytest_arguments
from conformance.run.outlook.explanation import explain
from conformance.run.outlook.plan import PlanChoice, plan
from conformance.run.rerun import failed_rules, rerun_selection
from conformance.run.testable import TESTABLE
from conformance.spec import REQUIREMENTS
from conformance.target.bundled import running_portal
from conformance.tests.deployment import deployed
from conformance.tests.sample_run import (
    PROFILE,
    ROLES,
    Sample,
    conformant,
    envelope,
    exchange,
    reported,
    sample,
)
from conformance.tests.test_unreachable import nobody
from conformance.verdicts.findings import Ledger
from conformance.verdicts.selection import RuleSelection, endpoint_in, is_specific, rules_of, select_rules
from reference_impl.faults import FAULTS

FAULT_OF_PAGE_005 = next(name for name, fault in FAULTS.items() if "PAGE-005" in fault.breaks)
CURRENT_WORKSPACE = "GET /web/v1/system/workspaces/current"
LOGIN_INITIATE = "POST /web/v1/system/auth/login/initiate"


@pytest.mark.parametrize(
    "pattern, holds",
    [
        ("LOGIN-021", lambda row: row.id == "LOGIN-021"),
        ("login-021", lambda row: row.id == "LOGIN-021"),
        ("LOGIN-*", lambda row: row.id.startswith("LOGIN-")),
        ("PAGE-00?", lambda row: row.id.startswith("PAGE-00")),
        ("login", lambda row: row.chapter == "LOGIN"),
        ("should", lambda row: row.level == "should"),
        ("Response envelope", lambda row: row.section == "Response envelope"),
        (LOGIN_INITIATE, lambda row: LOGIN_INITIATE in row.operations and is_specific(row)),
        (LOGIN_INITIATE.split()[1], lambda row: LOGIN_INITIATE in row.operations and is_specific(row)),
        ("*/login/initiate", lambda row: LOGIN_INITIATE in row.operations and is_specific(row)),
    ],
)
def test_a_pattern_names_rules_by_id_prefix_chapter_section_endpoint_or_level(pattern, holds) -> None:  # type: ignore[no-untyped-def]
    expected = {row.id for row in REQUIREMENTS.values() if holds(row)}

    assert expected
    assert rules_of(pattern) == expected


@pytest.mark.parametrize(
    "pattern, nearest",
    [
        ("LOGN-*", "LOGIN-*"),
        ("LOGN", "LOGIN"),
        ("LOGIN-999", "LOGIN-0"),
        ("musst", "must"),
        ("/web/v1/system/profil", "/web/v1/system/profile"),
        ("POST /web/v1/system/auth/login/initate", LOGIN_INITIATE),
    ],
)
def test_an_unknown_pattern_is_an_error_with_the_nearest(pattern: str, nearest: str) -> None:
    with pytest.raises(UsageError) as wrong:
        rules_of(pattern, option="--skip")

    assert str(wrong.value).startswith(f"--skip {pattern}: no rule")
    assert nearest in str(wrong.value).partition("The nearest are")[2]


def test_what_is_skipped_is_taken_from_what_is_selected() -> None:
    selection = select_rules(["LOGIN", "PAGE"], ["should", "open"])

    assert selection is not None
    assert selection.text == "--only LOGIN, --only PAGE, --skip should, --skip open"
    assert {REQUIREMENTS[rule].level for rule in selection.rules} == {"must"}
    assert {REQUIREMENTS[rule].chapter for rule in selection.rules} == {"LOGIN", "PAGE"}
    assert not selection.excludes("READING-of-a-profile")


def test_an_endpoint_selects_each_rule_that_names_it_and_general_ones_at_this_endpoint_alone() -> None:
    selection = select_rules([CURRENT_WORKSPACE], [])

    assert selection is not None
    assert selection.rules == {row.id for row in REQUIREMENTS.values() if CURRENT_WORKSPACE in row.operations}
    assert set(selection.limited) == {rule for rule in selection.rules if not is_specific(REQUIREMENTS[rule])}
    cases = {row.id for row in PlanChoice(selection).chosen(collect())}
    forged = "cases/every_endpoint/test_tokens.py::test_a_forged_token_is_refused"
    assert f"{forged}[{CURRENT_WORKSPACE}]" in cases
    assert {endpoint_in(case) for case in cases} <= {"", *REQUIREMENTS["AGREE-003"].operations}


def test_a_rule_that_counts_at_one_endpoint_is_not_decided_at_another() -> None:
    ledger = Ledger(REQUIREMENTS, selection=select_rules([CURRENT_WORKSPACE], []))
    wrong = {"workspaceKind": {"code": "LIVE", "value": 1}}
    judge = watch(ledger, judge=Judge())

    for at, value in enumerate((10010101, 1), 1):
        kind = {"accountPortal": {"code": "SYSTEM", "value": value}}
        judge(exchange(at, PROFILE, answer=envelope(kind), token=True))
    assert (result(ledger, "ENUM-005"), ledger.findings) == ("untested", [])

    judge(exchange(3, CURRENT_WORKSPACE, answer=envelope(wrong), token=True))
    assert result(ledger, "ENUM-005") == "fail"
    assert {finding.endpoint for finding in ledger.findings} == {CURRENT_WORKSPACE}


def result(ledger: Ledger, rule: str) -> str:
    return next(row.verdict.value for row in ledger.results() if row.requirement.id == rule)


def test_without_options_there_is_no_selection_and_one_of_nothing_is_an_error() -> None:
    assert select_rules([], []) is None
    with pytest.raises(UsageError, match="no rule is left"):
        select_rules(["LOGIN-021"], ["LOGIN"])


def test_failed_takes_the_failures_of_the_last_report(tmp_path: Path) -> None:
    run = sample().run()
    failed = {row.id for row in run.requirements if row.verdict == "fail"}

    with pytest.raises(UsageError, match="Run all cases first"):
        failed_rules(tmp_path)
    reported(tmp_path, conformant().run())
    with pytest.raises(UsageError, match="nothing failed"):
        failed_rules(tmp_path)
    reported(tmp_path, run)
    assert failed_rules(tmp_path) == failed
    reported(tmp_path, run.model_copy(update={"fail_on": "should"}))
    assert failed_rules(tmp_path) > failed


@pytest.mark.parametrize("rule", ["LOGIN-090", "AGREE-004"])
def test_an_explanation_names_no_case_of_an_endpoint_that_the_rule_is_not_about(rule: str) -> None:
    (explained,) = explain([rule])

    keys = [key for each in explained.decided_by for key in re.findall(r"\[([A-Z]+ /\S+)\]", each.name)]
    assert explained.decided_by
    assert set(keys) <= set(explained.endpoints)


@pytest.mark.slow
def test_a_run_of_some_rules_judges_no_other(tmp_path: Path) -> None:
    faults = ["countries-value-off-by-one", "success-message-done"]
    with deployed(tmp_path, faults=faults) as portal:
        run = portal.run("--only", "CONSTANT-*", "--skip", "open")
        first = Run.read(run.out / "results.json")
        failed = portal.run("--failed")
    again = Run.read(failed.out / "again" / "results.json")

    assert (run.code, failed.code) == (1, 1)
    assert Run.read(run.out / "results.json") == first  # the report that it read stays
    for each in (first, again):
        assert {finding.requirement for finding in each.findings} == {"CONSTANT-020"}
        left_out = next(row for row in each.requirements if row.id == "ENV-007")
        assert (left_out.verdict, left_out.reason) == ("untested", f"not selected by {each.scope.selection}")
    assert "A selection of the cases: --only CONSTANT-*, --skip open." in run.said
    assert "A selection of the cases: --failed." in failed.said
    assert "rules     1 selected" in failed.said
    assert (first.scope.selection, again.scope.selection) == ("--only CONSTANT-*, --skip open", "--failed")


@pytest.mark.parametrize(("option", "what"), [("--only", "selection"), ("--rerun", "rerun")])
def test_a_named_folder_keeps_the_report_of_a_whole_run_too(
    tmp_path: Path, option: str, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mine"
    whole = Sample()
    whole.contradict("CONSTANT-020", exchange(1, ROLES, answer=envelope()), path="data", expected=[])
    before = reported(out, whole.run()).read_bytes()

    with nobody() as url:
        main(["run", "--target", url, option, "CONSTANT-020", "--out", str(out)])

    assert (out / "results.json").read_bytes() == before
    assert Run.read(out / "again").scope.selection == f"{option} CONSTANT-020"
    assert f"which stays: this {what} writes to" in " ".join(capsys.readouterr().err.split())


def test_pytest_itself_leaves_the_report_of_a_whole_run_where_it_is_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "mine"
    before = reported(out, conformant().run()).read_bytes()

    with running_portal() as portal:
        options = {"target": portal.portal.url, "only": "CONSTANT-020", "out": out}
        words = [f"--conformance-{name}={value}" for name, value in options.items()]
        pytest.main([*pytest_arguments(), *words])

    assert (out / "results.json").read_bytes() == before
    assert Run.read(out / "again").scope.selection == "--only CONSTANT-020"
    assert "which stays: this selection writes to" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_a_rerun_of_a_rule_counts_no_other_rule_and_one_of_a_case_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with deployed(tmp_path, faults=[FAULT_OF_PAGE_005]) as portal:

        def rerun_of(name: str) -> tuple[int, Run]:
            return main(portal.arguments("--rerun", name, out=tmp_path)[3:]), Run.read(tmp_path)

        code, mended = rerun_of("PAGE-002")
        shown = capsys.readouterr().out
        failing, of_rule = rerun_of("PAGE-005")
        (found,) = of_rule.findings
        by_case, of_case = rerun_of(str(found.case))

    assert (code, mended.findings) == (0, [])
    assert "also showed contradictions of PAGE-005, which this rerun does not count" in mended.notes[0]
    assert "tested     1 of 1 selected musts · " in shown
    others = [row for row in mended.requirements if row.id != "PAGE-002" and not row.untestable]
    assert {row.reason for row in others} == {"not selected by --rerun PAGE-002"}
    assert (failing, by_case, found.requirement) == (1, 1, "PAGE-005")
    assert not any("also showed" in note for note in of_rule.notes)
    assert of_rule.summary.pass_ == 0 < of_case.summary.pass_


def test_the_printed_command_of_each_requirement_selects_a_case() -> None:
    rows, run = collect(), sample().run()
    declared = {rule for row in rows for rule in row.requirements}

    assert not declared.issuperset(TESTABLE)
    for rule in sorted(TESTABLE):
        words = shlex.split(rerun(run, rule))
        assert PlanChoice(rerun=words[words.index("--rerun") + 1]).chosen(rows), rule


def test_a_rerun_of_a_rule_that_other_options_leave_out_is_a_usage_error() -> None:
    rules = select_rules(["PAGE-*"], [])
    counted = rerun_selection("PAGE-002", rules)

    assert counted == RuleSelection(frozenset({"PAGE-002"}), "--rerun PAGE-002, --only PAGE-*")
    assert rerun_selection("test_paging", None) is None
    with pytest.raises(UsageError, match="--rerun LOGIN-021, --only PAGE-\\*: no rule is left"):
        rerun_selection("LOGIN-021", rules)


def test_failed_says_that_it_reads_the_report_of_a_selection(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for selection, said in (("", False), ("--only PAGE-*", True)):
        reported(tmp_path, sample().run(scope=Scope(selection=selection)))
        for out in (tmp_path, tmp_path / "again"):
            assert main(["plan", "--failed", "--out", str(out)]) == 0
            note = " ".join(capsys.readouterr().err.split())
            assert ("results.json is of a selection (--only PAGE-*) and of no whole run" in note) is said


def test_a_plan_of_some_rules_counts_their_cases_only() -> None:
    with running_portal() as profile:
        whole = plan(profile, "disruptive")
        some = plan(profile, "disruptive", PlanChoice(select_rules(["LOGIN"], [])))
        again = plan(profile, "disruptive", PlanChoice(rerun="LOGIN-021"))

    assert 0 < again.cases < some.cases < whole.cases
    musts = [row for row in REQUIREMENTS.values() if row.chapter == "LOGIN" and row.level == "must"]
    assert some.musts == some.testable == sum(row.can_hold for row in musts)


def test_an_explanation_shows_place_level_deciders_and_verdicts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "LOGIN-022", "page-008"]) == 0

    pages, login = capsys.readouterr().out.split("\n\n")
    assert login.startswith(f"LOGIN-022  {REQUIREMENTS['LOGIN-022'].statement}\nlevel       must: ")
    assert "place       States and transitions › Moves that are stated › POST login/mfa/send\n" in login
    assert "decided by  cases/authentication/test_emailed_code.py::" in login
    assert "(needs inboxes)" in login
    assert re.search(r"(?m)^FAIL        portal-conformance serve .* --fault send-is-refused$", login)
    assert "\nWARN        " in pages
    assert "check pages.total_pages_of_the_pagination_object (needs an answer" in pages
