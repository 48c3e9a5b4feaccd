"""The sort of the order query (chapter "Transfer orders (admin)")."""

from __future__ import annotations

from cases.orders.queries import DAY, asked, between, matching, now, some_times, times
from cases.premises import authorized, count, outcome
from conformance.cases import LIMITS, Account, Portal, Untestable, Verify, holds, requirement


@requirement("ORDER-023", "ORDER-024", "ORDER-032", "STATE-007")
def test_orders_come_in_the_order_asked_for(portal: Portal, verify: Verify, admin: Account) -> None:
    """On both first pages of one range: what is first on the one must not be passed by any on the other."""
    end = now(portal)
    start = end - LIMITS.order_range_days * DAY

    descending = matching(portal, admin, between(start, end, sort="createdAt,desc"))
    falling = some_times(descending, 2)
    ascending = matching(portal, admin, between(start, end, sort="createdAt,asc"))
    rising = some_times(ascending, 2)

    repeated = matching(portal, admin, between(start, end, sort="createdAt,desc"))
    if times(repeated) != times(descending):
        raise Untestable("orders were made by others meanwhile", "environment")

    newest, oldest = max(falling + rising), min(falling + rising)
    first = "data.content[0].createdAt"
    verify("ORDER-023", holds(descending, first, falling[0] == newest, newest.isoformat(), ascending))
    verify("ORDER-024", holds(ascending, first, rising[0] == oldest, oldest.isoformat(), descending))

    if count(ascending, "data.totalPages") < 2:
        return
    later = matching(portal, admin, between(start, end, sort="createdAt,asc", page="1"))
    if (after := times(later)) and count(later, "data.number") == 1:
        goes_on = min(after) >= max(rising)
        verify("ORDER-024", holds(later, first, goes_on, f"none before {max(rising)}", ascending))


@requirement("ORDER-030")
def test_how_a_sort_by_an_unknown_field_is_answered(portal: Portal, verify: Verify, admin: Account) -> None:
    exchange = authorized(asked(portal, admin, {"sort": "noSuchField,asc"}))
    verify.observe("unknown-sort", exchange, outcome(exchange))
