"""What a run changed is put back, by itself or by a later clean-up, and its ledger holds no secret."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from conformance.cli import main
from conformance.errors import CannotSignIn, LedgerError, Untestable
from conformance.spec import endpoints as op
from conformance.target.portal import Portal
from conformance.target.portal.changes import ChangeCounts, ChangeLedger
from conformance.target.portal.restoring.restore import restore, restore_own
from conformance.target.portal.transport import fetch
from conformance.tests.reached import MINIMAL, Played, answer, answering, connected
from conformance.traffic.exchange import Json
from conformance.traffic.redaction.redact import Secrets
from reference_impl.serve import Running


def state(running: Running) -> Json:
    return json.loads(fetch(f"{running.url}/dump", timeout=10)[1])["state"]


def create_channel(portal: Portal, *, told: bool = True) -> None:
    name = portal.unique()
    change = portal.changes.creating(op.CHANNEL_CREATE, {"bizId": "{result_id}"}, name=name)
    body = portal.operation_body(op.CHANNEL_CREATE, unique=name)
    created = portal.call(op.CHANNEL_CREATE, json=body, token=portal.account("admin").token)
    assert created.success
    if told:
        portal.changes.created(change, created.data["bizId"])


def rename(portal: Portal) -> None:
    token = portal.account("admin").token
    before = portal.call(op.PROFILE, token=token).data
    names = ("accountName", "accountPhone", "defaultLanguage", "defaultTimezone", "defaultCountry")
    portal.changes.changed(op.PROFILE_UPDATE, {name: before[name] for name in names})
    assert portal.call(op.PROFILE_UPDATE, json={"accountName": portal.unique()}, token=token).success


def change_password(portal: Portal, number: int = 1) -> str:
    """Changes the spare account's password as a case does: noted first, then sent."""
    spare = portal.account("spare")
    new = spare.next_password(number)
    portal.changes.changing_password("spare", number)
    body = portal.operation_body(op.PASSWORD_CHANGE, password=spare.password, new_password=new)
    assert portal.secure.post(op.PASSWORD_CHANGE, body, token=spare.token).success
    spare.password_changed_to(new)
    return new


def invite(portal: Portal) -> None:
    email = f"{portal.unique()}@example.test"
    undo_body = {"invitationBizId": "{result_id}", "reason": "made by a test"}
    portal.changes.creating(op.INVITE, undo_body, name=email)
    body = {"inviteeEmail": email, "message": "hello", "expirationDays": 3}
    assert portal.call(op.INVITE, json=body, token=portal.account("admin").token).success


UNTOLD = partial(create_channel, told=False)
CHANGES: list[Callable[[Portal], object]] = [create_channel, UNTOLD, rename, change_password, invite]

IN_USE = "what-is-in-use-is-not-deleted"
"""The variant under which a record is taken out of use before it is deleted."""


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    (tmp_path / "reports").mkdir()
    return tmp_path / "reports" / "changes.jsonl"


@pytest.mark.parametrize(
    ("change", "variants"),
    [*((change, []) for change in CHANGES), *((change, [IN_USE]) for change in CHANGES[:2])],
)
def test_a_run_puts_back_what_it_changed(change: Any, variants: list[str], ledger: Path) -> None:
    with connected(ledger=ledger, variants=variants) as (portal, _, running):
        before = state(running)
        change(portal)
        assert state(running) != before or change is change_password

        assert restore_own(portal) == []
        assert state(running) == before
        assert portal.changes.pending == []
        assert portal.account("spare").fresh_sign_in()


def test_a_clean_up_puts_back_what_a_killed_run_left_and_its_ledger_holds_no_secret(ledger: Path) -> None:
    with connected(ledger=ledger) as (killed, _, running):
        before = state(running)
        for change in CHANGES:
            change(killed)
        text = ledger.read_text()
        assert killed.secrets.redact(text) == text

        with Portal.connect(killed.profile, impact="disruptive") as later:
            read = ChangeLedger.read(ledger)
            assert len(read.pending) == len(CHANGES)

            assert restore(later, read) == []
            assert state(running) == before
            assert later.account("spare").fresh_sign_in()

        assert ChangeLedger.read(ledger).pending == []


