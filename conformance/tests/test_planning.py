"""What a run is said to do before it begins, and what it does with the sign-ins that cases leave."""

from __future__ import annotations

import pytest

from conformance.run.outlook.plan import PlanChoice, as_text, plan
from conformance.run.planning import forecast
from conformance.run.schedule import Planned
from conformance.run.testable import reachable
from conformance.spec.endpoints import LOGIN_INITIATE
from conformance.target.portal import Portal
from conformance.target.profile.model import Profile, parse
from conformance.tests.reached import connected, without
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
    assert "waits 3600 s" in as_text(sharing)


def test_a_plan_leaves_out_the_waits_that_its_time_budget_has_no_room_for(text: str) -> None:
    whole = plan(without_clock(text), "disruptive")
    short = plan(without_clock(text), "disruptive", PlanChoice(budget=600.0))

    assert (whole.minutes, whole.left_out) == (60, [])
    assert short.minutes <= 10
    assert [wait.partition(":")[0] for wait in short.left_out] == ["3600 s"]
    assert "leaves out a wait of 3600 s: cases/" in as_text(short)


def test_the_cases_that_are_not_tried_are_counted_by_reason(text: str) -> None:
    shown = as_text(plan(without_clock(text), "read-only"))

    assert "  needs --impact disruptive\n" in shown
    assert shown.count("needs --impact") == 2
    assert "0 changes." in shown


def test_no_more_mails_are_planned_than_the_profile_allows(text: str) -> None:
    few = text.replace("max_mails = 500", "max_mails = 3")

    assert plan(parse(text, {}), "disruptive").mails > 3
    assert plan(parse(few, {}), "disruptive").mails == 3


def test_with_a_clock_nothing_is_waited_for(text: str) -> None:
    assert plan(parse(text, {}), "disruptive").minutes == 0


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
        "about 15 sign-ins, 10 in each window of 30 s",
        "waits up to 60 s, while others run: test_cools_down",
        "the run lasts up to 60 s and what its requests take",
        "what cannot be waited for within 10 minutes is left out by name",
        "leaves out a wait of 3600 s and what follows it: test_ends",
    ]
    unknown = list(forecast(cases, window=None))  # type: ignore[arg-type]
    assert "waits up to 3600 s, while others run: test_ends" in unknown
    assert "the run lasts up to 60 minutes and what its requests take" in unknown
    assert "assumed: [limits] login_window is not given" in unknown[0]
    assert unknown[-1] == "--time-budget 10m leaves out, by name, what takes longer"


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


def test_a_changed_password_ends_what_was_left() -> None:
    with connected(clock=False) as (portal, _, _running):
        assert left_after(portal) == 1
        portal.account("spare").password_changed_to("Another-0ne!")
        assert portal.left("spare") == 0


def test_a_login_session_is_left_only_while_it_is_young() -> None:
    with connected(clock=False, limits=Limits(login_session=0.0)) as (portal, _, _running):
        assert left_after(portal) == 0


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


def test_rules_of_mailed_codes_are_not_foretold_without_an_inbox() -> None:
    assert "LOGIN-006" not in reachable(parse(MINIMAL + BARE, {}), "read-only", ())
