"""Sessions side by side keep the order in which they touch the same account or the same records."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from conformance.replay import replay
from conformance.replay.compare.outcome import State
from conformance.replay.recording.analysis import planned
from conformance.replay.recording.plan import ReplaySelection
from conformance.replay.recording.store import Store
from conformance.replay.recording.turns import turns_of
from conformance.spec.endpoints import INVITATIONS, PASSWORD_CHANGE, PROFILE_UPDATE, SECURE_SESSION_CLOSE
from conformance.target.profile.model import parse
from conformance.tests.replays import options_for, recorder, without_clock
from conformance.tests.scripted_client import Walker
from conformance.traffic import capture
from reference_impl import serve as reference


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
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


@pytest.mark.parametrize("concurrency", [1, 2, 3, 5, 8])
def test_nothing_false_is_reported_at_any_concurrency(
    recording: Path, tmp_path: Path, concurrency: int
) -> None:
    with reference.start() as portal:
        profile = parse(without_clock(portal.profile()), {})
        told = replay([recording], profile, options_for(tmp_path, concurrency=concurrency))

    assert [(one.endpoint, one.path, one.recorded, one.replayed) for one in told.run.regressions] == []
    assert told.tally.counts == {State.SAME: told.tally.wanted}
    assert told.run.exit_code == 0


def test_each_turn_waits_for_earlier_exchanges_of_other_sessions_alone(recording: Path) -> None:
    with Store([recording]) as store:
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
    out = tmp_path_factory.mktemp("renamed") / "traffic.jsonl"
    with recorder(out) as (walker, _):
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
            (plan.line(at).endpoint, [plan.line(each).endpoint for each in turn])
            for at, turn in turns_of(plan).items()
        ]
    with reference.start() as portal:
        profile = parse(without_clock(portal.profile()), {})
        told = replay([renamed], profile, options_for(tmp_path, concurrency=4))

    assert [turn.count(INVITATIONS) for name, turn in waits if name == PROFILE_UPDATE] == [2, 2, 2]
    assert [name for name, turn in waits if PROFILE_UPDATE in turn] == [INVITATIONS] * 4
    assert told.tally.counts == {State.SAME: told.tally.wanted}


def test_a_channel_is_closed_by_anyone_only_after_it_was_used(tmp_path: Path) -> None:
    out, new = tmp_path / "channel.jsonl", "Another-password-1"
    with recorder(out, open_channel=True) as (walker, _):
        spare, walker = walker.accounts["spare"], walker.browser("browser-1")
        walker.sign_in(spare)
        for old, changed in ((spare["password"], new), (new, spare["password"])):
            walker.change_password(old, changed)
        used = [one.request.header("x-secure-channel-session-id") for one in capture.read(out)]
        closer = walker.browser("browser-2")
        for id in filter(None, used):
            closer.call("POST", "/web/v1/secure-channel/session/close", {"sessionId": id})

    with Store([out]) as store:
        plan = planned(store, ReplaySelection(impact="disruptive"))
        waits = {at: [plan.line(each).endpoint for each in turn] for at, turn in turns_of(plan).items()}
        closing = [at for at in plan.order if plan.line(at).endpoint == SECURE_SESSION_CLOSE]

    assert [PASSWORD_CHANGE in waits[at] for at in closing] == [True, True]
