"""States of closed invitations that have no number in the document."""

from __future__ import annotations

from cases.premises import answered
from conformance.cases import CONSTANT_LISTS, Account, Portal, is_integer, records

CLOSED = ("CANCELLED", "CANCELED", "DECLINED", "REJECTED")
"""How a portal may name the two states that the document does not number."""


def closed_statuses(portal: Portal, caller: Account) -> list[str]:
    """Their values, as far as the portal's own list has them."""
    listing = answered(portal.call(CONSTANT_LISTS["user-invitation-statuses"].endpoint, token=caller.token))
    items = [item for _, item in records(listing)] if listing.success else []
    values = [item["value"] for item in items if item.get("code") in CLOSED and is_integer(item.get("value"))]
    return list(dict.fromkeys(map(str, values)))
