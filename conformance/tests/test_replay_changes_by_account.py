"""What single accounts, records and a full disk make of the changes of a replay."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.errors import LeftBehind, UsageError
from conformance.replay import ReplayResult, replay
from conformance.replay.changes.reading import body_before, new_name, record_before
from conformance.replay.changes.recorder import ReplayChanges
from conformance.replay.rebuild.actions import NoteChange
from conformance.spec import endpoints as op
from conformance.spec.requests import UNFILTERED
from conformance.target.portal import Portal
from conformance.target.portal.changes import LEDGER, ChangeLedger
from conformance.target.portal.restoring.ways import FieldsUndo
from conformance.tests.full_disk import no_more_than
from conformance.tests.reached import answer as http_answer
from conformance.tests.reached import answering
from conformance.tests.replays import options_for, profile_of, recorded, replayed
from conformance.tests.scripted_client import Walker
from conformance.tests.test_replay_changes import (
    changes_password,
    keys_of,
    leaves_things,
    refused_when_recorded,
    state_of_portal,
)
from conformance.tests.traffic import answer
from conformance.traffic.exchange import Exchange, Json
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
    people = [(name, walker.browser(f"of-{name}")) for name in PEOPLE]
    for name, person in people:
        person.sign_in(walker.accounts[name])
    changes_everything(people)
    for name, person in people:
        person.change_password(walker.accounts[name]["password"], "Another-password-1")


def by_two_sessions(walker: Walker) -> None:
    spare = walker.accounts["spare"]
    people = [("spare", walker.browser(f"session-{n}")) for n in range(2)]
    for _, person in people:
        person.sign_in(spare)
    changes_everything(people)
    people[0][1].change_password(spare["password"], "Another-password-1")


def state_of(portal: reference.Running) -> dict[str, Json]:
    """What each account shows of itself, after a sign-in with the profile's password."""
    with Portal.connect(profile_of(portal), impact="read-only") as visitor:
        return {f"{name} {key}": own(visitor, name, key) for name in PEOPLE for key in READ}


READ = {op.PROFILE: "accountName", op.IP_WHITELIST: "", op.SESSIONS_CONFIG: "maxSessions"}


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
                assert visitor.call(op.IP_WHITELIST_ENABLE, token=visitor.account(name).token).success
        before = state_of(portal)
        told = [replay([recording], profile_of(portal), options_for(tmp_path / str(n))) for n in range(2)]
        after = state_of(portal)

    assert after == before
    assert [each.run.exit_code for each in told] == [0, 0]
    assert ChangeLedger.read(tmp_path / "1" / LEDGER).pending == []


def changes_what_is_not_shown(walker: Walker) -> None:
    """A field that no answer shows again, and codes that nobody can give back: by two accounts each."""
    for name in PEOPLE:
        person = walker.browser(f"of-{name}")
        person.sign_in(walker.accounts[name])
        for _ in range(5):
            person.get("/profile")
        person.post("/profile/update", {"accountName": "Renamed by a visit", "accountNickname": "Vis"})
        person.post("/security/mfa/backup-codes/generate")


def test_what_no_way_back_was_found_for_is_left_of_each_account_and_what_is_foreseen_is_noted(
    tmp_path: Path,
) -> None:
    recording = recorded(tmp_path / "traffic.jsonl", changes_what_is_not_shown)
    told = replayed(recording, tmp_path / "out")

    reason = f"{op.PROFILE} does not show accountNickname"
    assert told.run.ending.left_behind == [
        f"what {op.PROFILE_UPDATE} changed for [accounts.{name}]: {reason}" for name in PEOPLE
    ]
    assert told.run.ending.cleanup == ""
    assert told.run.exit_code == 7
    lost = [note for note in told.notes if note.startswith("Not restored")]
    assert [note.partition(": ")[0] for note in lost] == [f"Not restored, 2 times {op.BACKUP_CODES_GENERATE}"]
    assert lost[0].endswith("([accounts.admin], [accounts.spare]).")


ACCOUNTS = {"bizId": "a-1", "accountName": "Ada"}


