"""The order query as the cases ask it, and what they take from its answer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone

from cases.premises import authorized, count, granted, listed
from conformance.cases import Account, Exchange, Json, Portal, Untestable, has_offset, moment, op

DAY, HOUR, SECOND = timedelta(days=1), timedelta(hours=1), timedelta(seconds=1)


def asked(
    portal: Portal,
    caller: Account,
    query: Mapping[str, str] | None = None,
    *,
    workspace: str | None = None,
    bot_challenge: bool = True,
    headers: Mapping[str, str] | None = None,
) -> Exchange:
    return portal.call(
        op.TRANSFER_ORDERS,
        query=query,
        token=caller.token,
        bot_challenge=bot_challenge,
        headers=headers,
        workspaceId=workspace or portal.record("workspace"),
    )


def matching(portal: Portal, caller: Account, query: Mapping[str, str] | None = None) -> Exchange:
    return granted(authorized(asked(portal, caller, query)))


def total(exchange: Exchange) -> int:
    return count(exchange, "data.totalElements")


def orders(exchange: Exchange) -> list[dict[str, Json]]:
    return listed(exchange, "data.content")


def times(exchange: Exchange) -> list[datetime]:
    """When the listed orders were created, where that says its zone and so can be compared with a range."""
    return [time for order in orders(exchange) for time in _times(order, "createdAt")]


def _times(order: dict[str, Json], *names: str) -> list[datetime]:
    shown = [order[name] for name in names if isinstance(order.get(name), str)]
    return [time for value in shown if has_offset(value) and (time := moment(value)) is not None]


def surely_within(
    exchange: Exchange, *, start: datetime | None = None, end: datetime | None = None
) -> list[datetime]:
    """Creation times of the listed orders that were created and completed within a range: the filter may mean
    either time."""
    both = [_times(order, "createdAt", "completedAt") for order in orders(exchange)]
    return [
        moments[0]
        for moments in both
        if len(moments) == 2
        and (start is None or min(moments) > start)
        and (end is None or max(moments) < end)
    ]


def is_within(order: dict[str, Json], *, start: datetime | None = None, end: datetime | None = None) -> bool:
    """Whether an order was created or completed in a range, whose field is not stated; a second is no matter,
    nor an order whose times do not tell."""
    moments = _times(order, "createdAt", "completedAt")
    return not moments or any(
        (start is None or start <= time + SECOND) and (end is None or time <= end + SECOND)
        for time in moments
    )


def some_times(exchange: Exchange, number: int) -> list[datetime]:
    """At least so many. Raises Untestable where the listing has fewer."""
    moments = times(exchange)
    if len(moments) >= number:
        return moments
    if len(orders(exchange)) >= number:
        raise Untestable("the orders show their createdAt without an offset from UTC", "target")
    has = "no orders" if number == 1 else f"fewer than {number} orders"
    raise Untestable(f"the workspace has {has} to compare", "environment")


def now(portal: Portal) -> datetime:
    return datetime.fromtimestamp(portal.clock.now(), UTC)


def written(time: datetime) -> str:
    """As ISO 8601 in UTC, to the millisecond."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def at_offset(time: datetime, hours: int) -> str:
    """As ISO 8601 in a zone so many hours from UTC, to the millisecond."""
    return time.astimezone(timezone(timedelta(hours=hours))).isoformat(timespec="milliseconds")


def between(start: datetime, end: datetime, **more: str) -> dict[str, str]:
    return {"startTime": written(start), "endTime": written(end), **more}
