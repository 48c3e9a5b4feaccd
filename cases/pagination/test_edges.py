"""Pages that are not there, and sizes that are none: recorded, since nothing is said of them."""

from __future__ import annotations

import pytest

from cases.pagination.listings import LISTINGS, Listing
from cases.premises import answered, outcome
from conformance.cases import LIMITS, Account, Exchange, Json, Portal, Verify, requirement

BOTH = [pytest.param(listing, id=name) for name, listing in LISTINGS.items()]
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


@requirement("PAGE-041")
@pytest.mark.parametrize("listing", BOTH)
def test_a_page_past_the_last_is_answered_somehow(
    portal: Portal, verify: Verify, admin: Account, listing: Listing
) -> None:
    past = listing.total(listing.get(portal, admin, page=0, size=LIMITS.size)) // LIMITS.size + 1
    exchange = answered(listing.ask(portal, admin, page=past, size=LIMITS.size))
    verify.observe("page-out-of-range", exchange, page_given(listing, exchange, past))


@requirement("PAGE-042")
@pytest.mark.parametrize("listing", BOTH)
def test_a_negative_page_is_answered_somehow(
    portal: Portal, verify: Verify, admin: Account, listing: Listing
) -> None:
    exchange = answered(listing.ask(portal, admin, page=-1, size=LIMITS.size))
    verify.observe("negative-page", exchange, page_given(listing, exchange, -1))


@requirement("PAGE-043", "PAGE-044")
@pytest.mark.parametrize("listing", BOTH)
@pytest.mark.parametrize("reading, size", [("maximum-page-size", LARGE), ("zero-page-size", 0)])
def test_an_unusual_size_is_answered_somehow(
    portal: Portal, verify: Verify, admin: Account, listing: Listing, reading: str, size: int
) -> None:
    exchange = answered(listing.ask(portal, admin, page=0, size=size))
    taken = exchange.at(listing.size) if exchange.success else outcome(exchange)
    verify.observe(reading, exchange, taken)
