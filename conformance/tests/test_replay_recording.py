"""The analysis of a recording: repeated lines, the order of sessions, and the shares of several workers."""

from __future__ import annotations

import random
import time
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from conformance.errors import CaptureError, UsageError
from conformance.replay.compare.outcome import State
from conformance.replay.recording.analysis import planned
from conformance.replay.recording.plan import ReplayPlan, ReplaySelection
from conformance.replay.recording.shares import SharedPlan, partition
from conformance.replay.recording.store import Store
from conformance.replay.recording.turns import turns_of
from conformance.spec import endpoints as op
from conformance.tests.polling import poll, recording_of
from conformance.tests.replays import recorder, replayed, rewritten, without_clock, written
from conformance.tests.scripted_client import Walker
from conformance.tests.traffic import NO_TOKEN, answer
from conformance.traffic import capture
from conformance.traffic.exchange import Exchange, Request


@pytest.fixture(scope="module")
def polled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recording_of(poll, tmp_path_factory.mktemp("polled") / "polled.jsonl")


def test_a_recording_that_is_written_otherwise_is_planned_alike(polled: Path, tmp_path: Path) -> None:
    spaced = rewritten(polled, lambda line: None, tmp_path / "spaced.jsonl")

    assert plan_of(polled) == plan_of(spaced)


def test_lines_are_read_whole_in_any_order(tmp_path: Path) -> None:
    files = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    lines = [exchange_line(number) for number in range(1, 8)]
    files[0].write_bytes(b"\n".join(lines[:4]) + b"\n")
    files[1].write_bytes(b"\r\n".join(lines[4:]))

    with Store(files) as recorded:
        assert [recorded.line(at) for at in range(len(recorded))] == lines
        assert [recorded.line(at) for at in (6, 0, 3, 4)] == [lines[at] for at in (6, 0, 3, 4)]


def test_a_file_that_becomes_shorter_is_named(tmp_path: Path) -> None:
    file = tmp_path / "one.jsonl"
    file.write_bytes(exchange_line(1) + b"\n" + exchange_line(2) + b"\n")
    with Store([file]) as recorded:
        file.write_bytes(exchange_line(1) + b"\n")
        with pytest.raises(CaptureError, match=r"one\.jsonl:2: the file became shorter"):
            recorded.line(1)


def two_hosts(folder: Path) -> Path:
    """A page of two portals: of one the countries, of the other a page of its own with a token of its own."""
    at_one = answer(op.COUNTRIES, [], headers=NO_TOKEN)
    request = replace(
        at_one.request,
        url="http://tenant.example.test/web/v1/tenant/orders",
        headers=[*at_one.request.headers, ("Authorization", "Bearer a-token-of-the-tenants-portal")],
    )
    return written(folder / "two.jsonl", at_one, at_one, replace(at_one, request=request))


def test_what_was_recorded_at_several_hosts_is_named_and_one_can_be_chosen(tmp_path: Path) -> None:
    with Store([two_hosts(tmp_path)]) as store:
        both = planned(store, ReplaySelection())
        chosen = planned(store, ReplaySelection(hosts=frozenset({"portal.example.test"})))
        with pytest.raises(UsageError, match="Nothing was recorded at --recorded-host"):
            planned(store, ReplaySelection(hosts=frozenset({"elsewhere.example.test"})))

    (note,) = both.notes
    assert "2 hosts is replayed at one portal: portal.example.test (2), tenant.example.test (1)" in note
    assert note.endswith("Name one with --recorded-host.")
    assert both.ignored == {}
    assert chosen.notes == []
    assert chosen.ignored == {"another host": 1}
    assert [session >= 0 for session in chosen.session_of] == [True, True, False]


def test_a_token_without_a_source_is_not_sent_to_an_endpoint_that_is_not_described(tmp_path: Path) -> None:
    result = replayed(two_hosts(tmp_path), tmp_path / "out")

    assert result.tally.counts[State.NOT_REPLAYABLE] == 1
    sent = [exchange.request.path for exchange in capture.read(tmp_path / "out" / "exchanges.jsonl")]
    assert sent == [op.COUNTRIES.partition(" ")[2]] * 2


def exchange_line(number: int) -> bytes:
    request = Request(method="GET", url=f"http://portal.example.test/{'x' * number}")
    return msgspec.json.encode(Exchange(n=number, started="2026-11-22T07:00:00Z", request=request))


