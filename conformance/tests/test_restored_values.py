"""What is restored is read back: a factor that is none already, and a value that is written otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from cases.changing import put_back
from conformance.spec import endpoints as op
from conformance.target.cleanup import Restored, restore_pending
from conformance.target.portal import Portal
from conformance.target.portal.changes import ChangeCounts, ChangeLedger
from conformance.target.portal.restoring.read_back import shown_otherwise
from conformance.target.portal.restoring.restore import restore_own
from conformance.tests.reached import SIGNED_IN, Played, answer, answering
from conformance.traffic.exchange import Json


def setting(method: str, on: bool | None) -> Json:
    return {"mfaMethod": {"code": method, "value": 10011001}} | ({} if on is None else {"isEnabled": on})


@pytest.mark.parametrize(
    "settings, is_left",
    [
        ([setting("EMAIL", True)], False),
        ([setting("EMAIL", True), setting("OTP", False)], False),
        ([], False),
        ([setting("EMAIL", True), setting("OTP", True)], True),
        ([setting("OTP", None)], True),
        (None, True),
    ],
)
def test_a_refused_revocation_of_an_authenticator_that_is_none_leaves_nothing(
    settings: Json, is_left: bool
) -> None:
    portal = answering(Played(revoke=answer(status=409, code="OTP_ABSENT"), mfa=answer(settings)))
    portal.changes.changed(op.OTP_SETUP)
    portal.call(op.OTP_SETUP, token="t")

    refused = (
        f"what {op.OTP_SETUP} changed for [accounts.admin]: {op.OTP_REVOKE} was refused: HTTP 409, OTP_ABSENT"
    )
    assert restore_own(portal) == ([refused] if is_left else [])


def test_what_nothing_restores_is_counted_and_named_and_no_restored_change(tmp_path: Path) -> None:
    portal = answering(Played(), ledger=tmp_path / "changes.jsonl")
    changes = portal.changes
    for _ in range(2):
        changes.stays(changes.creating(op.INVITE, name="x"), "an invitation was accepted")
    changes.leave(op.BACKUP_CODES_GENERATE, "[accounts.spare] has new backup codes", account="spare")

    assert changes.counts == ChangeCounts(attempted=3, accepted=3, restored=0, staying=3)
    assert changes.unrestorable == [
        "an invitation was accepted (2 times)",
        "[accounts.spare] has new backup codes",
    ]
    assert changes.pending == ChangeLedger.read(tmp_path / "changes.jsonl").pending == []


class Normalising(Played):
    """A portal that writes phone numbers without what is between the digits."""

    def __init__(self, phone: str = "+81-3-0000") -> None:
        super().__init__(update=self.updated, profile=self.profile)
        self.phone = phone

    def updated(self, request: httpx.Request) -> httpx.Response:
        self.phone = str(json.loads(request.content)["accountPhone"]).replace("-", "")
        return self.profile(request)

    def profile(self, request: httpx.Request) -> httpx.Response:
        return answer({"accountPhone": self.phone, "accountName": "A"})


def change_phone(portal: Portal, number: str) -> None:
    token = portal.account("admin").token
    before = portal.call(op.PROFILE, token=token).data
    portal.changes.changed(op.PROFILE_UPDATE, {**before, "defaultCountry": None})
    portal.changes.notice(portal.call(op.PROFILE_UPDATE, json={"accountPhone": number}, token=token))


OTHERWISE = "accountPhone of [accounts.admin]: '+81-3-0000' was sent, and is shown as '+8130000'"


@pytest.mark.parametrize("phone, named", [("+81-3-0000", [OTHERWISE]), ("+8130000", [])])
def test_a_restored_value_that_the_portal_writes_otherwise_is_named(phone: str, named: list[str]) -> None:
    portal = answering(Normalising(phone))
    change_phone(portal, "+1-2")
    change_phone(portal, "+1-3")

    assert restore_own(portal) == []
    assert shown_otherwise(portal, portal.changes.restored) == named


@pytest.mark.parametrize(
    "shown, kept",
    [
        (["A", "A", "suite-1"], "A"),  # what it shows late is the value of the change before
        (["A", "B"], "B"),  # somebody else has set it since
    ],
)
def test_a_change_is_restored_to_what_the_suite_has_not_written_itself(shown: list[str], kept: str) -> None:
    portal = answering(played := Played())
    admin = portal.account("admin")
    for number, name in enumerate(shown, 1):
        with put_back(portal, op.PROFILE_UPDATE, {"accountName": name}, by=admin) as change:
            portal.changes.notice(change.ask({"accountName": f"suite-{number}"}))

    assert json.loads(played.asked[-1].content)["accountName"] == kept


def test_a_cleanup_reads_back_what_it_restored(tmp_path: Path) -> None:
    portal = answering(Normalising(), ledger=tmp_path / "changes.jsonl")
    change_phone(portal, "+1-2")

    restored = restore_pending(portal, ChangeLedger.read(tmp_path / "changes.jsonl"))
    assert restored == Restored(1, [], [OTHERWISE])


class Adding:
    """A portal whose IP whitelist takes what is set in addition."""

    def __init__(self) -> None:
        self.ips: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("ip-whitelist") and request.method == "POST":
            self.ips += json.loads(request.content)["ips"]
        if request.url.path.endswith("ip-whitelist"):
            return answer({"enabled": False, "entries": [{"ip": ip} for ip in self.ips]})
        return answer(SIGNED_IN)


@pytest.mark.parametrize("stays", [False, True])
def test_a_value_that_stays_is_not_shown_otherwise_beside(stays: bool) -> None:
    portal = answering(Adding())
    admin = portal.account("admin")
    reasons = iter([None, "the whitelist keeps 192.0.2.2" if stays else None])
    for _ in range(2):
        with put_back(
            portal, op.IP_WHITELIST_SET, {"ips": []}, by=admin, left=lambda: next(reasons)
        ) as change:
            portal.changes.notice(change.ask({"ips": ["192.0.2.2"]}))

    assert bool(shown_otherwise(portal, portal.changes.restored)) is not stays
