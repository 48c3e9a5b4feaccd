"""Pages and sizes, asked for and left out: what they are by default, and that they are given as asked."""

from __future__ import annotations

import pytest

from cases.pagination.listings import ACCOUNT_LISTING, ORDER_LISTING, Listing
from cases.premises import granted
from cases.reading import NO_FILTER, read
from conformance.cases import BY_KEY, LIMITS, Account, Portal, Untestable, op, requirement

OF_ACCOUNTS = ("PAGE-025", "PAGE-026", "PAGE-027", "PAGE-028", "PAGE-029", "ACCOUNT-029")
OF_ORDERS = ("PAGE-025", "PAGE-035", "PAGE-036", "PAGE-037", "PAGE-038", "ORDER-032")


@pytest.mark.parametrize(
    "listing",
    [
        pytest.param(ACCOUNT_LISTING, id="accounts", marks=requirement(*OF_ACCOUNTS)),
        pytest.param(ORDER_LISTING, id="orders", marks=requirement(*OF_ORDERS)),
    ],
)
@pytest.mark.parametrize("page, size", [(0, 1), (0, 20), (1, 1), (1, 7), (2, 3)])
def test_a_page_and_a_size_may_be_asked_for(
    portal: Portal, admin: Account, listing: Listing, page: int, size: int
) -> None:
    """Whether they are given so is judged on the wire."""
    if page * size >= max(listing.total(listing.get(portal, admin, page=0, size=20)), 1):
        raise Untestable("the listing has no such page", "environment")
    listing.get(portal, admin, page=page, size=size)


@pytest.mark.parametrize(
    "listing",
    [
        pytest.param(ACCOUNT_LISTING, id="accounts", marks=requirement(*OF_ACCOUNTS)),
        pytest.param(ORDER_LISTING, id="orders", marks=requirement(*OF_ORDERS)),
    ],
)
@pytest.mark.parametrize("asked", [{"size": 3}, {"page": 1}], ids=["size", "page"])
def test_a_page_and_a_size_may_be_asked_for_alone(
    portal: Portal, admin: Account, listing: Listing, asked: dict[str, int]
) -> None:
    """The other one is the default."""
    if listing.total(listing.get(portal, admin)) <= LIMITS.size:
        raise Untestable("the listing has one page only", "environment")
    listing.get(portal, admin, **asked)


@requirement("LIMIT-010", "LIMIT-011")
@pytest.mark.parametrize(
    "body", [{}, {**NO_FILTER}, {"page": 0}, {"size": 20}], ids=["empty", "filters", "page", "size"]
)
def test_accounts_come_in_pages_by_default(portal: Portal, admin: Account, body: dict[str, object]) -> None:
    granted(portal.call(op.ACCOUNTS_QUERY, json=body, token=admin.token))


@requirement("LIMIT-012", "LIMIT-013")
def test_orders_come_in_pages_by_default(portal: Portal, admin: Account) -> None:
    granted(portal.call(op.TRANSFER_ORDERS, token=admin.token, workspaceId=portal.record("workspace")))


OF_THE_OBJECT = (
    "PAGE-001", "PAGE-002", "PAGE-003", "PAGE-004", "PAGE-005", "PAGE-006", "PAGE-007",
    "PAGE-008", "PAGE-009", "PAGE-010", "PAGE-011", "PAGE-012", "PAGE-013", "PAGE-014",
)  # fmt: skip


@requirement(*OF_THE_OBJECT)
@pytest.mark.parametrize("key", [op.SESSIONS_HISTORY, op.CHANNEL_TYPES_QUERY, op.CHANNELS_QUERY])
def test_listings_with_a_pagination_object_show_their_first_page(
    portal: Portal, admin: Account, key: str
) -> None:
    """How to ask for the next one is not shown."""
    granted(read(portal, BY_KEY[key], token=admin.token))