def plan_of(recording: Path) -> dict[str, object]:
    with Store([recording]) as store:
        plan = planned(store, ReplaySelection(impact="disruptive"))
        return {
            "sessions": plan.session_of.tolist(),
            "sources": plan.sources,
            "handles": plan.handles,
            "accepted": plan.accepted,
            "passwords": plan.passwords,
            "code": plan.access_codes,
            "order": plan.order.tolist(),
            "times": (plan.started.tolist(), plan.moments.tolist()),
            "same": [plan.responses.index(each) for each in plan.responses],
            "asked": [plan.requests.index(each) for each in plan.requests],
        }


@pytest.fixture(scope="module")
def eight_browsers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight browsers of three people who read what others of them write, sign out and renew their tokens."""
    out = tmp_path_factory.mktemp("recording") / "traffic.jsonl"
    with recorder(out, open_channel=True) as (walker, portal):
        accounts = walker.accounts
        walkers = [walker.browser(f"browser-{n}") for n in range(8)]
        for at, walker in enumerate(walkers):
            walker.sign_in(accounts["spare" if at % 2 else "limited"])
            portal.portal.clock.advance(10)
        ahead = portal.portal.clock.now() - time.time()
        admin = walker.browser("admin", ahead=ahead)
        admin.sign_in(accounts["admin"])
        admin.post("/profile/update", {"accountName": "Renamed"})
        take_turns(admin, walkers)
    return out


def take_turns(admin: Walker, walkers: list[Walker]) -> None:
    other = Walker(admin.base, admin.profile, hash="another browser")
    other.token, other.refresh = walkers[1].token, walkers[1].refresh
    admin.post("/invitations", {"inviteeEmail": "spare@example.test", "message": "Hi", "expirationDays": 3})
    for walker in walkers:
        walker.get("/profile")
        walker.get("/profile/invitations")
        walker.get("/security/sessions/config")
    invited = admin.get("/invitations")["data"][0]["bizId"]
    admin.post("/invitations/cancel", {"invitationBizId": invited, "reason": "Mistaken"})
    for walker in walkers:
        walker.get("/profile/invitations")
    channel = admin.channel()
    admin.post("/notifications/channels/query", {"bizId": channel, "activeOnly": False})
    admin.post("/notifications/channels/delete", {"bizId": channel})
    spare = walkers[1].profile["accounts"]["spare"]
    walkers[3].change_password(spare["password"], "Another-password-1")
    walkers[5].change_password("Another-password-1", spare["password"])
    other.get("/profile")
    walkers[1].sign_out()
    other.get("/profile")
    other.post("/auth/token/refresh", {"refreshToken": other.refresh}, Authorization="")
    walkers[2].renew_token()
    walkers[0].get("/profile")


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_nothing_false_is_reported_at_any_concurrency(
    eight_browsers: Path, tmp_path: Path, concurrency: int
) -> None:
    told = replayed(eight_browsers, tmp_path, edit=without_clock, concurrency=concurrency)

    assert [(one.endpoint, one.path, one.recorded, one.replayed) for one in told.run.regressions] == []
    assert told.tally.counts == {State.SAME: told.tally.wanted}
    assert told.run.exit_code == 0


def test_each_turn_waits_for_earlier_exchanges_of_other_sessions_alone(eight_browsers: Path) -> None:
    with Store([eight_browsers]) as store:
        plan = planned(store, ReplaySelection(impact="disruptive"))
        turns = turns_of(plan)

    assert turns
    for position, earlier in turns.items():
        assert all(plan.number_of(each) < plan.number_of(position) for each in earlier)
        assert all(plan.session_of[each] != plan.session_of[position] for each in earlier)


@pytest.fixture(scope="module")
def renamed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One browser renames its account; others look at what has nothing to do with it, and at the invitations,
    which name the account that is invited."""
    with recorder(out := tmp_path_factory.mktemp("renamed") / "traffic.jsonl") as (walker, _):
        accounts = walker.accounts
        walkers = [walker.browser(name) for name in ("admin", "spare", "limited")]
        for walker in walkers:
            walker.sign_in(accounts[walker.hash])
        email = accounts["limited"]["email"]
        walkers[0].post("/invitations", {"inviteeEmail": email, "message": "Hi", "expirationDays": 3})
        for name in ("One", "Two", "Three"):
            for reader in walkers[:2]:
                for _ in range(6):
                    reader.get("/roles")
                reader.get("/invitations")
            walkers[2].post("/profile/update", {"accountName": name})
    return out