@pytest.mark.parametrize("changes", [0, 2])
def test_the_last_of_several_passwords_is_traded_for_the_profiles_where_one_was_changed(
    ledger: Path, changes: int
) -> None:
    with connected(ledger=ledger) as (killed, _, _running):
        for number in range(changes):
            change_password(killed, number + 1)
        killed.changes.changing_password("spare", changes + 1)  # noted, and never changed

        with Portal.connect(killed.profile, impact="disruptive") as later:
            assert restore(later, ChangeLedger.read(ledger)) == []
            assert later.account("spare").password == later.account("spare").profile_password
            assert later.account("spare").fresh_sign_in()


def test_a_record_that_was_never_made_or_is_gone_is_nothing_to_put_back() -> None:
    with connected() as (portal, _, _running):
        portal.changes.creating(op.CHANNEL_CREATE, {"bizId": "{result_id}"}, name=portal.unique())
        gone = portal.changes.creating(op.CHANNEL_CREATE, {"bizId": "{result_id}"})
        portal.changes.created(gone, "00000000-0000-4000-8000-000000000000")

        assert restore_own(portal) == []


def test_what_cannot_be_put_back_is_said_with_its_reason() -> None:
    denied = answer(status=403, code="ACCESS.PERMISSION_DENIED")
    portal = answering(Played(delete=denied, update=denied))
    change = portal.changes.creating(op.CHANNEL_CREATE, {"bizId": "{result_id}"})
    portal.changes.created(change, "b-1")
    portal.changes.changed(op.PROFILE_UPDATE, {"accountName": "before"})
    portal.call(op.PROFILE_UPDATE, json={"accountName": "after"}, token="t")

    refused = "was refused: HTTP 403, ACCESS.PERMISSION_DENIED"
    assert restore_own(portal) == [
        f"what {op.PROFILE_UPDATE} changed for [accounts.admin]: {op.PROFILE_UPDATE} {refused}",
        f"b-1, made by {op.CHANNEL_CREATE}: {op.CHANNEL_DELETE} {refused}",
    ]
    assert len(portal.changes.pending) == 2


def test_what_was_undone_by_the_case_is_not_undone_again() -> None:
    portal = answering(played := Played())
    portal.changes.undone(portal.changes.changed(op.PROFILE_UPDATE, {}))

    assert restore_own(portal) == []
    assert played.words == ["initiate", "complete"]  # noted only for who can sign in to restore it


def test_a_change_whose_author_cannot_sign_in_is_neither_noted_nor_left(ledger: Path) -> None:
    portal = answering(lambda request: answer(status=401, code="AUTH.INVALID_CREDENTIALS"), ledger=ledger)

    with pytest.raises(CannotSignIn, match="email or password is refused"):
        portal.changes.changed(op.PROFILE_UPDATE, {})

    assert restore_own(portal) == []
    assert not ledger.exists()


def test_a_change_is_on_the_disk_before_it_is_sent(ledger: Path) -> None:
    on_disk: list[list[str]] = []

    def respond(request: httpx.Request) -> httpx.Response:
        on_disk.append(ledger.read_text().splitlines())
        return answer({})

    portal = answering(respond)
    portal.changes = ChangeLedger(ledger, run_id="suite-1", target=portal.url)
    assert not ledger.exists()

    portal.changes.changed(op.PROFILE_UPDATE, {"accountName": "before"})
    portal.call(op.PROFILE_UPDATE, json={}, token="t")

    assert json.loads(on_disk[0][0]) == RUN
    assert json.loads(on_disk[0][1])["undo_body"] == {"accountName": "before"}


def test_a_change_that_could_only_be_undone_with_a_secret_is_not_made(ledger: Path) -> None:
    secrets = Secrets()
    secrets.add("smtp-password", "password")
    changes = ChangeLedger(ledger, secrets=secrets)

    with pytest.raises(Untestable, match="what restores it holds a secret"):
        changes.changed(op.PROFILE_UPDATE, {"emailConfig": {"password": "smtp-password"}})

    assert not ledger.exists()


def write(ledger: Path, *rows: Json, cut: bytes = b"") -> None:
    """Writes a ledger, with a last line that a crash cut."""
    ledger.write_bytes("".join(f"{json.dumps(row)}\n" for row in rows).encode() + cut)


HERE, OTHER = "http://portal.example.test", "http://other.example.test"
RUN = {"event": "run", "run": "suite-1", "target": HERE}
KEYS = {"key": op.PROFILE_UPDATE, "undo_key": op.PROFILE_UPDATE}
ROW = {"event": "change", "id": 1, "kind": "changing", "account": "admin", "run": "suite-1", **KEYS}


def silent() -> Portal:
    """A portal to which nothing is to be sent."""
    return answering(lambda request: pytest.fail("nothing was to be sent"))


