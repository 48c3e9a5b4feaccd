"""Compares the invitation listings of sender and recipient."""

from __future__ import annotations

from dataclasses import replace

from cases.premises import granted, settle
from conformance.cases import (
    HELD,
    KINDS,
    STATES,
    Account,
    Exchange,
    Json,
    Portal,
    Verify,
    are_different,
    contradicts,
    op,
    records,
)

Listed = tuple[Exchange, str, dict[str, Json]]
"""A listing, a place in it, and the record there."""

Ends = tuple[dict[str, Listed], dict[str, Listed]]
"""By their ids the invitations that were sent, and those that were received."""


def verify_both_ends(portal: Portal, verify: Verify, admin: Account, spare: Account) -> None:
    """Those that ``admin`` and ``spare`` are both shown; what differs is read again after a while."""
    ends = _both_ends(portal, admin, spare)
    if any(_different(*pair) for pair in _pairs(ends)):
        settle(portal, why="a change to be seen by everybody")
        ends = _both_ends(portal, admin, spare)
    for sent, received in _pairs(ends):
        name = _different(sent, received)
        if name is None:
            verify("AGREE-009", HELD)
            continue
        listing, at, record = received
        message = f"{name} of an invitation is another for whom it was sent to"
        odd = contradicts(listing, f"{at}.{name}", sent[2].get(name), record.get(name), message)
        verify("AGREE-009", replace(odd, also=(sent[0],)))


def _both_ends(portal: Portal, admin: Account, spare: Account) -> Ends:
    """Reads both listings; sent invitations count only if they stay equal around the other reads."""
    before = _by_id(granted(portal.call(op.INVITATIONS, token=admin.token)))
    received: dict[str, Listed] = {}
    for value in STATES["Invitation"].values():
        query = {"statuses": str(value)}
        received |= _by_id(granted(portal.call(op.OWN_INVITATIONS, query=query, token=spare.token)))
    after = _by_id(granted(portal.call(op.INVITATIONS, token=admin.token)))
    return {id: after[id] for id in after if id in before and before[id][2] == after[id][2]}, received


def _by_id(listing: Exchange) -> dict[str, Listed]:
    return {
        str(record["bizId"]): (listing, at, record) for at, record in records(listing) if "bizId" in record
    }


def _pairs(ends: Ends) -> list[tuple[Listed, Listed]]:
    sent, received = ends
    return [(sent[id], received[id]) for id in sorted(sent.keys() & received.keys())]


def _different(sent: Listed, received: Listed) -> str | None:
    """The first field of an invitation that surely has two values."""
    fields = KINDS["AGREE-004"].fields
    return next((name for name in fields if are_different(sent[2].get(name), received[2].get(name))), None)
