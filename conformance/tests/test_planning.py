"""What a run is said to do before it begins, and what it does with the sign-ins that cases leave."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib.resources import files
from math import inf
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.errors import UsageError
from conformance.run.catalogue import CaseRow, collect
from conformance.run.outlook.plan import PlanChoice, ahead, plan
from conformance.run.outlook.plan_text import ahead_lines, as_json, as_line, as_text
from conformance.run.testable import beyond
from conformance.spec import Impact
from conformance.spec import endpoints as op
from conformance.target.portal import Portal, ProfileAccount
from conformance.target.portal.ingress import NO_CODE
from conformance.target.profile.model import Profile, parse
from conformance.target.profile.tables import BotChallenge, Records
from conformance.tests.reached import connected, replacing, without
from conformance.tests.sample_run import URL, reported, sample
from conformance.traffic.exchange import Exchange
from conformance.verdicts.findings import mildest_first
from conformance.verdicts.selection import select_rules
from reference_impl.serve import start


@pytest.fixture(scope="module")
def text() -> str:
    with start(seed=7) as running:
        return running.profile()


def without_clock(text: str) -> Profile:
    return parse(without("clock")(text), {})


def test_what_needs_a_window_is_planned_where_the_profile_names_one(text: str) -> None:
    without_window = plan(without_clock(text.replace("login_window", "# login_window")), "disruptive")
    whole = plan(without_clock(text), "disruptive")

    assert "test_ten_sign_ins_begin_in_a_window" in " ".join(without_window.untested)
    assert without_window.sign_ins < whole.sign_ins
    assert "waits     up to 3600 s (a sign in goes from its first step to the end" in as_text(whole)


def test_a_plan_leaves_out_the_waits_that_its_time_budget_has_no_room_for(text: str) -> None:
    whole = plan(without_clock(text), "disruptive")
    short = plan(without_clock(text), "disruptive", PlanChoice(budget=600.0))

    assert (whole.minutes, whole.left_out) == (60, [])
    assert short.minutes <= 10
    assert {wait.partition(":")[0] for wait in short.left_out} == {"3600 s", "600 s"}
    assert "left out  what follows a wait of 3600 s (a sign in goes from" in as_text(short)
    assert set(whole.rules) - set(short.rules) == {"AUTHN-011", "AUTHN-012", "AUTHN-016", "AUTHN-021"}


def test_a_rule_of_an_endpoint_that_only_refuses_says_what_the_profile_lacks(text: str) -> None:
    whole = without_clock(text)
    profile = whole.model_copy(update={"bot_challenge": BotChallenge(), "records": Records()})

    undecided = plan(profile, "read-only").undecided

    assert undecided["ORDER-025"] == "the profile has no [bot_challenge] with a token"
    assert undecided["FILE-023"] == "the profile names no file under [records]"


def test_a_rule_that_a_greater_impact_or_a_clock_decides_names_the_impact() -> None:
    clock, impact = "the profile has no [clock] with advance, a simulated clock", "needs --impact disruptive"

    assert next(iter(mildest_first({clock: 1, impact: 2}))) == impact
    assert beyond("LOGOUT-001", "mutating") == f"{impact}; this run is allowed mutating"
    assert beyond("LOGOUT-001", "disruptive") is beyond("ENV-008", "read-only") is None


def test_a_plan_says_that_no_account_is_changed_where_no_time_is_left_to_restore_it(text: str) -> None:
    longer = "the time budget is shorter than what restoring them may take"
    changes = f"changes   none of accounts, so that the rules on them stay undecided: {longer}"

    plans = [plan(without_clock(text), "mutating", PlanChoice(budget=seconds)) for seconds in (60, 600)]

    assert [changes in as_text(each) for each in plans] == [True, False]


def test_no_more_mails_are_planned_than_the_profile_allows(text: str) -> None:
    few = parse(text.replace("max_mails = 500", "max_mails = 3"), {})
    unread = parse(text.replace('inbox = "mail"\n', ""), {})

    assert plan(few, "disruptive").mails == 3
    assert "mails     at most 3, by [limits] max_mails" in as_text(plan(few, "read-only"))
    assert plan(unread, "read-only").mails == 0, "no code is mailed to an account without an inbox"
    assert plan(unread, "disruptive").mails == 500


@pytest.mark.parametrize(
    "words",
    [
        *("--profile=other.toml", "--target=http://127.0.0.1:9", "--impact=mutating", "--time-budget=30s"),
        *("--rerun=ROLE-011", "--only=ROLE-*", "--skip=ROLE-*", "--failed --out=reports"),
    ],
)
def test_each_option_that_plan_offers_reaches_the_plan(
    words: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported(tmp_path / "reports", sample().run())
    for name, url in (("portal", URL), ("other", "http://127.0.0.1:9")):
        profile = replacing('url = "[^"]*"', f'url = "{url}"')(text)
        (tmp_path / f"{name}.toml").write_text(profile, encoding="utf-8")
    asked: list[object] = []

    def planned(*asked_for: object) -> None:
        asked.append(asked_for)
        raise UsageError("planned")

    monkeypatch.setattr("conformance.cli.outlook.plan", planned)
    monkeypatch.chdir(tmp_path)

    usual = ["plan", "--profile=portal.toml", "--out=nowhere"]
    assert [main(usual), main([*usual, *words.split()])] == [4, 4]
    assert asked[0] != asked[1]


def test_a_plan_in_json_names_the_rules_and_endpoints_and_in_a_line_the_totals(text: str) -> None:
    planned = plan(parse(text, {}), "read-only", PlanChoice(select_rules(["LOGIN-*"], [])))
    shown = json.loads(as_json(planned))

    assert shown["endpoints"] == planned.endpoints
    assert op.LOGIN_INITIATE not in shown["rules"]
    assert all(rule.startswith("LOGIN-") for rule in shown["rules"])
    assert shown["floor"] is None
    assert as_line(planned).endswith(f" · {planned.testable} of {planned.musts} musts")


def case(name: str, *, sign_ins: int = 0, waits: float = 0.0) -> CaseRow:
    return CaseRow(f"cases/test_it.py::{name}", (), "read-only", (), sign_ins, waits)


CASES_AHEAD = [
    case("test_reads"),
    case("test_sends", sign_ins=12),
    case("test_ends", sign_ins=2, waits=3600.0),
    case("test_cools_down", sign_ins=1, waits=60.0),
]


def lines_ahead(text: str, *more: CaseRow, budget: float = inf, impact: Impact = "read-only") -> list[str]:
    outlook = ahead([*CASES_AHEAD, *more], without_clock(text), impact, budget=budget)
    return [line for line in ahead_lines(outlook) if not line.startswith("codes")]


def test_a_run_says_what_it_will_wait_for(text: str) -> None:
    assert lines_ahead(text.replace("login_window = 60", "login_window = 30"), budget=600.0) == [
        "time      1 min at least, as its waits overlap, and what its requests take",
        "sign-ins  at most 15 with --effort quick, 10 in each window of 30 s",
        "waits     up to 60 s (cools down)",
        "left out  what follows a wait of 3600 s (ends): it is longer than --time-budget",
    ]
    partly = lines_ahead(text, case("test_lasts", waits=601.0), budget=600.0)
    assert partly[0] == "time      10 min at least, as its waits overlap, and what its requests take"
    restoring = lines_ahead(text, budget=600.0, impact="disruptive")[-1]
    kept = r"restoring up to \d+ s of the time budget are kept as long as something is changed, to restore it"
    assert re.fullmatch(kept, restoring)
    unknown = lines_ahead(text.replace("login_window", "# login_window"))
    assert "waits     up to 3600 s (ends)" in unknown
    assert unknown[0].startswith("time      60 min at least")
    assert unknown[1].endswith(" (assumed: [limits] login_window is not given)")
    assert unknown[-1] == "budget    --time-budget 10m leaves out what takes longer, and names it"


def initiations(seen: Sequence[Exchange]) -> int:
    return sum(one.request.url.endswith("/login/initiate") for one in seen)


def leaving_a_session(portal: Portal) -> ProfileAccount:
    """The spare account, with a login session that a case has left."""
    spare = portal.account("spare")
    portal.login.left.put(spare.email, portal.login.initiate(spare))
    return spare


def test_a_login_session_that_is_left_is_gone_on_with_and_begins_no_other() -> None:
    with connected(clock=False) as (portal, exchanges, _):
        spare = leaving_a_session(portal)
        assert portal.left("spare") == 1

        signed_in = spare.another_session()

        assert signed_in.completed.success
        assert portal.left("spare") == 0
        assert initiations(exchanges) == 1
        spare.another_session()
        assert initiations(exchanges) == 2

        leaving_a_session(portal)
        assert portal.left("spare") == 1
        spare.password_changed_to("Another-0ne!")
        assert portal.left("spare") == 0


def test_a_left_session_that_is_refused_is_replaced_by_another() -> None:
    with connected(clock=False) as (portal, _, running):
        spare = leaving_a_session(portal)
        running.portal.login_sessions.clear()

        assert spare.another_session().completed.success


def test_it_is_known_when_a_code_was_sent_for_another_login_session_of_the_account() -> None:
    with connected() as (portal, _, _running):
        spare, limited = portal.account("spare"), portal.account("limited")
        one, two, foreign = (portal.login.initiate(account) for account in (spare, spare, limited))

        sent = portal.login.send(one)

        assert portal.login.sent_elsewhere(one) is None
        assert portal.login.sent_elsewhere(foreign) is None
        assert portal.login.sent_elsewhere(two) == pytest.approx(sent.time, abs=5)


def test_no_case_that_changes_a_password_goes_on_with_what_others_left() -> None:
    """It would end what the cases after it could go on with."""
    reusing = {row.id.partition("::")[0] for row in collect() if row.reuses}

    assert reusing
    assert [name for name in reusing if "password_changed_to" in (CASES / name).read_text("utf-8")] == []


CASES = Path(str(files("cases"))).parent


def test_a_plan_counts_what_its_time_budget_has_no_sign_ins_and_no_time_for(text: str) -> None:
    profile = without_clock(text + "\n[expect]\nmusts = 435\n")
    whole = plan(profile, "disruptive")
    short = plan(profile, "disruptive", PlanChoice(budget=300.0))
    shown = as_text(short)

    assert short.sign_ins < whole.sign_ins
    assert short.cases + len(short.late) == whole.cases
    assert set(short.beyond_time) == set(whole.rules) - set(short.rules)
    halved = plan(without_clock(text), "disruptive", PlanChoice(budget=300.0))
    assert halved.floor == plan(without_clock(text), "disruptive").floor
    assert f"would try {short.cases:,} of 1,1" in shown
    counts = f"{len(short.late)} cases not begun, and at least {len(short.beyond_time)} rules, "
    assert f"budget    {counts}" in shown
    assert "floor     435 musts; this run would test fewer, and be inconclusive (exit code 5)" in shown
    assert "floor     435 musts; below it a run is inconclusive (exit code 5)" in as_text(whole)


def test_a_plan_without_an_access_code_says_that_nothing_may_be_tested(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("PORTAL_ACCESS_CODE", raising=False)
    monkeypatch.chdir(tmp_path)

    assert main(["plan", "--target", "http://127.0.0.1:1", "--only", "ACCOUNT-005"]) == 0

    assert " ".join(capsys.readouterr().out.split()).endswith(NO_CODE)
