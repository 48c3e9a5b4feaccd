"""A replay does no harm: what it changes at the target is noted first, and restored afterwards."""

from __future__ import annotations

import json
import re
import time
import tomllib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyotp
import pytest

from conformance import record
from conformance.cli import main
from conformance.errors import LedgerError
from conformance.replay import replay
from conformance.replay.engine.step import ReplayStep
from conformance.report.formats.closing import closing_block
from conformance.report.model.run import ChangesMade
from conformance.spec.endpoints import INVITE, PASSWORD_CHANGE, PROFILE_UPDATE
from conformance.target.portal import Portal
from conformance.target.portal.changes import LEDGER, ChangeLedger
from conformance.target.portal.restoring.restore import restore
from conformance.target.profile.model import parse
from conformance.tests.replays import options_for, profile_of, recorded, recorder, replayed, rewritten
from conformance.tests.scripted_client import Walker
from conformance.traffic.exchange import Json
from reference_impl import serve as reference

Captured = pytest.CaptureFixture[str]


def changes_password(walker: Walker) -> None:
    spare = walker.accounts["spare"]
    walker.sign_in(spare)
    walker.change_password(spare["password"], "Another-password-1")
    walker.sign_in({**spare, "password": "Another-password-1"})
    walker.get("/profile")


def leaves_things(walker: Walker) -> None:
    walker.sign_in(walker.accounts["admin"])
    walker.get("/profile")
    walker.post("/profile/update", {"accountName": "Renamed by a visit"})
    walker.channel()
    walker.post("/invitations", {"inviteeEmail": "guest@example.test", "message": "Hi", "expirationDays": 3})
    walker.get("/profile")


def generates_backup_codes(walker: Walker) -> None:
    walker.sign_in(walker.accounts["admin"])
    for _ in range(5):
        walker.get("/profile")
    walker.post("/security/mfa/backup-codes/generate")


def test_two_recordings_of_one_command_may_both_change_the_password(tmp_path: Path) -> None:
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    with reference.start() as portal:
        profile = tomllib.loads(portal.profile())
        spare = profile["accounts"]["spare"]
        passwords = [spare["password"], "Another-password-1", "Another-password-2"]
        for file, (old, new) in zip(files, pairwise(passwords), strict=True):
            options = record.RecordOptions(open_channel=True)
            with record.serve(portal.url, file, options) as recorder:
                walker = Walker(recorder.url, profile, hash=file.stem)
                walker.sign_in({**spare, "password": old})
                walker.change_password(old, new)
                walker.sign_in({**spare, "password": new})

    with reference.start() as portal:
        told = replay(files, profile_of(portal), options_for(tmp_path / "out"))

    assert told.run.regressions == []
    assert told.run.exit_code == 0
    assert told.tally.share == 1.0


def test_what_a_recording_leaves_is_removed_and_set_back(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "traffic.jsonl", leaves_things)

    with reference.start() as portal:
        profile = profile_of(portal)
        before = state_of_portal(portal)
        told = replay([recording], profile, options_for(tmp_path / "out"))
        after = state_of_portal(portal)

    assert told.run.exit_code == 0
    assert told.run.regressions == []
    assert after == before
    assert told.run.changes == ChangesMade(attempted=3, accepted=3, restored=3)
    assert "changes    3 accepted by the target, 3 restored" in list(closing_block(told.run, tmp_path))
    assert "Sessions that the run began may stay open until they expire: 2 of [accounts.admin]." in told.notes
    assert "Invitations made and cancelled, which lists may still show: 1." in told.notes


def answers_own_invitations(walker: Walker) -> None:
    """Two invitations are accepted and declined, and a channel is removed: all made by the same people."""
    accounts = walker.accounts
    invitee = Walker(walker.base, walker.profile, hash="invitee")
    walker.sign_in(accounts["admin"])
    invitee.sign_in(accounts["spare"])
    for answer in ("accept", "decline"):
        sent = {"inviteeEmail": accounts["spare"]["email"], "message": "Hi", "expirationDays": 3}
        id = walker.post("/invitations", sent)["data"]["bizId"]
        invitee.post(f"/profile/invitations/{answer}", {"invitationBizId": id, "reason": "No time"})
    walker.post("/notifications/channels/delete", {"bizId": walker.channel()})


