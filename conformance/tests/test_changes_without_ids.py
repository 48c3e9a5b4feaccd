"""Records whose id stands in no field that is shown (N5): found by other means, or said to stay."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import httpx
import pytest

from cases.administration.inviting import Invited, invited, shows
from conformance.errors import Untestable
from conformance.spec.endpoints import CHANNEL_CREATE, INVITE
from conformance.target.portal import Portal
from conformance.target.portal.changes import ChangeCounts, ChangeLedger
from conformance.target.portal.records import own_id
from conformance.target.portal.restoring.restore import restore, restore_own
from conformance.tests.reached import MINIMAL, Played, answer, answering
from conformance.traffic.exchange import Exchange, Json

SPARE = """
[accounts.spare]
email = "spare@example.test"
password = "another password"
otp_secret = "JBSWY3DPEHPK3PXP"
"""
RESULT_ID = f'\n[operations."{INVITE}"]\nresult_id = "data.made.number"\n'


class Inviting(Played):
    """A portal of invitations, whose fields are the portal's own. ``told`` are the fields of the answer,
    ``listed`` those of the listing."""

    def __init__(self, *, told: Mapping[str, str], listed: Mapping[str, str]) -> None:
        super().__init__(invitations=self.answered, cancel=self.cancelled)
        self.told, self.listed = told, listed
        self.invitations: list[dict[str, str]] = []

    def answered(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            sent = json.loads(request.content)
            number = f"01JQ{len(self.invitations) + 1:04}"
            shown = {"to": sent["inviteeEmail"], "text": sent["message"], "state": "PENDING"}
            self.invitations.append({"id": number, **shown})
            return answer(self.made() or None)
        if "/profile/" in request.url.path:
            own = {"bizId": "id", "message": "text", "inviteeEmail": "to"}
            return answer([_shown(each, own) for each in self.invitations if "spare" in each["to"]])
        return answer([_shown(each, self.listed) for each in self.shown()])

    def made(self) -> Json:
        """What the answer to the last invitation shows."""
        return _shown(self.invitations[-1], self.told)

    def shown(self) -> list[dict[str, str]]:
        return self.invitations

    def cancelled(self, request: httpx.Request) -> httpx.Response:
        for invitation in self.invitations:
            if invitation["id"] == json.loads(request.content).get("invitationBizId"):
                invitation["state"] = "CANCELLED"
                return answer(None)
        return answer(status=404, code="RESOURCE.NOT_FOUND")

    @property
    def states(self) -> list[str]:
        return [each["state"] for each in self.invitations]


def _shown(invitation: Mapping[str, str], fields: Mapping[str, str]) -> Json:
    return {field: invitation[name] for field, name in fields.items()}


def noted(played: Inviting, ledger: Path | None = None, *, profile: str = MINIMAL + SPARE) -> Portal:
    """A portal whose ledger notices each exchange, as in a run."""

    class Noticed(list[Exchange]):
        def append(self, exchange: Exchange) -> None:
            portal.changes.notice(exchange)

    portal = answering(played, seen=Noticed(), profile=profile, ledger=ledger)
    return portal


def send(portal: Portal, email: str = "") -> None:
    """An invitation whose maker does not learn its id."""
    name = portal.unique()
    undo = {"invitationBizId": "{result_id}"}
    portal.changes.creating(INVITE, undo, name=name)
    body = {"inviteeEmail": email or f"{name}@example.test", "message": name, "expirationDays": 1}
    assert portal.call(INVITE, json=body, token=portal.account("admin").token).success


def inviting(portal: Portal) -> AbstractContextManager[Invited]:
    """An invitation as a case makes it."""
    marker = portal.unique()
    return invited(portal, portal.account("admin"), f"{marker}@example.test", marker)


WITH_REF = {"ref": "id", "to": "to", "state": "state"}
WITHOUT_ID = {"to": "to", "state": "state"}


@pytest.mark.parametrize(
    "told, listed, email",
    [
        ({"ref": "id"}, WITH_REF, ""),
        ({"ref": "id"}, WITH_REF, "spare@example.test"),
        ({"ref": "id"}, WITHOUT_ID, "spare@example.test"),
        ({}, WITH_REF, ""),
        ({}, WITHOUT_ID, "spare@example.test"),
    ],
    ids=["in both", "in both, not by name", "in the answer", "in the listing", "among the invitee's own"],
)
def test_an_invitation_is_found_by_whatever_shows_its_id(
    told: dict[str, str], listed: dict[str, str], email: str
) -> None:
    played = Inviting(told=told, listed=listed)
    portal = noted(played)
    send(portal, email)

    assert restore_own(portal) == []
    assert played.states == ["CANCELLED"]
    assert portal.changes.counts == ChangeCounts(attempted=1, accepted=1, restored=1)


@pytest.mark.parametrize("listed", [WITHOUT_ID, {"state": "state"}], ids=["without an id", "nowhere by name"])
def test_an_invitation_that_nothing_shows_by_an_id_is_left(tmp_path: Path, listed: dict[str, str]) -> None:
    ledger = tmp_path / "changes.jsonl"
    portal = noted(Inviting(told={}, listed=listed), ledger)
    send(portal)

    (left,) = restore_own(portal)

    assert f"{portal.run_id}-1, made by {INVITE}: it was accepted, and no answer" in left
    assert f'write where the answer has it as [operations."{INVITE}"] result_id' in left
    assert portal.changes.counts == ChangeCounts(attempted=1, accepted=1, restored=0)
    read = ChangeLedger.read(ledger)
    assert len(read.pending) == 1
    assert len(restore(portal, read)) == 1  # nor is it for a later clean-up


def test_no_further_record_is_made_where_one_could_not_be_taken_away() -> None:
    played = Inviting(told={}, listed=WITHOUT_ID)
    portal = noted(played)
    with inviting(portal) as invitation:
        assert invitation.creation.id is None
    for _ in range(2):
        with pytest.raises(Untestable, match="nothing more is created"), inviting(portal):
            pytest.fail("a record was made")

    assert played.states == ["PENDING"]
    assert len(restore_own(portal)) == 1


class Nested(Inviting):
    """A portal that shows the id of an invitation within its answer, beside another."""

    def made(self) -> Json:
        return {"made": {"receiptNo": "7f57f4c4c2", "number": self.invitations[-1]["id"]}}


def test_the_profile_says_where_the_answer_to_an_invitation_has_its_id() -> None:
    played = Nested(told={}, listed=WITHOUT_ID)
    portal = noted(played, profile=MINIMAL + RESULT_ID)
    with inviting(portal) as invitation:
        assert invitation.creation.id == "01JQ0001"
    send(portal)  # of which the ledger alone takes the id

    assert restore_own(portal) == []
    assert played.states == ["CANCELLED", "CANCELLED"]


def test_a_channel_that_is_still_listed_was_not_deleted() -> None:
    listed = answer({"items": [{"bizId": "01JQ0001", "channelName": "c"}]})
    portal = answering(Played(query=listed, delete=answer(status=404, code="ROUTE.UNKNOWN")))
    change = portal.changes.creating(CHANNEL_CREATE, {"bizId": "{result_id}"}, name="c")
    portal.changes.created(change, "01JQ0001")

    (left,) = restore_own(portal)
    assert left.endswith("was refused: HTTP 404, ROUTE.UNKNOWN, and a listing still shows it")


@pytest.mark.parametrize(
    "value, id",
    [
        ({"ref": "abc", "to": "a1@example.test", "state": "PENDING"}, "abc"),
        ({"id": "a1", "parentId": "b2"}, "a1"),
        ({"bizId": "b", "id": "a"}, "b"),
        ({"channelRef": "a1", "replacesRef": "b2"}, None),
        ({"made": "a1", "instead": "b2"}, None),
        ({"made": "suite-7 c1"}, None),
        (None, None),
    ],
)
def test_an_id_that_may_be_another_records_is_none_to_take_away(value: Json, id: str | None) -> None:
    assert own_id(value) == id


def test_a_marker_is_not_shown_by_one_that_goes_on() -> None:
    """Each marker ends in a number, and the first one is the beginning of the tenth."""
    assert shows({"message": "suite-4a97f2-1 Zoë"}, "suite-4a97f2-1")
    assert not shows({"message": "suite-4a97f2-12", "state": 1}, "suite-4a97f2-1")


class Late(Inviting):
    """A portal whose listing shows an invitation only once another one was made."""

    def shown(self) -> list[dict[str, str]]:
        return self.invitations[:-1]


def test_an_earlier_invitation_that_is_listed_late_is_not_taken_for_the_new_one() -> None:
    portal = noted(Late(told={"bizId": "id"}, listed={"bizId": "id", "message": "text"}))

    for _ in range(2):
        with inviting(portal) as invitation:
            assert invitation.record is None


class Moving(Inviting):
    """A portal whose records show something else each time, and the own one not at all."""

    def __init__(self) -> None:
        super().__init__(told={}, listed={"bizId": "id", "inviteeEmail": "to", "seen": "seen"})
        self.invitations.append({"id": "01JQ9999", "to": "somebody@example.test", "state": "PENDING"})

    def shown(self) -> list[dict[str, str]]:
        return [{**self.invitations[0], "seen": str(len(self.asked))}]


def test_the_invitation_of_somebody_else_is_not_taken_for_the_new_one() -> None:
    """It has the same address and shows something else each time: it was cancelled with the run's."""
    played = Moving()
    portal = noted(played)
    with (
        suppress(Untestable),
        invited(portal, portal.account("admin"), "somebody@example.test", portal.unique()) as invitation,
    ):
        assert invitation.record is None

    assert played.states[0] == "PENDING"