def test_a_rename_keeps_its_place_among_the_listings_that_show_the_name(
    renamed: Path, tmp_path: Path
) -> None:
    with Store([renamed]) as store:
        plan = planned(store, ReplaySelection(impact="disruptive"))
        waits = [
            (plan.endpoint(at), [plan.endpoint(each) for each in turn]) for at, turn in turns_of(plan).items()
        ]
    told = replayed(renamed, tmp_path, edit=without_clock, concurrency=4)

    assert [turn.count(op.INVITATIONS) for name, turn in waits if name == op.PROFILE_UPDATE] == [2, 2, 2]
    assert [name for name, turn in waits if op.PROFILE_UPDATE in turn] == [op.INVITATIONS] * 4
    assert told.tally.counts == {State.SAME: told.tally.wanted}


@pytest.mark.parametrize("seed", range(8))
def test_each_session_is_in_one_share_and_linked_ones_are_in_the_same(seed: int) -> None:
    dice = random.Random(seed)
    sizes = {session: dice.randrange(1, 50) for session in range(30)}
    links = [(dice.randrange(30), dice.randrange(30)) for _ in range(dice.randrange(20))]

    shares = partition(sizes, links, 4)

    assert sorted(session for share in shares for session in share) == sorted(sizes)
    of = {session: at for at, share in enumerate(shares) for session in share}
    assert all(of[one] == of[other] for one, other in links)
    assert shares == partition(sizes, [pair[::-1] for pair in reversed(links)], 4)


def test_sessions_are_divided_by_their_exchanges_and_no_share_is_empty() -> None:
    assert partition({0: 10, 1: 10, 2: 10, 3: 30}, [], 2) == [(3,), (0, 1, 2)]
    assert partition({0: 4, 1: 4, 2: 4}, [(0, 1)], 8) == [(0, 1), (2,)]
    assert partition({}, [], 2) == []


@pytest.fixture(scope="module")
def four_browsers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two browsers of one person, and one each of two others, who all read, one after the other."""
    with recorder(out := tmp_path_factory.mktemp("recording") / "traffic.jsonl") as (walker, portal):
        accounts = walker.accounts
        for at, name in enumerate(("limited", "spare", "admin", "spare")):
            walker = walker.browser(f"browser-{at}")
            walker.sign_in({**accounts[name], "mfa": "EMAIL"})
            own = walker.get("/profile")["data"]
            walker.get(f"/institutions/{own['institutionBizId']}")
            portal.portal.clock.advance(70)
    return out


def disruptive_plan(store: Store) -> ReplayPlan:
    return planned(store, ReplaySelection(impact="disruptive"))


def test_sessions_of_one_account_stay_together_also_where_another_stands_in(four_browsers: Path) -> None:
    with Store([four_browsers]) as store:
        plan = disruptive_plan(store)
        shares = SharedPlan(plan, {}).shares(4)
        of_one = SharedPlan(plan, dict.fromkeys(plan.emails, "only")).shares(4)

    assert sorted(sorted(share.sessions) for share in shares) == [[0], [1, 3], [2]]
    assert [sorted(share.sessions) for share in of_one] == [[0, 1, 2, 3]]


def test_an_id_that_each_session_read_itself_does_not_link_them(four_browsers: Path) -> None:
    with Store([four_browsers]) as store:
        plan = disruptive_plan(store)
        lent = {plan.session_of[at] for at in plan.sources.values()}
        paths = [plan.exchange(at).request.path for at in plan.order]
        institution = next(path for path in paths if "/institutions/" in path)
        share = next(share for share in SharedPlan(plan, {}).shares(3) if 2 in share.sessions)
        SharedPlan(plan, {}).keep_only(share, is_first=False)

        assert lent != {2}
        source = plan.sources[institution.rpartition("/")[2]]
        assert plan.session_of[source] == 2


def test_the_shares_of_all_workers_are_the_recording(four_browsers: Path) -> None:
    sizes, sent = [], []
    for index in range(3):
        with Store([four_browsers]) as store:
            plan = disruptive_plan(store)
            shared = SharedPlan(plan, {})
            shared.keep_only(shared.shares(3)[index], is_first=index == 0)
            sizes.append(plan.size)
            sent += [plan.number_of(at) for at in plan.order if plan.session_of[at] >= 0]
            total = len(store)

    assert sum(sizes) == total
    assert sorted(sent) == list(range(1, total + 1))
