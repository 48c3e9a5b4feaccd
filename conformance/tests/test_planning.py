"""What a run is said to do before it begins, and what it does with the sign-ins that cases leave."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib.resources import files
from math import inf
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.cli.options import PLANNED
from conformance.errors import UsageError
from conformance.report.model.run import OperationTime, Scope, Timed
from conformance.run.catalogue import CaseRow, collect
from conformance.run.costs import CaseCost, CaseCosts
from conformance.run.outlook.pace import ASSUMED, LastRun, Pace, last_run_of, pace_of
from conformance.run.outlook.plan import PlanChoice, RunPlan, plan
from conformance.run.outlook.plan_text import as_json, as_line, as_text
from conformance.run.outlook.precedence import Durations
from conformance.run.outlook.within_budget import Late, late_cases
from conformance.run.planning import forecast
from conformance.run.schedule import Planned
from conformance.run.search import STATE_MACHINES, growth
from conformance.run.testable import reachable
from conformance.spec import Impact
from conformance.spec.endpoints import (
    FILE,
    INVITATIONS,
    LOGIN_COMPLETE,
    LOGIN_INITIATE,
    LOGIN_MFA_SEND,
    PASSWORD_FORGOT,
)
from conformance.spec.tables import MFA_METHODS
from conformance.target.portal import Portal
from conformance.target.portal.ingress import NO_CODE
from conformance.target.profile.model import Profile, load, parse
from conformance.target.profile.tables import BotChallenge, Records
from conformance.tests.deployment import deployed
from conformance.tests.reached import connected, without
from conformance.tests.sample_run import URL, conformant, envelope, error, exchange, sample
from conformance.verdicts.findings import UNDECIDED
from conformance.verdicts.selection import select_rules
from reference_impl.limits import Limits
from reference_impl.serve import start


@pytest.fixture(scope="module")
def text() -> str:
    with start(seed=7) as running:
        return running.profile()


def without_clock(text: str) -> Profile:
    return parse(without("clock")(text), {})


def test_without_a_clock_the_sign_ins_that_cases_share_are_planned_once(text: str) -> None:
    alone = plan(without_clock(text.replace("login_window", "# login_window")), "disruptive")
    sharing = plan(without_clock(text), "disruptive")

    assert "test_ten_sign_ins_begin_in_a_window" in " ".join(alone.untested)
    assert sharing.sign_ins - alone.sign_ins < 13
    assert "waits      up to 3600 s (a sign in goes from its first step to the end" in as_text(sharing)


def test_a_plan_leaves_out_the_waits_that_its_time_budget_has_no_room_for(text: str) -> None:
    whole = plan(without_clock(text), "disruptive")
    short = plan(without_clock(text), "disruptive", PlanChoice(budget=600.0))

    assert (whole.minutes, whole.left_out) == (60, [])
    assert short.minutes <= 10
    assert {wait.partition(":")[0] for wait in short.left_out} == {"3600 s", "600 s"}
    assert "left out   what follows a wait of 3600 s (a sign in goes from" in as_text(short)
    assert set(whole.rules) - set(short.rules) == {"AUTHN-011", "AUTHN-012", "AUTHN-016", "AUTHN-021"}


@pytest.mark.parametrize(
    "case, lacks, budget",
    [
        ("every_endpoint/test_ended_tokens.py::test_an_expired_token_is_refused_everywhere", "clock", 600.0),
        (
            "every_endpoint/test_tokens.py::test_an_account_without_permissions_is_answered_somehow",
            "accounts.limited",
            inf,
        ),
    ],
)
def test_no_request_is_planned_that_only_a_part_of_the_profile_or_a_longer_run_has_sent(
    case: str, lacks: str, budget: float, text: str
) -> None:
    costs = {f"cases/{case}": CaseCost(requests=45)}

    whole, less = (
        plan(parse(profile, {}), "read-only", PlanChoice(budget=budget), measured=costs)
        for profile in (text, without(lacks)(text))
    )

    assert (whole.requests, less.requests) == (45, 0)


def test_the_rules_that_are_not_decided_are_counted_by_reason(text: str) -> None:
    shown = as_text(plan(without_clock(text), "read-only"))

    assert "  needs --impact disruptive\n" in shown
    assert shown.count("needs --impact") == 2
    assert "\nchanges    0\n" in shown


def test_a_rule_of_an_endpoint_that_only_refuses_says_what_the_profile_lacks(text: str) -> None:
    whole = without_clock(text)
    profile = whole.model_copy(update={"bot_challenge": BotChallenge(), "records": Records()})

    undecided = plan(profile, "read-only").undecided

    assert undecided["ORDER-025"] == "the profile has no [bot_challenge] with a token"
    assert undecided["FILE-023"] == "the profile names no file under [records]"


def test_an_authenticator_that_the_spare_account_uses_is_not_planned_to_be_replaced(text: str) -> None:
    whole = without_clock(text)
    spare = whole.accounts["spare"].model_copy(update={"otp_secret": "JBSWY3DPEHPK3PXP"})
    in_use = whole.model_copy(update={"accounts": {**whole.accounts, "spare": spare}})

    assert "MFA-009" not in plan(whole, "disruptive").undecided
    assert "without otp_secret" in plan(in_use, "disruptive").undecided["MFA-009"]


def test_a_plan_names_the_cases_that_change_something(text: str) -> None:
    planned = plan(parse(text, {}), "disruptive")
    shown = as_text(planned)

    assert sum(planned.changing.values()) == planned.changes > 0
    assert "  a record is as it was last changed\n" in shown
    assert " cases more (--format json names each)" in shown
    assert plan(parse(text, {}), "read-only").changing == {}


def test_no_more_mails_are_planned_than_the_profile_allows(text: str) -> None:
    few = text.replace("max_mails = 500", "max_mails = 3")

    assert plan(parse(text, {}), "disruptive").mails > 3
    assert plan(parse(few, {}), "disruptive").mails == 3


def test_with_a_clock_nothing_is_waited_for(text: str) -> None:
    planned = plan(parse(text, {}), "disruptive")

    assert planned.minutes == 0
    assert "[clock] moves the target's time, so that no wait takes any" in as_text(planned)
    assert "\nwaits " not in as_text(planned)


def test_requests_take_their_time_beside_the_waits(text: str) -> None:
    slow = Pace(2.0, "reports/results.json")
    profile = without_clock(text)

    whole = plan(profile, "disruptive", PlanChoice(pace=slow))
    budgeted = plan(profile, "disruptive", PlanChoice(pace=slow, budget=1200.0))
    simulated = plan(parse(text, {}), "disruptive", PlanChoice(pace=slow))

    assert whole.seconds > 2.0 * whole.requests > 3600.0
    assert budgeted.seconds == 1200.0
    assert simulated.seconds == 2.0 * simulated.requests
    assert "2000 ms a request as in reports/results.json" in as_text(whole)
    assert "20 ms a request is assumed before the first run" in as_text(plan(parse(text, {}), "disruptive"))


def test_the_pace_is_that_of_the_last_run_on_the_target(tmp_path: Path) -> None:
    timing = OperationTime(
        endpoint="GET /x", group="g", requests=100, total_ms=1.0, median_ms=1.0, p95_ms=1.0, max_ms=1.0
    )
    wait = Timed(kind="wait", label="a code", start=0.0, end=52.4)
    run = conformant().run().model_copy(update={"timings": [timing], "timeline": [wait]})
    (tmp_path / "results.json").write_text(run.text(), encoding="utf-8")

    assert pace_of(URL, tmp_path).seconds == pytest.approx(0.5)
    assert pace_of(URL, tmp_path).source == str(tmp_path / "results.json")
    assert pace_of("http://elsewhere.example.test", tmp_path) == ASSUMED
    assert pace_of(URL, tmp_path / "nowhere") == ASSUMED


LACKS = ("clock", "bot_challenge", "records", "accounts.limited", "accounts.spare")
IN_VAIN = (
    "cases/agreement/test_owners.py::test_what_is_an_accounts_own_is_shown_to_it_alone[another]",
    "cases/agreement/test_times.py::test_what_is_read_again_bears_the_time_of_its_answer",
    "cases/constants/test_lists.py::test_constants_asked_for_without_permissions_are_answered_somehow[countries]",
    f"cases/headers/test_languages.py::test_a_listed_language_is_served[{FILE}-en]",
    "cases/files/test_files.py::test_an_unknown_file_is_not_found",
    "cases/profile/test_workspaces.py::test_the_callers_workspaces_have_some_form[spare]",
)
REFUSED = "cases/orders/test_range.py::test_the_default_range_is_the_last_thirty_days"
"""Without a bot challenge its first request is refused, and ends it."""


def test_one_account_alone_plans_no_request_of_what_it_cannot_do(text: str) -> None:
    costs = dict.fromkeys((*IN_VAIN, REFUSED), CaseCost(requests=10))
    alone = text
    for table in LACKS:
        alone = without(table)(alone)

    whole, less = (plan(parse(profile, {}), "read-only", measured=costs) for profile in (text, alone))

    assert (whole.requests, less.requests) == (70, 1)
    assert less.untested[IN_VAIN[0]] == "the profile has no [accounts.limited] or [accounts.spare]"


def test_what_nothing_decided_in_the_last_run_is_not_foretold(text: str) -> None:
    profile, silent = parse(text, {}), {"VERSION-001": "nothing decides it"}
    before = plan(profile, "disruptive")
    same = LastRun("disruptive", before.testable, "", silent)

    after = plan(profile, "disruptive", PlanChoice(last=same))

    assert set(before.rules) - set(after.rules) == {"VERSION-001"}
    assert after.undecided["VERSION-001"] == "as in the last run: nothing decides it"
    assert after.floor == before.floor


def test_a_last_run_of_less_impact_time_or_profile_foretells_nothing() -> None:
    last = LastRun("mutating", 400, "10m")

    assert last.foretells("read-only", 400, "10m")
    assert not last.foretells("disruptive", 400, "10m")
    assert not last.foretells("mutating", 401, "10m")
    assert not last.foretells("mutating", 400, "")
    assert LastRun("mutating", 400, "").foretells("mutating", 400, "10m")


def test_the_last_run_names_what_the_answers_of_the_target_did_not_decide(tmp_path: Path) -> None:
    made = sample()
    for rule in ("VERSION-001", "MODEL-006", "FILE-020"):
        made.ledger.tallies.pop(rule, None)
    made.ledger.leave_untested("MODEL-006", "the portal's answers show no timestamp", "target")
    made.ledger.leave_untested("FILE-020", "no file is known")
    run = made.run()
    (tmp_path / "results.json").write_text(run.text(), encoding="utf-8")

    last = last_run_of(URL, tmp_path)

    assert last is not None
    assert last.undecided["VERSION-001"] == UNDECIDED
    assert last.undecided["MODEL-006"] == "the portal's answers show no timestamp"
    assert "FILE-020" not in last.undecided
    selected = run.model_copy(update={"scope": Scope(selection="--only LOGIN-*")})
    (tmp_path / "results.json").write_text(selected.text(), encoding="utf-8")
    assert last_run_of(URL, tmp_path) is None


def test_a_greater_effort_draws_more_in_property_cases_alone(text: str) -> None:
    choices = (PlanChoice(effort=effort) for effort in ("quick", "normal"))
    quick, normal = (plan(parse(text, {}), "disruptive", choice) for choice in choices)

    assert normal.requests > 2 * quick.requests
    assert normal.cases == quick.cases
    assert growth("cases/properties/test_initiate.py::test_it", "normal") == 50 / 8
    assert growth("cases/properties/test_records.py::test_it", "normal") == 40 * 20 / (4 * 12)
    for module in STATE_MACHINES:
        assert "search.through" in (files("cases") / "properties" / f"{module}.py").read_text("utf-8")


@pytest.mark.parametrize(
    "words",
    [
        "--profile=other.toml",
        "--target=http://127.0.0.1:9",
        "--impact=mutating",
        "--out=reports",
        "--time-budget=30s",
        "--rerun=ROLE-011",
        "--only=ROLE-*",
        "--skip=ROLE-*",
        "--failed --out=reports",
        "--effort=normal",
    ],
)
def test_each_option_that_plan_offers_reaches_the_plan(
    words: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    timing = {"endpoint": "GET /x", "group": "g", "requests": 99, "total_ms": 1.0}
    timing |= {"median_ms": 1.0, "p95_ms": 1.0, "max_ms": 1.0}
    last = sample().run().model_copy(update={"timings": [OperationTime.model_validate(timing)]})
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "results.json").write_text(last.text(), encoding="utf-8")
    for name, url in (("portal", URL), ("other", "http://127.0.0.1:9")):
        profile = re.sub(r'(?m)^url = "[^"]*"', f'url = "{url}"', text, count=1)
        (tmp_path / f"{name}.toml").write_text(profile, encoding="utf-8")
    asked: list[object] = []

    def planned(*asked_for: object) -> None:
        asked.append(asked_for)
        raise UsageError("planned")

    monkeypatch.setattr("conformance.run.outlook.plan.plan", planned)
    monkeypatch.chdir(tmp_path)

    usual = ["plan", "--profile=portal.toml", "--out=nowhere"]
    assert [main(usual), main([*usual, *words.split()])] == [4, 4]
    assert asked[0] != asked[1]


def test_a_quiet_plan_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--target", "http://127.0.0.1:9", "--only", "ROLE-*", "--quiet"]) == 0

    assert len(capsys.readouterr().out.splitlines()) == 1


def test_every_option_that_plan_offers_is_tried() -> None:
    marks = test_each_option_that_plan_offers_reaches_the_plan.pytestmark  # type: ignore[attr-defined]
    tried = {word.split("=")[0].strip("- ") for words in marks[0].args[1] for word in words.split()}

    assert {name.replace("_", "-") for name in PLANNED} == {*tried, "min-tested", "brief"}


COSTS = {
    "cases/authentication/test_foreign_tokens.py::test_a_refresh_without_a_token_is_invalid": CaseCost(
        requests=5, sign_ins=2, mails=3,
        accounts={
            "spare": {"mails": 2, "mailed_codes": 1, "wrong_codes": 1},
            "nobody": {"mails": 1, "wrong_passwords": 2},
        },
    )
}  # fmt: skip


def test_a_plan_says_to_whom_mails_go_and_which_sign_ins_are_meant_to_fail(text: str) -> None:
    def shown(profile: str) -> str:
        return as_text(plan(parse(profile, {}), "disruptive", measured=COSTS))

    whole = shown(text)
    alone = shown(without("accounts.spare")(text))
    few = shown(text.replace("max_mails = 500", "max_mails = 1"))
    nobody = "addresses that the suite makes up, at example.test"
    assert "wrong      1 code for spare@example.test, on purpose\n" in whole
    assert f"wrong      2 passwords for {nobody}, on purpose\n" in whole
    assert f"mails      3: 2 to spare@example.test, 1 to {nobody}\n" in whole
    assert "1 code for admin@example.test" in alone
    unread = plan(parse(text.replace('inbox = "mail"\n', ""), {}), "read-only", measured=COSTS)
    assert (unread.mails, unread.changes) == (2, 0), "no code is mailed to an account without an inbox"
    assert plan(parse(text, {}), "read-only").changes == 0
    assert "mails      1 at most, by [limits] max_mails; without it 2 to spare@example.test" in few


def test_a_plan_in_json_names_the_rules_and_endpoints_and_in_a_line_the_totals(text: str) -> None:
    planned = plan(parse(text, {}), "read-only", PlanChoice(select_rules(["LOGIN-*"], [])))
    shown = json.loads(as_json(planned))

    assert shown["endpoints"] == planned.endpoints
    assert LOGIN_INITIATE not in shown["rules"]
    assert all(rule.startswith("LOGIN-") for rule in shown["rules"])
    assert shown["floor"] is None
    assert as_line(planned).endswith(f" · {planned.testable} of {planned.musts} musts")


@pytest.mark.slow
@pytest.mark.parametrize("impact", ["read-only", "mutating"])
def test_a_run_decides_the_rules_and_endpoints_that_its_plan_foretells(
    impact: Impact, tmp_path: Path
) -> None:
    with deployed(tmp_path, seed=7) as portal:
        planned = plan(load(portal.profile), impact)
        run = portal.run("--impact", impact, "--record-costs", str(tmp_path / "costs.json"))

    decided = {row["id"] for row in run.results["requirements"] if row["verdict"] != "untested"}
    costs = [CaseCost(**row) for row in json.loads((tmp_path / "costs.json").read_text("utf-8")).values()]
    assert decided == set(planned.rules)
    every = planned.cases + len(planned.untested)
    assert f"\ncases     {every:,} selected, {planned.cases:,} of them can be tried" in run.said
    assert f" a run would try {planned.cases:,} of {every:,} cases:" in as_text(planned)
    untested = {
        row["id"]: row["reason"] for row in run.results["requirements"] if row["id"] in planned.undecided
    }
    assert {rule: untested[rule].startswith(why) for rule, why in planned.undecided.items()} == (
        dict.fromkeys(untested, True)
    )
    assert sum(cost.requests for cost in costs) == pytest.approx(planned.requests, rel=0.1)
    assert sum(cost.sign_ins for cost in costs) == pytest.approx(planned.sign_ins, rel=0.1)
    assert sum(cost.mails for cost in costs) == sum(
        counts.get("mails", 0) for cost in costs for counts in cost.accounts.values()
    )


def test_what_each_case_costs_is_counted_by_account() -> None:
    costs = CaseCosts({"spare@example.test": "spare"})
    refused = error("AUTH.INVALID_CREDENTIALS")
    spare, nobody = {"email": "Spare@example.test"}, {"email": "nobody@example.test"}
    for sent in (spare, nobody):
        costs.count("a case", exchange(1, LOGIN_INITIATE, sent=sent, answer=refused, status=401))
    for case in ("a case", None):
        costs.count(case, exchange(2, PASSWORD_FORGOT, sent=spare, answer=envelope({})))
    costs.count("a case", exchange(3, LOGIN_MFA_SEND, sent={"sessionId": "s"}, answer=envelope({})))
    costs.count("a case", exchange(4, INVITATIONS, answer=envelope([])))
    by_authenticator = {"sessionId": "s", "method": MFA_METHODS["OTP"], "code": "123456"}
    costs.count("a case", exchange(5, LOGIN_COMPLETE, sent=by_authenticator, answer=envelope({})))

    cost = CaseCost(**costs.by_case["a case"])
    assert (cost.requests, cost.sign_ins, cost.mails) == (6, 2, 2)
    assert cost.accounts == {
        "spare": {"wrong_passwords": 1, "mails": 1},
        "nobody": {"wrong_passwords": 1},
        "admin": {"mails": 1, "mailed_codes": 1, "authenticator_codes": 1},
    }


class Case:
    """What ``forecast`` asks of a case."""

    def __init__(self, name: str, seconds: float = 0.0) -> None:
        self.nodeid = f"cases/test_it.py::{name}"
        self._seconds = seconds

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return pytest.mark.waits(self._seconds).mark if name == "waits" and self._seconds else None


def test_a_run_says_what_it_will_wait_for() -> None:
    cases = [
        Planned(Case("test_reads")),
        Planned(Case("test_sends"), 12),
        Planned(Case("test_ends", 3600.0), 2, waits=True),
        Planned(Case("test_cools_down", 60.0), 1, waits=True),
    ]

    assert list(forecast(cases, window=30.0, budget=600.0)) == [  # type: ignore[arg-type]
        "sign-ins  about 15, 10 in each window of 30 s",
        "waits     up to 60 s, while others run: cools down",
        "time      up to 60 s and what its requests take",
        "budget    waits that do not fit into 10 minutes are left out, each by name",
        "left out  a wait of up to 3600 s and what follows it: ends",
    ]
    lasting = [*cases, Planned(Case("test_lasts", 601.0), waits=True)]
    partly = list(forecast(lasting, window=30.0, budget=600.0))  # type: ignore[arg-type]
    assert "time      up to 10 minutes and what its requests take" in partly
    kept = list(forecast(cases, window=30.0, budget=600.0, restoring=125.0))  # type: ignore[arg-type]
    assert "restoring up to 125 s of it are kept as long as something is changed, to restore it" in kept
    unknown = list(forecast(cases, window=None))  # type: ignore[arg-type]
    assert "waits     up to 3600 s, while others run: ends" in unknown
    assert "time      up to 60 minutes and what its requests take" in unknown
    assert "assumed: [limits] login_window is not given" in unknown[0]
    assert unknown[-1] == "budget    --time-budget 10m leaves out what takes longer, and names it"


def initiations(seen: list[object]) -> int:
    return sum(str(one.request.url).endswith("/login/initiate") for one in seen)  # type: ignore[attr-defined]


def test_a_login_session_that_is_left_is_gone_on_with_and_begins_no_other() -> None:
    with connected(clock=False) as (portal, seen, _):
        spare = portal.account("spare")
        portal.login.left.put(spare.email, portal.login.initiate(spare))
        assert portal.left("spare") == 1

        signed_in = spare.another_session()

        assert signed_in.completed.success
        assert portal.left("spare") == 0
        assert initiations(list(seen)) == 1
        spare.another_session()
        assert initiations(list(seen)) == 2


def test_a_left_session_that_is_refused_is_replaced_by_another() -> None:
    with connected(clock=False) as (portal, _, running):
        spare = portal.account("spare")
        portal.login.left.put(spare.email, portal.login.initiate(spare))
        running.portal.login_sessions.clear()

        assert spare.another_session().completed.success


def left_after(portal: Portal) -> int:
    spare = portal.account("spare")
    portal.login.left.put(spare.email, portal.call(LOGIN_INITIATE, json=_credentials(portal)))
    return portal.left("spare")


def _credentials(portal: Portal) -> dict[str, str]:
    spare = portal.account("spare")
    return {"email": spare.email, "password": spare.password}


def test_it_is_known_when_a_code_was_sent_for_another_login_session_of_the_account() -> None:
    with connected() as (portal, _, _running):
        spare, limited = portal.account("spare"), portal.account("limited")
        one, two, foreign = (portal.login.initiate(account) for account in (spare, spare, limited))

        sent = portal.login.send(one)

        assert portal.login.sent_elsewhere(one) is None
        assert portal.login.sent_elsewhere(foreign) is None
        assert portal.login.sent_elsewhere(two) == pytest.approx(sent.time, abs=5)


def test_where_time_can_be_moved_nothing_is_left() -> None:
    with connected() as (portal, _, _running):
        assert left_after(portal) == 0


def test_no_case_that_changes_a_password_goes_on_with_what_others_left() -> None:
    """It would end what the cases after it could go on with."""
    reusing = {row.id.partition("::")[0] for row in collect() if row.reuses}

    assert reusing
    assert [name for name in reusing if "password_changed_to" in (CASES / name).read_text("utf-8")] == []


def test_a_changed_password_ends_what_was_left() -> None:
    with connected(clock=False) as (portal, _, _running):
        assert left_after(portal) == 1
        portal.account("spare").password_changed_to("Another-0ne!")
        assert portal.left("spare") == 0


def test_a_login_session_is_left_only_while_it_is_young() -> None:
    with connected(clock=False, limits=Limits(login_session=0.0)) as (portal, _, _running):
        assert left_after(portal) == 0


CASES = Path(str(files("cases"))).parent

MINIMAL = 'profile = 1\n[portal]\nurl = "http://127.0.0.1:1"\naccess_code = "c"\n'
BARE = """[accounts.admin]
email = "a@example.test"
password = "p"
mfa = "OTP"
otp_secret = "JBSWY3DPEHPK3PXP"
"""


@pytest.mark.parametrize(
    "part, rules",
    [
        ('[bot_challenge]\ntoken = "t"\n', {"PAGE-030", "ORDER-001"}),
        ('[records]\nfile = "F-1"\n', {"FILE-001"}),
    ],
)
def test_rules_of_an_endpoint_that_lacks_a_part_are_not_foretold(part: str, rules: set[str]) -> None:
    without = parse(MINIMAL + BARE, {})
    fuller = parse(MINIMAL + BARE + part, {})

    assert not rules & reachable(without, "read-only", rules)
    assert rules <= reachable(fuller, "read-only", rules)


def test_that_an_api_key_opens_no_file_is_not_foretold_without_one() -> None:
    file = '[records]\nfile = "F-1"\n'
    without = parse(MINIMAL + BARE + file, {})
    code = 'access_code = "c"'
    fuller = parse((MINIMAL + BARE + file).replace(code, f'{code}\napi_key = "a key"'), {})

    assert "FILE-022" not in reachable(without, "read-only", {"FILE-022"})
    assert plan(without, "read-only").undecided["FILE-022"] == "the profile has no api_key under [portal]"
    assert "FILE-022" in reachable(fuller, "read-only", {"FILE-022"})


def test_rules_of_mailed_codes_are_not_foretold_without_an_inbox() -> None:
    assert "LOGIN-006" not in reachable(parse(MINIMAL + BARE, {}), "read-only", ())


def test_a_budget_that_is_too_short_for_the_requests_says_that_fewer_rules_are_decided(text: str) -> None:
    short = plan(without_clock(text), "disruptive", PlanChoice(budget=10.0))
    long = plan(without_clock(text), "disruptive", PlanChoice(budget=7200.0))

    assert short.beyond_budget > 0
    assert " less than it would take without --time-budget\n" in as_text(short)
    assert len(short.rules) < len(long.rules) / 2
    assert long.beyond_budget == 0
    assert long.late == long.beyond_time == []
    assert "--time-budget" not in as_text(long)


def test_a_plan_counts_what_its_time_budget_has_no_sign_ins_and_no_time_for(text: str) -> None:
    profile = without_clock(text + "\n[expect]\nmusts = 431\n")
    whole = plan(profile, "disruptive")
    short = plan(profile, "disruptive", PlanChoice(budget=300.0))
    shown = as_text(short)

    assert short.sign_ins < whole.sign_ins
    assert short.cases + len(short.late) == whole.cases
    assert set(short.beyond_time) == set(whole.rules) - set(short.rules)
    halved = plan(without_clock(text), "disruptive", PlanChoice(budget=300.0))
    assert halved.floor == plan(without_clock(text), "disruptive").floor
    assert f"would try {short.cases:,} of 1,0" in shown
    assert f"budget     {len(short.late)} cases not begun, and {len(short.beyond_time)} rules, " in shown
    assert "floor      431 musts; this run would test fewer, and be inconclusive (exit code 5)" in shown
    assert "floor      431 musts; below it a run is inconclusive (exit code 5)" in as_text(whole)


def case(name: str, *, sign_ins: int = 0, waits: float = 0.0) -> CaseRow:
    return CaseRow(name, (f"{name}-1",), "read-only", (), sign_ins, waits, after_waits=(f"{name}-1",))


def test_a_budget_leaves_out_sign_ins_beyond_its_windows_and_waits_that_end_after_it() -> None:
    rows = [case(f"S{number}", sign_ins=4) for number in range(6)]
    waiting, reading = case("W", waits=61.0), case("R")
    durations = Durations(90.0, 60.0, requests=lambda row: 1.0, restoring=lambda row: 0.0)
    kept = replace(durations, restoring=lambda row: 80.0 if row is waiting else 0.0)
    restored = replace(durations, restoring=lambda row: 80.0 if row is reading else 0.0)

    assert late_cases([*rows, waiting, reading], durations) == Late(unbegun=frozenset({"S4", "S5"}))
    assert "W" in late_cases([*rows, waiting, reading], kept).begun
    assert late_cases([waiting, reading], restored) == Late()
    endless = replace(waiting, id="E", waits=600.0)
    left_out = replace(durations, restoring=lambda row: 89.5 if row is endless else 0.0)
    assert late_cases([endless, reading], left_out) == Late(begun=frozenset({"E"}))
    assert late_cases(rows, replace(durations, budget=inf)) == Late()


def test_the_waits_for_codes_of_an_authenticator_are_announced(text: str) -> None:
    by_code = re.sub(r'inbox = "mail"\n', "", text)
    planned = plan(without_clock(by_code), "read-only")

    assert "admin" in planned.by_authenticator
    assert re.search(
        r"^codes      a sign-in of \[accounts\.admin\].* waits up to 30 s", as_text(planned), re.M
    )
    assert "\ncodes " not in as_text(plan(parse(by_code, {}), "read-only")), "the time can be moved"
    lines = list(forecast([Planned(Case("test_x"), 12)], window=30.0, by_factor=planned.code_waits))  # type: ignore[arg-type]
    assert any(line.startswith("codes     a sign-in of [accounts.admin]") for line in lines)


def test_a_mail_in_place_of_a_wait_for_an_authenticator_is_announced(text: str) -> None:
    planned = plan(without_clock(text), "read-only")

    assert planned.mailed_at_need == ["admin@example.test"]
    shown = as_text(planned)
    instead = "a code to admin@example.test instead of a longer wait for the authenticator"
    assert f"\n           {instead}\n" in shown
    assert "; a code is mailed to [accounts.admin] instead of a longer wait\n" in shown
    by_code = re.sub(r'inbox = "mail"\n', "", text)
    assert plan(without_clock(by_code), "read-only").mailed_at_need == []
    assert plan(parse(text, {}), "read-only").mailed_at_need == [], "the time can be moved"


def test_a_sign_in_by_mail_is_a_mail_where_the_bundled_portal_asks_an_authenticator(text: str) -> None:
    row = "cases/authentication/test_foreign_tokens.py::test_a_refresh_without_a_token_is_invalid"
    costs = {row: CaseCost(requests=2, sign_ins=1, accounts={"spare": {"authenticator_codes": 1}})}
    planned = plan(parse(text, {}), "read-only", measured=costs)

    assert (planned.mails, planned.mailed_codes) == (1, 1)
    assert planned.accounts == {"spare@example.test": {"mails": 1}}


def test_the_waits_for_mailed_codes_are_announced_and_in_the_estimate(text: str) -> None:
    planned = plan(without_clock(text), "read-only", measured=COSTS)
    at_once = text.replace('kind = "http"', 'kind = "fixed"\ncode = "000000"')
    fixed = plan(
        without_clock(re.sub(r"url = .*/inbox/.*\npattern = .*\n", "", at_once)), "read-only", measured=COSTS
    )

    assert (planned.mailed_codes, fixed.mailed_codes) == (1, 0)
    assert (
        "[accounts.spare], [accounts.limited], [accounts.pending] waits up to 10 s for its mailed code"
        in (as_text(planned))
    )
    assert "ms a request and 2 s a mailed code are assumed before the first run" in as_text(planned)
    assert not any("its mailed code" in wait for wait in fixed.code_waits)


def test_a_plan_without_an_access_code_says_that_nothing_may_be_tested(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("PORTAL_ACCESS_CODE", raising=False)
    monkeypatch.chdir(tmp_path)

    assert main(["plan", "--target", "http://127.0.0.1:1", "--only", "ACCOUNT-005"]) == 0

    assert " ".join(capsys.readouterr().out.split()).endswith(NO_CODE)


def test_the_cases_are_collected_once_in_a_process() -> None:
    first, second = collect(), collect()

    assert first is not second
    assert [id(row) for row in first] == [id(row) for row in second]


@pytest.mark.parametrize(
    "rules, words",
    [
        ([], "changes    4, which it restores\n"),
        (["BACKUP-004"], "changes    4, which it restores, but for new backup codes of [accounts.spare]\n"),
        (["INVITATION-020", "BACKUP-004"], "[accounts.spare] and invitations that are answered\n"),
    ],
)
def test_a_plan_says_which_changes_nothing_restores(rules: list[str], words: str) -> None:
    assert words in as_text(RunPlan("disruptive", changes=4, rules=rules)) + "\n"