def test_a_second_replay_on_the_same_target_reports_nothing_false(tmp_path: Path) -> None:
    recording = tmp_path / "traffic.jsonl"
    with recorder(recording, open_channel=True) as (walker, portal):
        walker.visit()
        portal.portal.clock.advance(30)
        several_people(walker, portal.portal.clock.now() - time.time())

    with reference.start() as portal:
        profile = profile_of(portal)
        told = [replay([recording], profile, options_for(tmp_path / str(n))) for n in range(3)]

    assert [[(one.endpoint, one.path) for one in each.run.regressions] for each in told] == [[], [], []]
    assert [each.tally.share >= 0.95 for each in told] == [True] * 3
    assert [each.run.ending.left_behind for each in told] == [[], [], []]
    assert [each.run.exit_code for each in told] == [0, 0, 0]


def test_what_is_left_where_the_ingress_lets_nothing_through_is_named(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "traffic.jsonl", leaves_things)
    with reference.start() as portal:
        changes = ChangeLedger(tmp_path / LEDGER, run_id="suite-1", target=portal.url)
        changes.changed(PROFILE_UPDATE, {"accountName": "As it was"})
        changes.close()
        text = re.sub(r'(?m)^access_code = ".*"', 'access_code = "of-another-portal"', portal.profile())
        told = replay([recording], parse(text, {}), options_for(tmp_path))

    assert "refuses every request alike" in told.run.ending.inconclusive
    assert len(told.run.ending.left_behind) == 1
    assert "cleanup" in told.run.ending.cleanup
    assert told.run.exit_code == 7


@pytest.mark.parametrize("error", [ValueError("a defect"), LedgerError("the disk is full")])
def test_a_replay_that_ends_in_an_error_restores_what_it_changed(tmp_path: Path, error: Exception) -> None:
    recording = recorded(tmp_path / "traffic.jsonl", leaves_things)

    def fail_after_invitation(step: ReplayStep) -> None:
        if step.outcome.endpoint == INVITE:
            raise error

    with reference.start() as portal:
        before = state_of_portal(portal)
        options = options_for(tmp_path / "out")
        told = replay([recording], profile_of(portal), options, on_step=fail_after_invitation)
        after = state_of_portal(portal)

    assert after == before
    assert "created" in (tmp_path / "out" / LEDGER).read_text()
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["summary"]["pass"] > 0
    assert (tmp_path / "out" / "report.html").exists()
    if isinstance(error, ValueError):
        assert results["exit_code"] == told.run.exit_code == 3
        assert "ValueError: a defect" in results["ending"]["errors"]["replay"]
    else:
        assert results["exit_code"] == told.run.exit_code == 4
        assert results["ending"]["unusable"] == "the disk is full"
        assert "It ended early: the disk is full" in results["notes"]


def several_people(walker: Walker, ahead: float) -> None:
    """Three people who sign in twice, change and leave things, and look at what the others did."""
    people = [walker.browser(f"person-{n}", ahead=ahead) for n in range(3)]
    for walker, name in zip(people, ("admin", "spare", "limited"), strict=True):
        walker.sign_in(walker.accounts[name])
        if name != "limited":
            walker.look_around()
        else:
            walker.get("/profile")
    changes_password(people[1])
    people[0].post("/profile/update", {"accountName": "Renamed by a visit"})
    people[0].channel()
    people[0].post(
        "/invitations", {"inviteeEmail": "a-guest@example.test", "message": "Hi", "expirationDays": 3}
    )
    people[0].look_around()
    people[1].look_around()
    people[1].sign_out()
    people[0].renew_token()
    people[0].get("/invitations")


