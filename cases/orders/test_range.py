"""The time range of the order query (chapter "Transfer orders (admin)")."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from cases.orders.queries import (
    DAY,
    HOUR,
    SECOND,
    asked,
    at_offset,
    between,
    is_within,
    matching,
    now,
    orders,
    some_times,
    surely_within,
    times,
    total,
    written,
)
from cases.premises import authorized, outcome, refusal_text
from conformance.cases import LIMITS, Account, Exchange, Portal, Untestable, Verify, equal, holds, mark

RANGE = LIMITS.order_range_days * DAY
ZONE = DAY
"""How far the ends of a range may lie from where they are expected: a portal may count days of its zone."""


@mark.requirement("ORDER-020", "ORDER-029")
def test_the_default_range_is_the_last_thirty_days(portal: Portal, verify: Verify, admin: Account) -> None:
    """That nothing older is given is judged on the wire; the oldest are asked for first."""
    today = now(portal)

    narrower = matching(portal, admin, between(today - RANGE + ZONE, today - ZONE, sort="createdAt,asc"))
    if not all(is_within(order, start=today - RANGE) for order in orders(narrower)):
        raise Untestable("startTime is passed over, so that there is no range to compare with", "target")
    default = matching(portal, admin)
    explicit = holds(
        default,
        "data.totalElements",
        total(default) >= total(narrower),
        f"at least the {total(narrower)} of a range that lies within the last 30 days",
        narrower,
    )
    verify("ORDER-020", explicit)
    matching(portal, admin, {"sort": "createdAt,asc"})

    wider = matching(portal, admin, between(today - RANGE - ZONE, today + ZONE, sort="createdAt,asc"))
    fits = total(narrower) <= total(default) <= total(wider)
    expected = f"from {total(narrower)} to {total(wider)}, as the ranges just within and around it have"
    verify("ORDER-029", holds(default, "data.totalElements", fits, expected, narrower, wider))


@mark.requirement("ORDER-021", "ORDER-022", "ORDER-042")
def test_a_range_begins_and_ends_where_it_is_asked_to(portal: Portal, verify: Verify, admin: Account) -> None:
    """The ends lie in the middle of what is there, so that there is something to leave out on both sides."""
    listing = matching(portal, admin)
    moments = sorted(some_times(listing, 2))
    middle = moments[len(moments) // 2]

    late = matching(portal, admin, {"startTime": written(middle), "sort": "createdAt,asc"})
    held = all(is_within(order, start=middle) for order in orders(late))
    verify("ORDER-021", holds(late, "data.content", held, f"none before {written(middle)}"))
    _verify_reaches(verify, late, surely_within(listing, start=middle + SECOND), min)

    start = moments[0] - DAY
    before = matching(portal, admin, between(start, middle, sort="createdAt,desc"))
    held = all(is_within(order, end=middle) for order in orders(before))
    verify("ORDER-022", holds(before, "data.content", held, f"none after {written(middle)}"))
    _verify_reaches(verify, before, surely_within(listing, end=middle - SECOND), max)


def _verify_reaches(
    verify: Verify, answer: Exchange, within: list[datetime], furthest: Callable[[list[datetime]], datetime]
) -> None:
    """Whether a range goes as far as the furthest of the orders that lie within it, to the hour."""
    shown = times(answer)
    if within and shown:
        _begins_as_asked(answer, newest_first=furthest is max)
        expected, edge = furthest(within), furthest(shown)
        reaches = edge <= expected + HOUR if furthest is min else edge >= expected - HOUR
        verify("ORDER-042", holds(answer, "data.content", reaches, f"an order of {expected.isoformat()}"))


def _begins_as_asked(answer: Exchange, *, newest_first: bool) -> None:
    """Raises Untestable where the furthest orders may be on another page, as the page is in another order."""
    shown = times(answer)
    if total(answer) > len(shown) and shown != sorted(shown, reverse=newest_first):
        raise Untestable("orders are not sorted as asked for: the furthest may be on another page", "target")


@mark.requirement("ORDER-039")
@pytest.mark.parametrize("hours", [-11, 13])
def test_a_time_of_the_range_means_its_moment_at_any_offset(
    portal: Portal, verify: Verify, admin: Account, hours: int
) -> None:
    """The range has one order in its middle, so that no other zone's hours hold it."""
    middle = sorted(some_times(matching(portal, admin), 1))[0]
    around = middle - HOUR, middle + HOUR
    in_utc = matching(portal, admin, between(*around))
    if not orders(in_utc):
        raise Untestable("a range of two hours around an order does not hold it", "target")

    start, end = (at_offset(time, hours) for time in around)
    shifted = authorized(asked(portal, admin, {"startTime": start, "endTime": end}))
    if not shifted.success:
        raise Untestable(f"times with an offset are refused ({refusal_text(shifted)})", "target")
    verify("ORDER-039", equal(shifted, "data.totalElements", total(in_utc), in_utc))


@mark.requirement("ORDER-037")
def test_a_range_that_has_only_an_end_begins_thirty_days_ago(
    portal: Portal, verify: Verify, admin: Account
) -> None:
    today = now(portal)
    end = {"endTime": written(today - RANGE / 3)}
    matching(portal, admin, {**end, "sort": "createdAt,desc"})  # the newest show whether it is followed
    early = matching(portal, admin, between(today - 3 * RANGE, today - RANGE - ZONE, sort="createdAt,asc"))
    if not orders(early):
        raise Untestable("no order is older than thirty days", "environment")

    answer = matching(portal, admin, {**end, "sort": "createdAt,asc"})
    held = all(is_within(order, start=today - RANGE - ZONE) for order in orders(answer))
    verify("ORDER-037", holds(answer, "data.content", held, "none from before the last 30 days", early))


@mark.requirement("ORDER-041")
def test_a_range_that_has_only_a_start_ends_now(portal: Portal, verify: Verify, admin: Account) -> None:
    """It begins before the last thirty days, whose newest order is then its newest too."""
    newest = max(some_times(matching(portal, admin, {"sort": "createdAt,desc"}), 1))
    start = {"startTime": written(now(portal) - RANGE - 10 * DAY), "sort": "createdAt,desc"}
    answer = authorized(asked(portal, admin, start))
    if not answer.success:
        raise Untestable(f"so wide a range is refused ({refusal_text(answer)})", "target")
    _begins_as_asked(answer, newest_first=True)
    shown = max(times(answer), default=None)
    reaches = shown is not None and shown >= newest
    verify("ORDER-041", holds(answer, "data.content", reaches, f"the order of {newest.isoformat()}"))


@mark.requirement("ORDER-031")
@pytest.mark.parametrize("name", ["startTime", "endTime"])
def test_how_a_time_that_is_none_is_answered(
    portal: Portal, verify: Verify, admin: Account, name: str
) -> None:
    exchange = authorized(asked(portal, admin, {name: "not-a-time"}))
    verify.observe("malformed-time", exchange, outcome(exchange))
