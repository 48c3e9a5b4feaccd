"""What was noted as a change and was not asked for is not to be restored."""

from __future__ import annotations

from contextlib import suppress

import httpx
import pytest

from cases.administration.inviting import invited
from cases.changing import put_back
from conformance.errors import NoAnswer, Untestable
from conformance.spec.endpoints import INVITE, PROFILE_UPDATE
from conformance.target.portal import Portal
from conformance.target.portal.restoring.restore import restore_own
from conformance.tests.reached import Played, answer, answering
from conformance.traffic.exchange import Exchange

TURNED_AWAY = answer(status=429, code="RATE.LIMITED")


class RateLimited(Played):
    """A portal that turns the listing of invitations away, and answers to an invitation by ``invites``."""

    def __init__(self, invites: httpx.Response | httpx.HTTPError | None = None) -> None:
        super().__init__(invitations=self.answered)
        self.invites = invites
        self.has_invited = False

    def answered(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            return TURNED_AWAY if self.has_invited or self.invites is None else answer([])
        self.has_invited = True
        if isinstance(self.invites, httpx.HTTPError):
            raise self.invites
        return self.invites or answer({})


def invite(portal: Portal) -> None:
    with invited(portal, portal.account("admin"), "a@example.test", portal.unique()):
        pytest.fail("an invitation was made")


@pytest.mark.parametrize("invites", [None, TURNED_AWAY], ids=["never sent", "turned away"])
def test_an_invitation_that_was_not_taken_is_not_called_left_behind(invites: httpx.Response | None) -> None:
    played = RateLimited(invites)
    portal = answering(played)

    with pytest.raises(Untestable):
        invite(portal)

    assert restore_own(portal) == []
    assert portal.changes.pending == []
    assert played.has_invited is bool(invites)
    assert portal.changes.counts.accepted == portal.changes.counts.restored == 0


@pytest.mark.parametrize("invites", [httpx.ReadError("cut"), answer(status=503, code="BUSY")])
def test_an_invitation_of_which_nothing_is_known_stays_to_be_restored(
    invites: httpx.Response | httpx.HTTPError,
) -> None:
    portal = answering(RateLimited(invites))
    number = portal.changes.creating(INVITE, {"id": "{result_id}"}, name="x")
    assert portal.changes.is_unsent(number)

    with suppress(NoAnswer):
        portal.call(INVITE, json={}, token="t")

    assert not portal.changes.is_unsent(number)
    assert len(restore_own(portal)) == 1


def test_what_was_never_changed_is_not_changed_back() -> None:
    exchanges: list[Exchange] = []
    portal = answering(Played(), seen=exchanges)

    with pytest.raises(Untestable), put_back(portal, PROFILE_UPDATE, {}, by=portal.account("admin")):
        raise Untestable("what the case reads before is refused")

    assert portal.changes.pending == []
    assert [exchange for exchange in exchanges if exchange.request.path.endswith("profile")] == []