def state_of_portal(portal: reference.Running) -> object:
    """What a visitor of the portal sees of the records that the recording changes."""
    with Portal.connect(profile_of(portal), impact="read-only") as visitor:
        token = visitor.account("admin").token
        name = visitor.get("/web/v1/system/profile", token=token).at("data.accountName")
        invitations = visitor.get("/web/v1/system/invitations", token=token).data
        channels = visitor.call(
            "POST /web/v1/system/notifications/channels/query", json={"activeOnly": False}, token=token
        ).at("data.items")
    pending = [each for each in invitations if each["invitationStatus"]["code"] == "PENDING"]
    return name, sorted(each["bizId"] for each in channels), sorted(each["bizId"] for each in pending)


def sets_up_an_authenticator(walker: Walker) -> None:
    walker.sign_in(walker.accounts["admin"])
    walker.get("/profile")
    issued = walker.post("/security/mfa/otp/setup")["data"]
    walker.post("/security/mfa/otp/verify", {"code": pyotp.TOTP(issued["secret"]).now()})


def test_a_new_secret_stays_in_the_ledger_until_a_cleanup_shows_it(tmp_path: Path, capsys: Captured) -> None:
    recording = recorded(tmp_path / "traffic.jsonl", sets_up_an_authenticator)
    visit = recorded(tmp_path / "visit.jsonl", lambda walker: walker.get("/profile"))
    ledger, options = tmp_path / "out" / LEDGER, options_for(tmp_path / "out")
    with reference.start() as portal:
        (tmp_path / "portal.toml").write_text(portal.profile())
        replay([recording], profile_of(portal), options)
        [issued] = issued_in(ledger)
        later = replay([visit], profile_of(portal), options)
        [kept] = issued_in(ledger)
        main(["cleanup", str(ledger), "--profile", str(tmp_path / "portal.toml")])
        shown = capsys.readouterr().out
        replay([visit], profile_of(portal), options)

    assert issued["issued"]["secret"]
    assert kept == issued
    assert any(
        note.startswith("Left by an earlier run: POST") and str(ledger) in note for note in later.notes
    )
    assert "cannot be restored: POST" in shown
    assert issued["issued"]["secret"] not in shown
    assert not ledger.exists()


def issued_in(ledger: Path) -> list[dict[str, Json]]:
    rows = [json.loads(row) for row in ledger.read_text().splitlines()]
    return [
        row["present"] for row in rows if row["event"] == "left" and "issued" in (row.get("present") or {})
    ]


def both_take_the_same_password(walker: Walker) -> None:
    for name in ("admin", "spare"):
        account = walker.accounts[name]
        walker.sign_in(account)
        walker.change_password(account["password"], "Another-password-1")
        walker.get("/profile")


def test_the_ledger_alone_restores_accounts_that_took_the_same_password(tmp_path: Path) -> None:
    recording = recorded(tmp_path / "traffic.jsonl", both_take_the_same_password)
    ledger = tmp_path / "out" / LEDGER
    left: list[object] = []

    def clean_up_after_the_second(step: ReplayStep) -> None:
        if step.outcome.endpoint == PASSWORD_CHANGE:
            changed.append(step)
        if len(changed) == 2 and not left:
            with Portal.connect(profile, impact="disruptive") as cleaner:
                left.append(restore(cleaner, ChangeLedger.read(ledger)))
            raise ValueError("killed here")

    changed: list[ReplayStep] = []
    with reference.start() as portal:
        profile = profile_of(portal)
        replay([recording], profile, options_for(tmp_path / "out"), on_step=clean_up_after_the_second)

    assert left == [[]]


def commanded(recording: Path, portal: reference.Running, *options: str) -> int:
    """The exit code of a replay by the command, beside the recording."""
    profile = recording.with_name("portal.toml")
    profile.write_text(portal.profile())
    command = ["replay", str(recording), "--profile", str(profile), "--impact", "disruptive"]
    return main([*command, "--out", str(recording.with_name("out")), *options])


def test_what_cannot_be_restored_is_listed_before_it_is_sent_and_afterwards(
    tmp_path: Path, capsys: Captured
) -> None:
    recording = recorded(tmp_path / "traffic.jsonl", generates_backup_codes)
    with reference.start() as portal:
        commanded(recording, portal, "--dry-run")
        foreseen = capsys.readouterr().out
        commanded(recording, portal)
        captured = capsys.readouterr()

    sentence = "backup-codes/generate: cannot be restored: the account's earlier backup codes become invalid"
    assert sentence in foreseen
    assert sentence in captured.err
    assert "Not restored, 1 times POST" in captured.out
    notes = json.loads((tmp_path / "out" / "results.json").read_text())["notes"]
    assert any("Not restored" in note and "backup-codes/generate" in note for note in notes)


