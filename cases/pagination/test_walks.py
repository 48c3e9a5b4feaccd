"""From the first page to the last: nothing twice, and nothing left out (chapter "Pagination forms")."""

from __future__ import annotations

from collections import Counter
from math import ceil

import pytest

from cases.pagination.listings import ACCOUNT_LISTING, ORDER_LISTING, Listing
from conformance.cases import LIMITS, Account, Exchange, Portal, Untestable, Verify, holds, requirement

MOST_PAGES = 25


@pytest.mark.parametrize(
    "listing, requirement_id",
    [
        pytest.param(
            ACCOUNT_LISTING, "PAGE-039", marks=requirement("PAGE-039", "PAGE-026", "PAGE-027", "PAGE-028")
        ),
        pytest.param(
            ORDER_LISTING, "PAGE-040", marks=requirement("PAGE-040", "PAGE-035", "PAGE-036", "PAGE-037")
        ),
    ],
    ids=["accounts", "orders"],
)
def test_pages_do_not_overlap_and_hold_everything(
    portal: Portal, verify: Verify, admin: Account, listing: Listing, requirement_id: str
) -> None:
    total = listing.total(listing.get(portal, admin, page=0, size=LIMITS.size))
    if total < 2:
        raise Untestable(f"the listing holds {total} records, too few for two pages", "environment")
    size = min(LIMITS.size, ceil(total / 3))
    number = ceil(total / size)

    pages = [listing.get(portal, admin, page=page, size=size) for page in range(min(number, MOST_PAGES))]

    if {listing.total(page) for page in pages} != {total}:
        raise Untestable("records were made or removed by others meanwhile", "environment")
    ids = Counter(id for page in pages for id in ids_on(listing, page))
    twice = sorted(id for id, times in ids.items() if times > 1)
    last = pages[-1]
    verify(
        requirement_id, holds(last, listing.items, not twice, "each record on one page", *pages, actual=twice)
    )
    if number <= MOST_PAGES:
        held = sum(len(listing.records(page)) for page in pages)
        verify(requirement_id, holds(last, "data.totalElements", held == total, held, *pages))


def ids_on(listing: Listing, page: Exchange) -> list[str]:
    return [str(record["bizId"]) for record in listing.records(page) if record.get("bizId") is not None]
