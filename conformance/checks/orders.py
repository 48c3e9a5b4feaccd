"""Transfer orders: amounts, time range and sort (chapters "Transfer order", "Transfer orders (admin)")."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise

from conformance.checks.records import has_offset, in_order, moment, portal_time, records
from conformance.checks.registry import check, is_asked_in_english, successes
from conformance.spec.endpoints import TRANSFER_ORDERS
from conformance.spec.tables import LIMITS, ORDER_COMPLETED
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.facts import called, fact
from conformance.verdicts.comparisons import equal, holds
from conformance.verdicts.findings import HELD, Comparison

SHOWN = timedelta(seconds=1)
"""A time may be shown with less than the precision that it is kept and compared with."""

DAY, RANGE = timedelta(days=1), timedelta(days=LIMITS.order_range_days)

ZONES = timedelta(hours=14)
"""How far a time that names no zone may be off."""


@check("STATE-007", on=successes(TRANSFER_ORDERS).where(is_asked_in_english))
def status_two_is_completed(exchange: Exchange) -> Iterator[Comparison]:
    """A name may follow the language that is asked for, as labels do."""
    number, name = ORDER_COMPLETED
    fits = False
    for path, order in records(exchange):
        is_two, is_completed = order.get("status") == number, order.get("statusName") == name
        if is_two and is_completed:
            fits = True
        elif is_two:
            yield equal(exchange, f"{path}.statusName", name)
        elif is_completed:
            yield equal(exchange, f"{path}.status", number)
    if fits:
        yield HELD


@check("ORDER-025", on=successes(TRANSFER_ORDERS))
def the_total_is_amount_and_fee(exchange: Exchange) -> Iterator[Comparison]:
    adds_up = False
    for path, order in records(exchange):
        amount: Json = order.get("amount")
        fee: Json = order.get("feeAmount")
        total: Json = order.get("totalAmount")
        if type(amount) in NUMBERS and type(fee) in NUMBERS and type(total) in NUMBERS:
            if -1e6 < amount < 1e6 and -1e6 < fee < 1e6 and -ROUNDING < amount + fee - total < ROUNDING:
                adds_up = True
                continue
            whole, part, shown = (Decimal(str(number)) for number in (amount, fee, total))
            held = _is_nearly(whole + part, shown) or _is_nearly(whole - part, shown)
            yield HELD if held else holds(exchange, f"{path}.totalAmount", held, float(whole + part))
    if adds_up:
        yield HELD


NUMBERS = frozenset({int, float})

ROUNDING = 5e-7
"""Binary floating point is right to nine digits up to a million: what differs by less is nearly the same."""


def _is_nearly(left: Decimal, right: Decimal) -> bool:
    """Sums may have been made in binary floating point, of which about 15 digits are right."""
    return left == right or abs(left - right) <= max(
        Decimal("0.000001"), max(abs(left), abs(right)) * Decimal("1e-12")
    )


@check("ORDER-026", on=successes(TRANSFER_ORDERS))
def an_order_is_completed_after_it_was_created(exchange: Exchange) -> Iterator[Comparison]:
    for path, order in records(exchange):
        yield from in_order(exchange, path, order, "createdAt", "completedAt")


@called
@fact
def completed_orders(exchange: Exchange) -> list[tuple[str, dict[str, Json]]]:
    """The orders whose status is 2, with their places."""
    return [(path, order) for path, order in records(exchange) if order.get("status") == ORDER_COMPLETED[0]]


def _completed_rule(requirement: str, name: str, is_right: Callable[[Json], bool], expected: Json) -> None:
    @check(requirement, on=successes(TRANSFER_ORDERS))
    def a_completed_order_has_the_field_so(exchange: Exchange) -> Iterator[Comparison]:
        done = completed_orders(exchange)
        wrong = [path for path, order in done if not is_right(order.get(name))]
        for path in wrong:
            yield holds(exchange, f"{path}.{name}", False, expected)
        if len(wrong) < len(done):
            yield HELD


_completed_rule("ORDER-027", "completedAt", lambda time: time is not None, "a time")
_completed_rule("ORDER-034", "failureReason", lambda reason: reason in (None, ""), None)


# The time range.


def _queried(exchange: Exchange, name: str) -> list[str]:
    return [value for key, value in exchange.request.query if key == name]


def query_time(exchange: Exchange, name: str) -> datetime | None:
    """A bound of the range, where it is given once, is a time and says its zone."""
    values = _queried(exchange, name)
    return moment(values[0]) if len(values) == 1 and has_offset(values[0]) else None


Dated = tuple[datetime, timedelta]
"""A time, and how exactly it is known."""


@called
@fact
def created(exchange: Exchange) -> list[tuple[str, datetime, timedelta]]:
    """When each order was created, and how exactly that is known."""
    times: list[tuple[str, datetime, timedelta]] = []
    for path, order in records(exchange):
        if (dated := _dated(order.get("createdAt"))) is not None:
            times.append((path, dated[0], dated[1]))
    return times


def completed(exchange: Exchange, path: str) -> Dated | None:
    """When an order was completed, and how exactly that is known; None where it does not say. Whether a range
    is of this time or of the creation is not stated."""
    return _dated(exchange.at(f"{path}.completedAt"))


def _dated(value: Json) -> Dated | None:
    time = moment(value)
    return None if time is None else (time, SHOWN if has_offset(value) else ZONES)


def _bound_rule(requirement: str, name: str, *, is_start: bool) -> None:
    """``name``: the bound of the range, which is its start or its end."""

    @check(requirement, on=successes(TRANSFER_ORDERS))
    def no_order_is_beyond_the_bound(exchange: Exchange) -> Iterator[Comparison]:
        bound = query_time(exchange, name)
        if bound is None:
            return
        for path, time, about in created(exchange):
            times = ((time, about), completed(exchange, path) or (time, about))
            held = any(time + about >= bound if is_start else time - about <= bound for time, about in times)
            expected = f"not {'before' if is_start else 'after'} {bound.isoformat()}"
            yield holds(exchange, f"{path}.createdAt", held, expected)


_bound_rule("ORDER-021", "startTime", is_start=True)
_bound_rule("ORDER-022", "endTime", is_start=False)


def _has_no_range(exchange: Exchange) -> bool:
    return {name for name, _ in exchange.request.query}.isdisjoint(("startTime", "endTime"))


@check("ORDER-020", on=successes(TRANSFER_ORDERS).at_its_moment().where(_has_no_range))
def the_default_range_is_thirty_days(exchange: Exchange) -> Iterator[Comparison]:
    """A day of tolerance at both ends: clocks and the beginning of a day may be taken differently."""
    now = portal_time(exchange)
    first, last = now - RANGE - DAY, now + DAY
    times = [time for _, time, _ in created(exchange)]
    if times and first <= min(times) and max(times) <= last:
        yield HELD
        return
    for path, time, _ in created(exchange):
        other, _ = completed(exchange, path) or (time, SHOWN)
        held = first <= time <= last or first <= other <= last
        expected = f"within the last {LIMITS.order_range_days} days"
        yield holds(exchange, f"{path}.createdAt", held, expected)


# The sort.


def _sort_rule(requirement: str, wanted: str, expected: str, *, newest_first: bool) -> None:
    """``wanted``: the only sort that is asked for."""
    sorted_so = successes(TRANSFER_ORDERS).where(lambda exchange: _queried(exchange, "sort") == [wanted])

    @check(requirement, on=sorted_so)
    def orders_are_sorted_as_asked_for(exchange: Exchange) -> Iterator[Comparison]:
        times = [(f"{path}.createdAt", time) for path, time, _ in created(exchange)]
        steps = [(path, after > before, after < before) for (_, before), (path, after) in pairwise(times)]
        wrong = next((path for path, later, earlier in steps if (later if newest_first else earlier)), None)
        yield holds(exchange, wrong or "data.content", wrong is None, expected)


_sort_rule("ORDER-023", "createdAt,desc", "newest first", newest_first=True)
_sort_rule("ORDER-024", "createdAt,asc", "oldest first", newest_first=False)
