"""What was noted as a change and was not asked for is not to be restored."""

from __future__ import annotations

from contextlib import suppress

import httpx
import pytest

from cases.administration.inviting import invited
from cases.changing import put_back
from conformance.errors import NoAnswer, Untestable
from conformance.spec.endpoints import INVITATION_CANCEL, INVITE, PROFILE_UPDATE
from conformance.target.portal import Portal
from conformance.tests.reached import answer, answering
from conformance.traffic.exchange import Exchange

TURNED_AWAY = answer(status=429, code="RATE.LIMITED")
SIGNED_IN = {"sessionId": "s", "accessToken": "access", "expiresIn": 3600}


class RateLimited:
    """A portal that turns the listing of invitations away, and answers to an invitation by ``invites``."""

    def __init__(self, invites: httpx.Response | httpx.HTTPError | None = None) -> None:
        self.invites = invites
        self.sent: list[str] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        end = request.url.path.rpartition("/")[2]
        self.sent.append(f"{request.method} {end}")
        if self.sent[-1] == "POST invitations":
            if isinstance(self.invites, httpx.HTTPError):
                raise self.invites
            return self.invites or answer({})
        if end == "invitations":
            is_open = self.invites is not None and "POST invitations" not in self.sent
            return answer([]) if is_open else TURNED_AWAY
        return answer(SIGNED_IN)


def invite(portal: Portal) -> None:
    with invited(portal, portal.account("admin"), "a@example.test", portal.unique()):
        pytest.fail("an invitation was made")


def test_an_invitation_that_was_never_sent_is_not_called_left_behind() -> None:
    played = RateLimited()
    portal = answering(played)

    with pytest.raises(Untestable):
        invite(portal)

    assert portal.changes.pending == []
    assert portal.restore() == []
    assert "POST invitations" not in played.sent
    assert portal.changes.counts.accepted == portal.changes.counts.restored == 0


def test_an_invitation_that_a_rate_limit_turned_away_is_not_called_left_behind() -> None:
    portal = answering(RateLimited(TURNED_AWAY))

    with pytest.raises(Untestable):
        invite(portal)

    assert portal.restore() == []


@pytest.mark.parametrize("invites", [httpx.ReadError("cut"), answer(status=503, code="BUSY")])
def test_an_invitation_of_which_nothing_is_known_stays_to_be_restored(
    invites: httpx.Response | httpx.HTTPError,
) -> None:
    portal = answering(RateLimited(invites))
    number = portal.changes.creating(INVITE, INVITATION_CANCEL, {"id": "{result_id}"}, name="x")
    assert portal.changes.is_unsent(number)

    with suppress(NoAnswer):
        portal.call(INVITE, json={}, token="t")

    assert not portal.changes.is_unsent(number)
    assert len(portal.restore()) == 1


def test_what_was_never_changed_is_not_changed_back() -> None:
    seen: list[Exchange] = []
    portal = answering(lambda request: answer(SIGNED_IN), seen=seen)

    with pytest.raises(Untestable), put_back(portal, PROFILE_UPDATE, {}, by=portal.account("admin")):
        raise Untestable("what the case reads before is refused")

    assert portal.changes.pending == []
    assert [exchange for exchange in seen if exchange.request.path.endswith("profile")] == []
