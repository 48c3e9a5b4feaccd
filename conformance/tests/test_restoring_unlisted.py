"""What a portal was asked to make, and shows nowhere: how it is looked for, and when that is given up."""

from __future__ import annotations

from conformance.spec.endpoints import (
    CHANNEL_CREATE,
    CHANNEL_TYPE_CREATE,
    CHANNEL_TYPE_DELETE,
    CHANNEL_TYPES_QUERY,
    CHANNELS_QUERY,
    LOGIN_INITIATE,
)
from conformance.spec.operations import operation
from conformance.target.portal import Portal
from conformance.tests.reached import connected
from conformance.traffic.exchange import Exchange


def keys(exchanges: list[Exchange]) -> list[str]:
    return [each.request.operation.key for each in exchanges if each.request.operation]


def accepted(portal: Portal, key: str, name: str) -> None:
    """A creation in the ledger that the portal accepted and whose answer has no id."""
    delete = operation(key.replace("/create", "/delete")).key
    portal.changes.accepted(portal.changes.creating(key, delete, name=name))


def test_no_new_session_is_begun_for_a_record_that_no_listing_shows() -> None:
    with connected() as (portal, exchanges, _):
        portal.account("admin").signed_in()
        accepted(portal, CHANNEL_CREATE, "suite-unlisted")
        exchanges.clear()

        left = portal.restore()

        assert len(left) == 1
        assert "no listing shows an id" in left[0]
        assert LOGIN_INITIATE not in keys(exchanges)
        assert keys(exchanges).count(CHANNELS_QUERY) == 1


def test_a_channel_type_on_another_page_is_found_by_its_code() -> None:
    with connected() as (portal, exchanges, running):
        token = portal.account("admin").token
        body = portal.operation_body(CHANNEL_TYPE_CREATE)
        creation = portal.call(CHANNEL_TYPE_CREATE, json=body, token=token)
        records = running.portal.records["channel type"]
        record = records[creation.at("data.bizId")]
        for _ in range(60):  # they stand before it
            portal.call(CHANNEL_TYPE_CREATE, json=portal.operation_body(CHANNEL_TYPE_CREATE), token=token)
        accepted(portal, CHANNEL_TYPE_CREATE, record["typeCode"])
        exchanges.clear()

        assert portal.restore() == []

        assert record["bizId"] not in records
        assert keys(exchanges) == [CHANNEL_TYPES_QUERY, CHANNEL_TYPES_QUERY, CHANNEL_TYPE_DELETE]
