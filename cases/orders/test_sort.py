"""The sort of the order query (chapter "Transfer orders (admin)")."""

from __future__ import annotations

from cases.orders.queries import DAY, asked, between, matching, now, orders, some_times, times
from cases.premises import authorized, count, outcome
from conformance.cases import LIMITS, Account, Exchange, Portal, Untestable, Verify, holds, is_number, mark


@mark.requirement("ORDER-023", "ORDER-024", "ORDER-032", "STATE-007")
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
    is_further = not any(order in orders(ascending) for order in orders(later))  # else PAGE-040 tells
    if is_further and (after := times(later)) and count(later, "data.number") == 1:
        goes_on = min(after) >= max(rising)
        verify("ORDER-024", holds(later, first, goes_on, f"none before {max(rising)}", ascending))


@mark.requirement("ORDER-030")
def test_how_a_sort_by_an_unknown_field_is_answered(portal: Portal, verify: Verify, admin: Account) -> None:
    exchange = authorized(asked(portal, admin, {"sort": "noSuchField,asc"}))
    verify.observe("unknown-sort", exchange, outcome(exchange))


FIELD = "amount"
"""A number that every order has, and by which the newest are hardly in order by chance."""


@mark.requirement("ORDER-035", "ORDER-036")
def test_orders_come_in_the_order_of_another_field(portal: Portal, verify: Verify, admin: Account) -> None:
    """A field that is not taken leaves the order as it is without a sort, in both directions."""
    end = now(portal)
    start = end - LIMITS.order_range_days * DAY
    usual = matching(portal, admin, between(start, end))
    sorted_by = {
        direction: authorized(asked(portal, admin, between(start, end, sort=f"{FIELD},{direction}")))
        for direction in ("asc", "desc")
    }
    repeated = matching(portal, admin, between(start, end))
    if orders(repeated) != orders(usual):
        raise Untestable("orders were made or changed by others meanwhile", "environment")
    rising, falling = sorted_by["asc"], sorted_by["desc"]
    if not (rising.success and falling.success):
        refused = falling if rising.success else rising
        verify.observe("sort-fields", refused, {"field": FIELD, "refused": outcome(refused)})
        return
    taken = any(orders(answer) != orders(usual) for answer in (rising, falling))
    verify.observe("sort-fields", rising, {"field": FIELD, "taken": taken})
    if taken:
        for answer, is_falling in ((rising, False), (falling, True)):
            amounts = _amounts(answer)
            right = sorted(amounts, reverse=is_falling)
            verify("ORDER-035", holds(answer, "data.content", amounts == right, right, usual, actual=amounts))
        lowest, highest = _amounts(rising), _amounts(falling)
        meets = lowest[0] <= min(highest) and highest[0] >= max(lowest)
        verify("ORDER-035", holds(rising, "data.content", meets, "the lowest first", falling, usual))


def _amounts(answer: Exchange) -> list[float]:
    """Raises Untestable where they cannot be compared."""
    amounts = [order.get(FIELD) for order in orders(answer)]
    numbers = [amount for amount in amounts if is_number(amount)]
    if len(numbers) < 2 or len(numbers) < len(amounts):
        raise Untestable(f"the orders show no two numbers as {FIELD}", "environment")
    return numbers