@pytest.mark.parametrize("cut", [b'{"event": "chan', '{"event": "é'.encode()[:-1]])
def test_a_line_that_a_crash_cut_is_passed_over_and_written_over(ledger: Path, cut: bytes) -> None:
    write(ledger, RUN, ROW, cut=cut)

    read = ChangeLedger.read(ledger)
    assert [change.id for change in read.pending] == [1]

    read.undone(1)
    assert ChangeLedger.read(ledger).pending == []


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085"])
def test_a_line_separator_in_a_text_of_the_target_ends_no_line(ledger: Path, separator: str) -> None:
    changes = ChangeLedger(ledger, run_id="suite-1", target=HERE)
    changes.changed(op.PROFILE_UPDATE, {"accountName": f"first{separator}second"})
    changes.close()

    (change,) = ChangeLedger.read(ledger).pending

    assert change.undo_body == {"accountName": f"first{separator}second"}


@pytest.mark.parametrize("text", ["not a ledger", '{"event": "created", "id": 9, "result": "x"}', "[]", "{}"])
def test_a_file_that_is_no_ledger_is_named_with_its_line(ledger: Path, text: str) -> None:
    write(ledger, RUN, cut=f"{text}\n".encode())

    with pytest.raises(LedgerError, match="line 2: this is not a ledger of changes"):
        ChangeLedger.read(ledger)
    with pytest.raises(LedgerError, match="there is no such file"):
        ChangeLedger.read(ledger.with_name("none.jsonl"))


def test_a_later_run_keeps_what_an_earlier_one_left_and_puts_back_its_own_only(ledger: Path) -> None:
    write(ledger, RUN, ROW)
    portal = silent()
    portal.changes = ChangeLedger(ledger, run_id="suite-2", target=HERE)
    own = portal.changes.changed(op.PROFILE_UPDATE, {})
    portal.changes.undone(own)

    assert own == 2
    assert restore_own(portal) == []
    assert [change.run for change in ChangeLedger.read(ledger).pending] == ["suite-1"]


def test_a_ledger_of_another_target_is_neither_put_back_nor_gone_on_with(ledger: Path) -> None:
    write(ledger, {**RUN, "target": OTHER}, ROW)

    with pytest.raises(LedgerError, match=f"made at {OTHER}, and the profile leads to {HERE}"):
        restore(silent(), ChangeLedger.read(ledger))
    with pytest.raises(LedgerError, match=rf"left changes at {OTHER} .* `portal-conformance cleanup"):
        ChangeLedger(ledger, run_id="suite-2", target=HERE)


def test_a_ledger_with_nothing_pending_is_begun_anew(ledger: Path) -> None:
    write(ledger, RUN, ROW, {"event": "undone", "id": 1})

    changes = ChangeLedger(ledger, run_id="suite-2", target=OTHER)

    assert not ledger.exists()
    assert changes.changed(op.PROFILE_UPDATE) == 1


def test_what_the_target_accepted_is_counted_and_what_it_refused_is_no_change(ledger: Path) -> None:
    with connected(ledger=ledger) as (portal, exchanges, _):
        portal.changes.creating(op.INVITE, {"invitationBizId": "{result_id}"}, name="x")
        refused = portal.call(op.INVITE, json={"inviteeEmail": "x"}, token=portal.account("admin").token)
        portal.changes.notice(refused)
        assert portal.changes.counts == ChangeCounts(attempted=1, accepted=0, restored=0)

        change_password(portal, 1)
        change_password(portal, 2)
        rename(portal)
        for exchange in exchanges:
            portal.changes.notice(exchange)
        assert portal.changes.counts == ChangeCounts(attempted=4, accepted=2, restored=0)

        assert restore_own(portal) == []
        assert portal.changes.counts == ChangeCounts(attempted=4, accepted=2, restored=2)


@pytest.mark.parametrize("events", [[], [ROW, {"event": "undone", "id": 1}]])
def test_a_cleanup_of_a_ledger_without_changes_says_that_there_was_nothing_to_restore(
    events: list[Json], ledger: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(ledger, RUN, *events)
    profile = ledger.with_name("portal.toml")
    profile.write_text(MINIMAL, encoding="utf-8")

    assert main(["cleanup", str(ledger), "--profile", str(profile)]) == 0

    nothing = f"Nothing to restore: {ledger} lists no change, or all are restored.\n"
    assert capsys.readouterr().out == nothing
