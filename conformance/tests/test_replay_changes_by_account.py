"""Several accounts change the same of their own: each change is noted and restored for its account."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from conformance.replay import replay
from conformance.replay.changes.reading import body_before, new_name, record_before
from conformance.replay.changes.recorder import ReplayChanges
from conformance.replay.changes.ways import FieldsUndo
from conformance.replay.rebuild.actions import NoteChange
from conformance.spec.endpoints import (
    ACCOUNT,
    ACCOUNT_UPDATE,
    BACKUP_CODES_GENERATE,
    CHANNEL_DELETE,
    INVITE,
    IP_WHITELIST,
    IP_WHITELIST_ENABLE,
    PASSWORD_CHANGE,
    PROFILE,
    PROFILE_UPDATE,
    SESSIONS_CONFIG,
)
from conformance.target.portal import Portal
from conformance.target.portal.changes import LEDGER, ChangeLedger
from conformance.tests.reached import answer as http_answer
from conformance.tests.reached import answering
from conformance.tests.replays import options_for, profile_of, recorded, replayed
from conformance.tests.scripted_client import Walker
from conformance.tests.traffic import answer
from conformance.traffic.exchange import Json
from reference_impl import serve as reference

PEOPLE = ("admin", "spare")


def changes_everything(people: Sequence[tuple[str, Walker]]) -> None:
    """Each changes all that an account can change of its own, by turns; then each reads it."""
    for _, person in people:
        person.post("/profile/update", {"accountName": "Renamed by a visit"})
        person.post("/security/ip-whitelist", {"ips": ["0.0.0.0/0"]})
    for _, person in people:
        person.post("/security/ip-whitelist/disable")
        person.post("/security/sessions/config", {"maxConcurrentSessions": 7})
    for _, person in people:
        person.get("/profile")
        person.get("/security/ip-whitelist")
        person.get("/security/sessions/config")


def by_two_accounts(walker: Walker) -> None:
    people = [(name, Walker(walker.base, walker.profile, hash=f"of-{name}")) for name in PEOPLE]
    for name, person in people:
        person.sign_in(walker.profile["accounts"][name])
    changes_everything(people)
    for name, person in people:
        person.change_password(walker.profile["accounts"][name]["password"], "Another-password-1")


def by_two_sessions(walker: Walker) -> None:
    spare = walker.profile["accounts"]["spare"]
    people = [("spare", Walker(walker.base, walker.profile, hash=f"session-{n}")) for n in range(2)]
    for _, person in people:
        person.sign_in(spare)
    changes_everything(people)
    people[0][1].change_password(spare["password"], "Another-password-1")


def state_of(portal: reference.Running) -> dict[str, Json]:
    """What each account shows of itself, after a sign-in with the profile's password."""
    with Portal.connect(profile_of(portal), impact="read-only") as visitor:
        return {f"{name} {key}": own(visitor, name, key) for name in PEOPLE for key in READ}


READ = {PROFILE: "accountName", IP_WHITELIST: "", SESSIONS_CONFIG: "maxSessions"}


def own(visitor: Portal, name: str, key: str) -> Json:
    shown = visitor.call(key, token=visitor.account(name).token).data
    return shown[READ[key]] if READ[key] else shown


@pytest.mark.parametrize("visit", [by_two_accounts, by_two_sessions])
def test_what_each_account_changes_is_restored_and_a_second_replay_finds_it_so(
    tmp_path: Path, visit: Callable[[Walker], None]
) -> None:
    recording = recorded(tmp_path / "traffic.jsonl", visit)
    with reference.start() as portal:
        with Portal.connect(profile_of(portal), impact="disruptive") as visitor:
            for name in PEOPLE:
                assert visitor.call(IP_WHITELIST_ENABLE, token=visitor.account(name).token).success
        before = state_of(portal)
        told = [replay([recording], profile_of(portal), options_for(tmp_path / str(n))) for n in range(2)]
        after = state_of(portal)

    assert after == before
    assert [each.run.exit_code for each in told] == [0, 0]
    assert ChangeLedger.read(tmp_path / "1" / LEDGER).pending == []


def changes_what_is_not_shown(walker: Walker) -> None:
    """A field that no answer shows again, and codes that nobody can give back: by two accounts each."""
    for name in PEOPLE:
        person = Walker(walker.base, walker.profile, hash=f"of-{name}")
        person.sign_in(walker.profile["accounts"][name])
        for _ in range(5):
            person.get("/profile")
        person.post("/profile/update", {"accountName": "Renamed by a visit", "accountNickname": "Vis"})
        person.post("/security/mfa/backup-codes/generate")


def test_what_no_way_back_was_found_for_is_left_of_each_account_and_what_is_foreseen_is_noted(
    tmp_path: Path,
) -> None:
    recording = recorded(tmp_path / "traffic.jsonl", changes_what_is_not_shown)
    told = replayed(recording, tmp_path / "out")

    reason = f"{PROFILE} does not show accountNickname"
    assert told.run.ending.left_behind == [
        f"what {PROFILE_UPDATE} changed for [accounts.{name}]: {reason}" for name in PEOPLE
    ]
    assert told.run.ending.cleanup == ""
    assert told.run.exit_code == 7
    lost = [note for note in told.notes if note.startswith("Not restored")]
    assert [note.partition(": ")[0] for note in lost] == [f"Not restored, 2 times {BACKUP_CODES_GENERATE}"]
    assert lost[0].endswith("([accounts.admin], [accounts.spare]).")


