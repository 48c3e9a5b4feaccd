"""What a portal was asked to make, and shows nowhere: how it is looked for, and when that is given up."""

from __future__ import annotations

import json

import httpx
import pytest

from conformance.spec import endpoints as op
from conformance.spec.requests import UNFILTERED
from conformance.target.portal import Portal
from conformance.target.portal.restoring.restore import restore_own
from conformance.tests.reached import answer, answering, connected, moved
from conformance.traffic.exchange import Exchange, Json


def keys(exchanges: list[Exchange]) -> list[str]:
    return [each.request.operation.key for each in exchanges if each.request.operation]


def accepted(portal: Portal, key: str, name: str) -> None:
    """A creation in the ledger that the portal accepted and whose answer has no id."""
    portal.changes.accepted(portal.changes.creating(key, name=name))


def test_no_new_session_is_begun_for_a_record_that_no_listing_shows() -> None:
    with connected() as (portal, exchanges, _):
        portal.account("admin").signed_in()
        accepted(portal, op.CHANNEL_CREATE, "suite-unlisted")
        exchanges.clear()

        left = restore_own(portal)

        assert len(left) == 1
        assert "no listing shows an id" in left[0]
        assert op.LOGIN_INITIATE not in keys(exchanges)
        assert keys(exchanges).count(op.CHANNELS_QUERY) == 14, (
            "twice: the first page, and six ways to ask for the last"
        )


PAGE = 20


class ManyChannels:
    """A portal whose answers to a creation have no id, and whose listing begins with its oldest channels.
    ``parameter`` is the one that it takes: a size, or a page that is counted from ``first``."""

    def __init__(self, parameter: str, first: int) -> None:
        self.parameter, self.first = parameter, first
        self.names = [f"older-{number}" for number in range(45)]

    def __call__(self, request: httpx.Request) -> httpx.Response:
        sent = json.loads(request.content or b"null")
        if request.url.path.endswith("channels/query"):
            return self._page(sent)
        if request.url.path.endswith("channels/delete"):
            del self.names[int(sent["bizId"].removeprefix("channel-"))]
        return answer({"sessionId": "s", "accessToken": "access", "expiresIn": 3600})

    def _page(self, sent: dict[str, Json]) -> httpx.Response:
        value = sent.pop(self.parameter, None)
        if sent != dict(UNFILTERED[op.CHANNELS_QUERY]):
            return answer(status=400, code="VALIDATION.INVALID_PARAMETER")
        size = value if isinstance(value, int) and "ize" in self.parameter else PAGE
        page = value - self.first if isinstance(value, int) and "age" in self.parameter[:9] else 0
        begin = 0 if "ize" in self.parameter else page * PAGE
        counts = {"totalRecords": len(self.names), "totalPages": -(-len(self.names) // size)}
        listed = [{"bizId": f"channel-{at}", "channelName": name} for at, name in enumerate(self.names)]
        return answer({"items": listed[begin : begin + size], "pagination": counts})


@pytest.mark.parametrize(("parameter", "first"), [("pageSize", 1), ("size", 1), ("page", 1), ("page", 0)])
def test_a_channel_on_another_page_is_found_however_a_page_is_asked_for(parameter: str, first: int) -> None:
    played = ManyChannels(parameter, first)
    portal = answering(played)
    name = portal.unique()
    accepted(portal, op.CHANNEL_CREATE, name)
    played.names.append(name)

    assert restore_own(portal) == []
    assert name not in played.names
    assert len(played.names) == 45


def test_a_channel_that_no_page_shows_is_not_restored() -> None:
    portal = answering(ManyChannels("offset", 0))
    accepted(portal, op.CHANNEL_CREATE, portal.unique())

    assert len(restore_own(portal)) == 1


def test_what_is_listed_late_is_waited_for() -> None:
    class Late(ManyChannels):
        looks = 0

        def _page(self, sent: dict[str, Json]) -> httpx.Response:
            self.looks += 1
            return super()._page(sent) if self.looks > 1 else answer({"items": [], "pagination": {}})

    played = Late("size", 1)
    portal = answering(played, clock=moved())
    name = portal.unique()
    accepted(portal, op.CHANNEL_CREATE, name)
    played.names[:] = [name]

    assert restore_own(portal) == []
    assert played.names == []
