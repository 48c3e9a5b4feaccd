"""The two listings whose pages can be asked for, each with the names it gives to page, size and records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from cases.premises import authorized, count, granted, listed
from cases.reading import NO_FILTER
from conformance.cases import LIMITS, Account, Exchange, Json, Portal, op

DAY = 86400


@dataclass(frozen=True)
class Listing:
    """``page`` and ``size`` name where an answer says which page it is, and of what size."""

    key: str
    items: str
    page: str
    size: str

    def ask(self, portal: Portal, caller: Account, **asked: Json) -> Exchange:
        """A page, whatever the answer; ``asked`` holds page and size, as far as they are asked for."""
        if self.key == op.ACCOUNTS_QUERY:
            return authorized(portal.call(op.ACCOUNTS_QUERY, json={**NO_FILTER, **asked}, token=caller.token))
        query = {**range_of_orders(portal), **{name: str(value) for name, value in asked.items()}}
        workspace = portal.record("workspace")
        return authorized(
            portal.call(op.TRANSFER_ORDERS, query=query, token=caller.token, workspaceId=workspace)
        )

    def get(self, portal: Portal, caller: Account, **asked: Json) -> Exchange:
        """A page that must be there for the case to go on."""
        return granted(self.ask(portal, caller, **asked))

    def records(self, exchange: Exchange) -> list[dict[str, Json]]:
        return listed(exchange, self.items)

    def total(self, exchange: Exchange) -> int:
        return count(exchange, "data.totalElements")


ACCOUNT_LISTING = Listing(op.ACCOUNTS_QUERY, "data.accounts", "data.currentPage", "data.pageSize")
ORDER_LISTING = Listing(op.TRANSFER_ORDERS, "data.content", "data.number", "data.size")
LISTINGS: Mapping[str, Listing] = {"accounts": ACCOUNT_LISTING, "orders": ORDER_LISTING}


def range_of_orders(portal: Portal) -> dict[str, str]:
    """The default range as fixed times: a range that ends now would move from page to page."""
    end = portal.clock.now() // DAY * DAY
    start = end - LIMITS.order_range_days * DAY
    return {"startTime": iso(start), "endTime": iso(end), "sort": "createdAt,desc"}


def iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