def test_what_becomes_of_records_that_the_replay_makes_is_no_loss_but_for_an_acceptance(
    tmp_path: Path, capsys: Captured
) -> None:
    recording = recorded(tmp_path / "traffic.jsonl", answers_own_invitations)
    with reference.start() as portal:
        commanded(recording, portal, "--dry-run")
        foreseen = capsys.readouterr().out.splitlines()
        code = commanded(recording, portal)

    accept = "/web/v1/system/profile/invitations/accept"
    losses = [line.split(":")[0].split()[-1] for line in foreseen if "cannot be restored" in line]
    notes = json.loads((tmp_path / "out" / "results.json").read_text())["notes"]
    assert (losses, code) == ([accept], 0)
    assert ChangeLedger.read(tmp_path / "out" / LEDGER).pending == []
    assert [note.split(":")[0] for note in notes if note.startswith("Not restored")] == [
        f"Not restored, 1 times POST {accept}"
    ]


def test_a_removal_of_a_record_of_its_own_is_no_loss_whatever_the_name_of_its_id(
    tmp_path: Path, capsys: Captured
) -> None:
    def removes_a_channel(walker: Walker) -> None:
        walker.sign_in(walker.accounts["admin"])
        walker.post("/notifications/channels/delete", {"bizId": walker.channel()})

    recording = recorded(tmp_path / "traffic.jsonl", removes_a_channel)
    *before, removal = recording.read_text(encoding="utf-8").splitlines()
    assert removal.count('{"bizId":') == 1
    renamed = [*before, removal.replace('{"bizId":', '{"ref":')]
    recording.write_text("\n".join(renamed) + "\n", encoding="utf-8")
    with reference.start() as portal:
        commanded(recording, portal, "--dry-run")

    assert "channels/delete: on records that the replay itself makes" in capsys.readouterr().out


def test_a_password_that_is_not_restored_is_named_once_and_stands_in_the_ledger_alone(
    tmp_path: Path, capsys: Captured
) -> None:
    recording = recorded(tmp_path / "traffic.jsonl", changes_password)
    with reference.start(variants=["password-history"]) as portal:
        code = commanded(recording, portal)
    lines = [line for line in capsys.readouterr().out.splitlines() if line]

    row = json.loads((tmp_path / "out" / LEDGER).read_text().splitlines()[-1])
    assert code == 7
    assert any(line.startswith("Not restored: the password of [accounts.spare]: ") for line in lines)
    assert any(line.startswith("To restore it: portal-conformance cleanup ") for line in lines)
    assert len(lines) == len(set(lines))
    assert row["present"]["email"] == "spare@example.test"
    assert row["present"]["password"] not in (tmp_path / "out" / "report.html").read_text()


def refused_when_recorded(out: Path, visit: Callable[[Walker], None], path: str) -> Path:
    """The recording of a visit, in which the portal refused the changes at a path."""
    refusal = {"status": 403, "body": {"code": "AUTH.FORBIDDEN", "success": False, "data": None}}

    def refuse(line: dict[str, Any]) -> None:
        if line["request"]["url"].endswith(path):
            line["response"] |= refusal

    return rewritten(recorded(out, visit), refuse)


def keys_of(ledger: Path) -> list[str | None]:
    return [json.loads(row).get("key") for row in ledger.read_text().splitlines()]


def test_a_change_without_a_way_back_is_noted_where_only_the_recorded_one_was_refused(tmp_path: Path) -> None:
    file = tmp_path / "traffic.jsonl"
    recording = refused_when_recorded(file, generates_backup_codes, "backup-codes/generate")

    told = replayed(recording, tmp_path / "out")

    assert any("Not restored, 1 times" in note and "backup-codes" in note for note in told.notes)
    assert "backup-codes" in (tmp_path / "out" / LEDGER).read_text()
