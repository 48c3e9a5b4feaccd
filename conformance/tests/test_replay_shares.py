"""Several workers share a replay: sessions that depend on each other stay together, none is sent twice."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from conformance.replay.recording.analysis import planned
from conformance.replay.recording.plan import ReplayPlan, ReplaySelection
from conformance.replay.recording.shares import SharedPlan, partition
from conformance.replay.recording.store import Store
from conformance.tests.replays import recorder
from conformance.traffic.redaction.redact import Secrets


@pytest.mark.parametrize("seed", range(20))
def test_each_session_is_in_one_share_and_linked_ones_are_in_the_same(seed: int) -> None:
    dice = random.Random(seed)
    sizes = {session: dice.randrange(1, 50) for session in range(30)}
    links = [(dice.randrange(30), dice.randrange(30)) for _ in range(dice.randrange(20))]

    shares = partition(sizes, links, 4)

    assert sorted(session for share in shares for session in share) == sorted(sizes)
    of = {session: at for at, share in enumerate(shares) for session in share}
    assert all(of[one] == of[other] for one, other in links)


def test_the_shares_do_not_depend_on_the_order_of_the_links() -> None:
    sizes = dict.fromkeys(range(10), 5)
    links = [(0, 1), (2, 3), (1, 4), (7, 6)]

    assert partition(sizes, links, 3) == partition(sizes, [pair[::-1] for pair in reversed(links)], 3)


def test_sessions_without_links_are_divided_by_their_exchanges() -> None:
    assert partition({0: 10, 1: 10, 2: 10, 3: 30}, [], 2) == [(3,), (0, 1, 2)]


def test_no_share_is_empty() -> None:
    assert partition({0: 4, 1: 4, 2: 4}, [(0, 1)], 8) == [(0, 1), (2,)]
    assert partition({}, [], 2) == []


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two browsers of one person, and one each of two others, who all read, one after the other."""
    out = tmp_path_factory.mktemp("recording") / "traffic.jsonl"
    with recorder(out) as (walker, portal):
        accounts = walker.accounts
        for at, name in enumerate(("limited", "spare", "admin", "spare")):
            walker = walker.browser(f"browser-{at}")
            walker.sign_in({**accounts[name], "mfa": "EMAIL"})
            own = walker.get("/profile")["data"]
            walker.get(f"/institutions/{own['institutionBizId']}")
            portal.portal.clock.advance(70)
    return out


def plan_of(store: Store) -> ReplayPlan:
    return planned(store, ReplaySelection(impact="disruptive"))


def test_sessions_of_one_account_stay_together_also_where_another_stands_in(recording: Path) -> None:
    with Store([recording]) as store:
        shares = SharedPlan(plan_of(store), {}).shares(4)
        of_one = SharedPlan(plan_of(store), dict.fromkeys(plan_of(store).emails, "only")).shares(4)

    assert sorted(sorted(share.sessions) for share in shares) == [[0], [1, 3], [2]]
    assert [sorted(share.sessions) for share in of_one] == [[0, 1, 2, 3]]


def test_an_id_that_each_session_read_itself_does_not_link_them(recording: Path) -> None:
    with Store([recording]) as store:
        plan = plan_of(store)
        lent = {plan.session_of[at] for at in plan.sources.values()}
        institution = next(line for at in plan.order if "/institutions/" in (line := plan.line(at)).path)
        share = next(share for share in SharedPlan(plan, {}).shares(3) if 2 in share.sessions)
        SharedPlan(plan, {}).keep_only(share, is_first=False)

        assert lent != {2}
        source = plan.sources[institution.path.rpartition("/")[2]]
        assert plan.session_of[source] == 2


def test_an_id_that_another_session_read_links_them(tmp_path: Path) -> None:
    out = tmp_path / "traffic.jsonl"
    with recorder(out) as (walker, _):
        one, other = (walker.browser(f"browser-{at}") for at in range(2))
        one.sign_in({**walker.accounts["limited"], "mfa": "EMAIL"})
        other.sign_in({**walker.accounts["spare"], "mfa": "EMAIL"})
        own = one.get("/profile")["data"]
        other.get(f"/institutions/{own['institutionBizId']}")

    with Store([out]) as store:
        assert [sorted(share.sessions) for share in SharedPlan(plan_of(store), {}).shares(2)] == [[0, 1]]


def test_the_shares_of_all_workers_are_the_recording(recording: Path) -> None:
    sizes, sent = [], []
    for index in range(3):
        with Store([recording]) as store:
            plan = plan_of(store)
            shared = SharedPlan(plan, {})
            shared.keep_only(shared.shares(3)[index], is_first=index == 0)
            sizes.append(plan.size)
            sent += [plan.number_of(at) for at in plan.order if plan.session_of[at] >= 0]
            total = len(store)

    assert sum(sizes) == total
    assert sorted(sent) == list(range(1, total + 1))


def test_placeholders_of_two_workers_differ_but_for_what_the_profile_holds() -> None:
    first, second = Secrets(), Secrets()
    for secrets, last in ((first, 0), (second, 1_000_000)):
        secrets.add("the-access-code-of-all", "access-code")
        secrets.number_after(last)
        secrets.add("a-token-of-its-own-0123456789", "token")

    assert first.placeholder("the-access-code-of-all") == second.placeholder("the-access-code-of-all")
    assert second.placeholder("a-token-of-its-own-0123456789") == "[token-1000001]"
    assert first.placeholder("a-token-of-its-own-0123456789") == "[token-1]"