@pytest.mark.parametrize("refused", [True, False])
def test_a_change_without_a_way_back_that_was_refused_is_no_loss(tmp_path: Path, refused: bool) -> None:
    body = {"accountName": "Renamed by a visit", "accountNickname": "Vis"}
    with (
        reference.start() as running,
        Portal.connect(profile_of(running), impact="disruptive") as portal,
    ):
        changes = ReplayChanges(portal, tmp_path)
        token = portal.account("spare").token
        changes.note(NoteChange(4, PROFILE_UPDATE, body, "spare", token, None))
        changes.finish(4, portal.call(PROFILE_UPDATE, json=body, token="no token" if refused else token))

    assert bool(changes.without_way_back()) is not refused


def test_a_record_of_another_kind_with_the_id_of_one_that_the_replay_made_is_not_its_own(
    tmp_path: Path,
) -> None:
    with (
        reference.start() as running,
        Portal.connect(profile_of(running), impact="disruptive") as portal,
    ):
        changes = ReplayChanges(portal, tmp_path)
        token = portal.account("admin").token
        sent = {"inviteeEmail": "guest@example.test", "message": "Hi", "expirationDays": 3}
        changes.note(NoteChange(4, INVITE, sent, "admin", token, None))
        changes.finish(4, answer(INVITE, {"bizId": "5"}, sent=sent))
        changes.note(NoteChange(5, CHANNEL_DELETE, {"bizId": "5"}, "admin", token, None))
        changes.finish(5, answer(CHANNEL_DELETE, sent={"bizId": "5"}))

    assert [change.key for change in changes.ledger.pending] == [INVITE]
    assert any(CHANNEL_DELETE in note for note in changes.notes())


ACCOUNTS = {"bizId": "a-1", "accountName": "Ada"}


@pytest.mark.parametrize(
    "data", [ACCOUNTS, {"openSessions": 2, "account": ACCOUNTS, "other": {"bizId": "b-2"}}]
)
def test_an_account_is_read_wherever_the_answer_has_it(data: Json) -> None:
    portal = answering(lambda request: http_answer(data))
    change = NoteChange(4, ACCOUNT_UPDATE, {"userBizId": "a-1", "accountName": "Eve"}, "admin", "t", None)

    before = record_before(portal, change, ACCOUNT)

    assert body_before(portal, change, before, FieldsUndo(ACCOUNT)) == {
        "userBizId": "a-1",
        "accountName": "Ada",
    }


@pytest.mark.parametrize(
    ("listed", "name"),
    [
        ([], "eve@example.test"),
        ([{"inviteeEmail": "eve@example.test", "message": "the first"}], "the second"),
        ([{"inviteeEmail": "eve@example.test", "message": "the second"}], None),
    ],
)
def test_an_invitation_is_known_by_what_no_other_one_has(listed: list[Json], name: str | None) -> None:
    portal = answering(lambda request: http_answer(listed))
    sent = {"inviteeEmail": "eve@example.test", "message": "the second", "expirationDays": 3}

    assert new_name(portal, NoteChange(4, INVITE, sent, "admin", "t", None)) == name


def test_what_an_earlier_replay_left_is_named_before_it_is_restored_also_by_one_that_only_reads(
    tmp_path: Path,
) -> None:
    recording = recorded(tmp_path / "traffic.jsonl", lambda walker: walker.get("/profile"))
    told: list[str] = []
    with reference.start() as portal:
        ledger = ChangeLedger(tmp_path / LEDGER, run_id="suite-1", target=portal.url)
        ledger.changed(PROFILE_UPDATE, PROFILE_UPDATE, {"accountName": "As it was"}, account="spare")
        ledger.close()
        options = options_for(tmp_path, impact="read-only")
        for _ in range(2):
            replay([recording], profile_of(portal), options, on_notice=told.append)
        after = state_of(portal)

    assert after[f"spare {PROFILE}"] == "As it was"
    change = f"what {PROFILE_UPDATE} changed for [accounts.spare]"
    assert told == [f"First restores 1 change of an earlier run, whatever --impact allows: {change}."]


def test_a_password_that_only_the_recorded_portal_refused_is_set_back(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "traffic.jsonl", by_two_accounts)
    lines = [json.loads(line) for line in recording.read_text().splitlines()]
    for line in lines:
        if line["request"]["url"].endswith("/password/change"):
            line["response"] |= {
                "status": 403,
                "body": {"code": "AUTH.FORBIDDEN", "success": False, "data": None},
            }
    recording.write_text("".join(json.dumps(line) + "\n" for line in lines))

    with reference.start() as portal:
        told = replay([recording], profile_of(portal), options_for(tmp_path / "out"))
        state_of(portal)  # signs in with the profile's passwords

    keys = [json.loads(row).get("key") for row in (tmp_path / "out" / LEDGER).read_text().splitlines()]
    assert keys.count(PASSWORD_CHANGE) == 2
    assert told.run.ending.left_behind == []


def test_a_number_that_is_shown_with_a_fraction_of_zero_is_restored_as_a_whole_one(tmp_path: Path) -> None:
    """JSON has one type of numbers; what a portal reads may be an integer of a language all the same."""
    recording = recorded(tmp_path / "traffic.jsonl", by_two_accounts)
    told = replayed(recording, tmp_path / "out", variants=["integers-with-a-fraction"])

    assert told.run.ending.left_behind == []
