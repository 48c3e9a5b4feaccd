"""The two listings whose pages can be asked for: sizes and their defaults, pages that are not there, and from
the first page to the last, nothing twice and nothing left out (chapter "Pagination forms")."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil

import pytest

from cases.premises import answered, authorized, count, granted, listed, outcome
from cases.reading import NO_FILTER, read
from conformance.cases import (
    BY_KEY,
    LIMITS,
    Account,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    holds,
    is_integer,
    mark,
    op,
)

DAY = 86400


@dataclass(frozen=True)
class Listing:
    """``page`` and ``size`` name where an answer says which page it is, and of what size. ``whole`` is the
    requirement of all pages together; what each page says of itself, as asked for, is judged on the wire."""

    name: str
    key: str
    items: str
    page: str
    size: str
    whole: str
    of_a_page: tuple[str, ...]
    of_what_is_asked: tuple[str, ...]

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


ACCOUNT_LISTING = Listing(
    "accounts",
    op.ACCOUNTS_QUERY,
    "data.accounts",
    "data.currentPage",
    "data.pageSize",
    whole="PAGE-039",
    of_a_page=("PAGE-026", "PAGE-027", "PAGE-028"),
    of_what_is_asked=("PAGE-025", "PAGE-029", "ACCOUNT-029"),
)
ORDER_LISTING = Listing(
    "orders",
    op.TRANSFER_ORDERS,
    "data.content",
    "data.number",
    "data.size",
    whole="PAGE-040",
    of_a_page=("PAGE-035", "PAGE-036", "PAGE-037"),
    of_what_is_asked=("PAGE-025", "PAGE-038", "ORDER-032"),
)
LISTINGS = (ACCOUNT_LISTING, ORDER_LISTING)
BOTH = [pytest.param(each, id=each.name) for each in LISTINGS]
ASKED = [
    pytest.param(each, id=each.name, marks=mark.requirement(*each.of_what_is_asked, *each.of_a_page))
    for each in LISTINGS
]
WALKED = [
    pytest.param(each, id=each.name, marks=mark.requirement(each.whole, *each.of_a_page)) for each in LISTINGS
]


def range_of_orders(portal: Portal) -> dict[str, str]:
    """The default range as fixed times: a range that ends now would move from page to page."""
    end = portal.clock.now() // DAY * DAY
    start = end - LIMITS.order_range_days * DAY
    return {"startTime": iso(start), "endTime": iso(end), "sort": "createdAt,desc"}


def iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize("listing", ASKED)
@pytest.mark.parametrize("page, size", [(0, 1), (0, 20), (1, 1), (1, 7), (2, 3)])
def test_a_page_and_a_size_may_be_asked_for(
    portal: Portal, admin: Account, listing: Listing, page: int, size: int
) -> None:
    """Whether they are given so is judged on the wire."""
    if page * size >= max(listing.total(listing.get(portal, admin, page=0, size=20)), 1):
        raise Untestable("the listing has no such page", "environment")
    listing.get(portal, admin, page=page, size=size)


@pytest.mark.parametrize("listing", ASKED)
@pytest.mark.parametrize("asked", [{"size": 3}, {"page": 1}], ids=["size", "page"])
def test_a_page_and_a_size_may_be_asked_for_alone(
    portal: Portal, admin: Account, listing: Listing, asked: dict[str, int]
) -> None:
    """The other one is the default."""
    if listing.total(listing.get(portal, admin)) <= LIMITS.size:
        raise Untestable("the listing has one page only", "environment")
    listing.get(portal, admin, **asked)


@mark.requirement("LIMIT-010", "LIMIT-011")
@pytest.mark.parametrize(
    "body", [{}, {**NO_FILTER}, {"page": 0}, {"size": 20}], ids=["empty", "filters", "page", "size"]
)
def test_accounts_come_in_pages_by_default(portal: Portal, admin: Account, body: dict[str, object]) -> None:
    granted(portal.call(op.ACCOUNTS_QUERY, json=body, token=admin.token))


OF_THE_OBJECT = (
    "PAGE-001", "PAGE-002", "PAGE-003", "PAGE-004", "PAGE-005", "PAGE-006", "PAGE-007",
    "PAGE-008", "PAGE-009", "PAGE-010", "PAGE-011", "PAGE-012", "PAGE-013", "PAGE-014",
)  # fmt: skip


@mark.requirement(*OF_THE_OBJECT)
@pytest.mark.parametrize("key", [op.SESSIONS_HISTORY, op.CHANNEL_TYPES_QUERY, op.CHANNELS_QUERY])
def test_listings_with_a_pagination_object_show_their_first_page(
    portal: Portal, admin: Account, key: str
) -> None:
    """How to ask for the next one is not shown."""
    granted(read(portal, BY_KEY[key], token=admin.token))


LARGE = 1000
"""Large enough for any maximum, and small enough for a portal that has none."""


def page_given(listing: Listing, exchange: Exchange, asked: int) -> Json:
    """Which page an answer is: the one asked for or another, and whether there is something on it."""
    if not exchange.success:
        return outcome(exchange)
    contents = "with records" if listing.records(exchange) else "empty"
    if exchange.at(listing.page) == asked:
        return f"the page asked for, {contents}"
    return f"another page, {contents}"


@mark.requirement("PAGE-041")
@pytest.mark.parametrize("listing", BOTH)
def test_a_page_past_the_last_is_answered_somehow(
    portal: Portal, verify: Verify, admin: Account, listing: Listing
) -> None:
    past = listing.total(listing.get(portal, admin, page=0, size=LIMITS.size)) // LIMITS.size + 1
    exchange = answered(listing.ask(portal, admin, page=past, size=LIMITS.size))
    verify.observe("page-out-of-range", exchange, page_given(listing, exchange, past))


@mark.requirement("PAGE-042")
@pytest.mark.parametrize("listing", BOTH)
def test_a_negative_page_is_answered_somehow(
    portal: Portal, verify: Verify, admin: Account, listing: Listing
) -> None:
    exchange = answered(listing.ask(portal, admin, page=-1, size=LIMITS.size))
    verify.observe("negative-page", exchange, page_given(listing, exchange, -1))


@mark.requirement("PAGE-043", "PAGE-044")
@pytest.mark.parametrize("listing", BOTH)
@pytest.mark.parametrize("reading, size", [("maximum-page-size", LARGE), ("zero-page-size", 0)])
def test_an_unusual_size_is_answered_somehow(
    portal: Portal, verify: Verify, admin: Account, listing: Listing, reading: str, size: int
) -> None:
    exchange = answered(listing.ask(portal, admin, page=0, size=size))
    taken = exchange.at(listing.size) if exchange.success else outcome(exchange)
    if is_integer(taken):
        taken = max(taken, len(listing.records(exchange)))
    verify.observe(reading, exchange, taken)


MOST_PAGES = 25


@pytest.mark.parametrize("listing", WALKED)
def test_pages_do_not_overlap_and_hold_everything(
    portal: Portal, verify: Verify, admin: Account, listing: Listing
) -> None:
    total = listing.total(listing.get(portal, admin, page=0, size=LIMITS.size))
    if total < 2:
        raise Untestable(f"the listing holds {total} records, too few for two pages", "environment")
    size = min(LIMITS.size, ceil(total / 3))
    number = ceil(total / size)

    pages = [listing.get(portal, admin, page=page, size=size) for page in range(min(number, MOST_PAGES))]

    if {listing.total(page) for page in pages} != {total}:
        raise Untestable("records were made or removed by others meanwhile", "environment")
    records = [record for page in pages for record in listing.records(page)]
    ids = Counter(str(record["bizId"]) for record in records if record.get("bizId") is not None)
    twice = sorted(id for id, times in ids.items() if times > 1)
    last = pages[-1]
    verify(
        listing.whole,
        holds(last, listing.items, not twice, "each record on one page", *pages, actual=twice),
    )
    if number <= MOST_PAGES:
        held = len(records)
        verify(listing.whole, holds(last, "data.totalElements", held == total, held, *pages))