@pytest.mark.parametrize(
    "data", [ACCOUNTS, {"openSessions": 2, "account": ACCOUNTS, "other": {"bizId": "b-2"}}]
)
def test_an_account_is_read_wherever_the_answer_has_it(data: Json) -> None:
    portal = answering(lambda request: http_answer(data))
    change = NoteChange(4, op.ACCOUNT_UPDATE, {"userBizId": "a-1", "accountName": "Eve"}, "admin", "t", None)

    before = record_before(portal, change, op.ACCOUNT)

    assert body_before(portal, change, before, FieldsUndo(op.ACCOUNT)) == {
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

    assert new_name(portal, NoteChange(4, op.INVITE, sent, "admin", "t", None)) == name


def test_what_an_earlier_replay_left_is_named_before_it_is_restored_also_by_one_that_only_reads(
    tmp_path: Path,
) -> None:
    recording = recorded(tmp_path / "traffic.jsonl", lambda walker: walker.get("/profile"))
    told: list[str] = []
    with reference.start() as portal:
        ledger = ChangeLedger(tmp_path / LEDGER, run_id="suite-1", target=portal.url)
        ledger.changed(op.PROFILE_UPDATE, {"accountName": "As it was"}, account="spare")
        ledger.close()
        options = options_for(tmp_path, impact="read-only")
        for _ in range(2):
            replay([recording], profile_of(portal), options, on_notice=told.append)
        after = state_of(portal)

    assert after[f"spare {op.PROFILE}"] == "As it was"
    change = f"what {op.PROFILE_UPDATE} changed for [accounts.spare]"
    assert told == [f"First restores 1 change of an earlier run, whatever --impact allows: {change}."]


def test_a_number_that_is_shown_with_a_fraction_of_zero_is_restored_as_a_whole_one(tmp_path: Path) -> None:
    """JSON has one type of numbers; what a portal reads may be an integer of a language all the same."""
    recording = recorded(tmp_path / "traffic.jsonl", by_two_accounts)
    told = replayed(recording, tmp_path / "out", variants=["integers-with-a-fraction"])

    assert told.run.ending.left_behind == []


BEFORE, SENT = "198.51.100.7", "198.51.100.8"


def adds_an_address(walker: Walker) -> None:
    walker.sign_in(walker.accounts["spare"])
    for _ in range(3):
        walker.get("/profile")
    walker.post("/security/ip-whitelist", {"ips": [SENT]})


@pytest.mark.parametrize(
    "variant, left", [("whitelist-of-objects", [BEFORE]), ("whitelist-adds", [BEFORE, SENT])]
)
def test_addresses_are_put_back_and_those_that_stay_are_named(
    tmp_path: Path, variant: str, left: list[str]
) -> None:
    recording = recorded(tmp_path / "traffic.jsonl", adds_an_address)

    with reference.start(variants=[variant]) as portal:
        profile = profile_of(portal)
        with Portal.connect(profile, impact="disruptive") as visitor:
            token = visitor.account("spare").token
            assert visitor.call(op.IP_WHITELIST_SET, json={"ips": [BEFORE]}, token=token).success
        told = replay([recording], profile, options_for(tmp_path / "out"))
        with Portal.connect(profile, impact="disruptive") as visitor:
            entries = str(
                visitor.call(op.IP_WHITELIST, token=visitor.account("spare").token).at("data.entries")
            )

    assert [address for address in (BEFORE, SENT) if address in entries] == left
    named = (
        "ips of [accounts.spare]: ['198.51.100.7'] was sent, and is shown as ['198.51.100.7', '198.51.100.8']"
    )
    assert any(named in note for note in told.run.notes) == (len(left) == 2)


CHANNELS = "/notifications/channels"


def channel_in(walker: Walker) -> str:
    """The id of a channel that an answer to its creation does not name."""
    text = json.dumps(walker.profile["operations"][f"POST /web/v1/system{CHANNELS}/create"]["body"])
    sent = json.loads(text.replace("{unique}", "walker"))
    walker.post(f"{CHANNELS}/create", sent)
    listed = walker.post(f"{CHANNELS}/query", {"activeOnly": False})["data"]["items"]
    return next(str(each["bizId"]) for each in listed if each["channelName"] == sent["channelName"])


def replayed_after(folder: Path, *parts: str, own: bool) -> tuple[ReplayResult, Json]:
    """The replay of changes of a channel, one of the recording's own or the first that is there; and the
    channels that are left."""
    kind: dict[str, Any] = {"variants": ["answers-an-array"], "seed": 3}

    def visit(walker: Walker) -> None:
        walker.sign_in(walker.accounts["admin"])
        listed = walker.post(f"{CHANNELS}/query", {"activeOnly": False})["data"]["items"]
        id = channel_in(walker) if own else listed[0]["bizId"]
        for part in parts:
            walker.post(f"{CHANNELS}/{part}", {"bizId": id})

    out = recorded(folder / "traffic.jsonl", visit, **kind)
    with reference.start(**kind) as portal:
        told = replay([out], profile_of(portal), options_for(folder / "out"))
        with Portal.connect(profile_of(portal), impact="read-only") as visitor:
            token = visitor.account("admin").token
            listing = visitor.call(op.CHANNELS_QUERY, json=UNFILTERED[op.CHANNELS_QUERY], token=token)
        return told, listing.data["items"]


@pytest.mark.parametrize("own", [True, False], ids=["its own", "another"])
def test_what_was_changed_in_a_channel_that_the_replay_deletes_needs_no_restoring(
    tmp_path: Path, own: bool
) -> None:
    told, _ = replayed_after(tmp_path, "deactivate", "activate", "delete", own=own)

    assert told.run.ending.left_behind == []
    assert told.run.exit_code == 0
    assert any("Not restored" in note for note in told.notes) is not own


def test_a_channel_of_its_own_without_an_id_is_only_deleted_in_the_end(tmp_path: Path) -> None:
    told, left = replayed_after(tmp_path, "deactivate", "activate", own=True)

    ledger = (tmp_path / "out" / "changes.jsonl").read_text()
    assert [json.loads(row)["kind"] for row in ledger.splitlines() if '"change"' in row] == ["creating"]
    assert told.run.ending.left_behind == []
    assert all("walker" not in channel["channelName"] for channel in left)


@pytest.fixture(scope="module")
def leaving(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recorded(tmp_path_factory.mktemp("recording") / "traffic.jsonl", leaves_things)


@pytest.mark.parametrize("size", [100, 1000, 12_000])
def test_what_a_replay_changed_is_restored_where_the_disk_is_full(
    leaving: Path, tmp_path: Path, size: int
) -> None:
    """Nothing is written, or some of the ledger, or some of the log as well."""
    with reference.start() as portal:
        before = state_of_portal(portal)
        with no_more_than(size), pytest.raises(UsageError, match="Nothing is left changed at the target"):
            replay([leaving], profile_of(portal), options_for(tmp_path / "out"))
        after = state_of_portal(portal)

    assert after == before


def test_what_cannot_be_restored_is_named_where_no_report_can_be_written(tmp_path: Path) -> None:
    leaving = recorded(tmp_path / "traffic.jsonl", changes_password)
    ledger = tmp_path / "out" / LEDGER
    with (
        reference.start(variants=["password-history"]) as portal,
        no_more_than(400),
        pytest.raises(LeftBehind) as raised,
    ):
        replay([leaving], profile_of(portal), options_for(tmp_path / "out"))

    assert raised.value.exit_code == 7
    assert "Not restored: the password of [accounts.spare]: " in str(raised.value)
    assert f"To restore it: portal-conformance cleanup {ledger} --profile " in str(raised.value)
    assert "Its present value is in" not in str(raised.value)  # there was no room for it
    assert len(ChangeLedger.read(ledger).pending) == 1


@pytest.mark.parametrize(
    ("visit", "path", "key"),
    [
        (leaves_things, "/profile/update", op.PROFILE_UPDATE),
        (by_two_accounts, "/password/change", op.PASSWORD_CHANGE),
    ],
)
def test_a_change_that_only_the_recorded_portal_refused_is_restored(
    tmp_path: Path, visit: Callable[[Walker], None], path: str, key: str
) -> None:
    recording = refused_when_recorded(tmp_path / "traffic.jsonl", visit, path)

    with reference.start() as portal:
        before = state_of(portal)
        told = replay([recording], profile_of(portal), options_for(tmp_path / "out"))
        after = state_of(portal)

    assert key in keys_of(tmp_path / "out" / LEDGER)
    assert told.run.ending.left_behind == []
    assert after == before


RENAMED = {"accountName": "Renamed by a visit"}
INVITED = {"inviteeEmail": "guest@example.test", "message": "Hi", "expirationDays": 3}


@dataclass
class Changing:
    """The changes of a replay of one account, and what its requests come to at a portal."""

    portal: Portal
    changes: ReplayChanges
    account: str = "admin"

    @property
    def token(self) -> str:
        return self.portal.account(self.account).token

    def note(self, position: int, key: str, body: Json) -> None:
        self.changes.note(NoteChange(position, key, body, self.account, self.token, None))

    def sent(self, key: str, body: Json, *, refused: bool = False) -> Exchange:
        return self.portal.call(key, json=body, token="no token" if refused else self.token)

    def name(self) -> Json:
        return self.portal.call(op.PROFILE, token=self.token).at("data.accountName")


@pytest.fixture
def changing(tmp_path: Path) -> Iterator[Changing]:
    with reference.start() as running, Portal.connect(profile_of(running), impact="disruptive") as portal:
        yield Changing(portal, ReplayChanges(portal, tmp_path))


REFUSED, ACCEPTED = True, False


@pytest.mark.parametrize(
    "rounds",
    [
        [[(4, REFUSED)], [(4, ACCEPTED)]],
        [[(4, REFUSED), (5, ACCEPTED)]],
        [[(5, ACCEPTED), (4, REFUSED)]],
        [[(4, REFUSED), (5, REFUSED)]],
    ],
)
def test_of_equal_changes_one_after_another_or_at_once_only_an_accepted_one_is_to_be_restored(
    changing: Changing, rounds: list[list[tuple[int, bool]]]
) -> None:
    before = changing.name()
    for answers in rounds:
        for position, _ in answers:
            changing.note(position, op.PROFILE_UPDATE, RENAMED)
        for position, refused in answers:
            changing.changes.finish(position, changing.sent(op.PROFILE_UPDATE, RENAMED, refused=refused))
    accepted = ACCEPTED in dict(rounds[-1]).values()

    assert (changing.name() != before) is bool(changing.changes.ledger.pending) is accepted
    assert changing.changes.restore() == []
    assert changing.name() == before


def test_of_two_equal_creations_the_one_without_an_answer_is_removed_as_well(changing: Changing) -> None:
    for position in (4, 5):
        changing.note(position, op.INVITE, INVITED)
    lost = replace(changing.sent(op.INVITE, INVITED), response=None, error="cut off")
    changing.changes.finish(4, lost)
    changing.changes.finish(5, changing.sent(op.INVITE, INVITED))
    left = changing.changes.restore()

    invitations = changing.portal.call(op.INVITATIONS, token=changing.token).data
    own = [each for each in invitations if each["inviteeEmail"] == INVITED["inviteeEmail"]]
    states = [each["invitationStatus"]["code"] for each in own]
    assert (left, len(states)) == ([], 2)
    assert "PENDING" not in states


@pytest.mark.parametrize("refused", [True, False])
def test_a_change_without_a_way_back_that_was_refused_is_no_loss(changing: Changing, refused: bool) -> None:
    body, changing.account = {**RENAMED, "accountNickname": "Vis"}, "spare"
    changing.note(4, op.PROFILE_UPDATE, body)
    changing.changes.finish(4, changing.sent(op.PROFILE_UPDATE, body, refused=refused))

    assert bool(changing.changes.without_way_back()) is not refused


def test_a_record_of_another_kind_with_the_id_of_one_that_the_replay_made_is_not_its_own(
    changing: Changing,
) -> None:
    changing.note(4, op.INVITE, INVITED)
    changing.changes.finish(4, answer(op.INVITE, {"bizId": "5"}, sent=INVITED))
    changing.note(5, op.CHANNEL_DELETE, {"bizId": "5"})
    changing.changes.finish(5, answer(op.CHANNEL_DELETE, sent={"bizId": "5"}))

    assert [change.key for change in changing.changes.ledger.pending] == [op.INVITE]
    assert any(op.CHANNEL_DELETE in note for note in changing.changes.notes())
