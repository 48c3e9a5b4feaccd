"""The login history as the cases read it (chapter "Security endpoints")."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from itertools import pairwise

from cases.dating import grain
from cases.premises import granted, listed
from conformance.cases import Exchange, Json, Portal, Untestable, is_integer, moment, op, portal_time

AROUND = timedelta(seconds=5)
"""How far the time of an entry may lie from the sign-in it tells of, on two clocks."""

WRITTEN, WRITTEN_LATE = 2.0, 6.0
"""Seconds that a portal may take to write its history, and further ones where an entry is wanted: how soon
one is there is not stated."""


def history(portal: Portal, token: str, query: Mapping[str, str] | None = None) -> Exchange:
    return granted(portal.call(op.SESSIONS_HISTORY, query=query, token=token))


def entries(page: Exchange) -> list[dict[str, Json]]:
    return listed(page, "data.items")


def times(page: Exchange) -> list[datetime]:
    return [time for entry in entries(page) if (time := moment(entry.get("loginTime"))) is not None]


def shows_the_latest(page: Exchange) -> bool:
    """Whether what has just happened must stand on this page: the only one, or one with the newest first."""
    moments = times(page)
    is_falling = all(after <= later for later, after in pairwise(moments))
    return page.at("data.pagination.hasNext") is False or (is_falling and len(set(moments)) > 1)


def new_entries(
    portal: Portal,
    token: str,
    earlier: set[Json],
    begun: Exchange,
    wanted: Callable[[dict[str, Json]], bool] | None = None,
) -> Exchange:
    """Reads the history page with entries since a request, and reads again later while no new entry is
    ``wanted``.

    Raises Untestable where there is none, and it need not be on the first page.
    """
    page = history(portal, token)
    for seconds in (WRITTEN, WRITTEN_LATE) if wanted else (WRITTEN,):
        if any(map(wanted or bool, since(page, earlier, begun))):
            return page
        portal.clock.wait(seconds, "the login history to be written")
        page = history(portal, token)
    if not any(map(wanted or bool, since(page, earlier, begun))) and not shows_the_latest(page):
        raise Untestable(
            "the first page of the login history need not show the latest sign-ins", "environment"
        )
    return page


def since(page: Exchange, earlier: set[Json], begun: Exchange) -> list[dict[str, Json]]:
    """The entries that a page did not show earlier, of a time since a request, or of none before the latest
    of those that it did: no clock of an answer need be that of the history."""
    former = [entry.get("loginTime") for entry in entries(page) if entry.get("bizId") in earlier]
    latest = max((time for each in former if (time := moment(each)) is not None), default=None)
    start = portal_time(begun) - AROUND
    if latest is not None:
        start = min(start, latest)
    fresh = [entry for entry in entries(page) if entry.get("bizId") not in earlier]
    return [entry for entry in fresh if _is_since(entry.get("loginTime"), start)]


def of_before(fresh: list[dict[str, Json]], begun: Exchange) -> list[dict[str, Json]]:
    """Those of the entries that show late and tell of an earlier sign-in: they look like one that was
    completed, and are of a time before a request began, by the clock of its answer."""
    if not is_integer(begun.at("timestamp")):
        return []
    start = portal_time(begun) - timedelta(milliseconds=begun.elapsed_ms)
    return [entry for entry in fresh if is_completion(entry) and _is_before(entry.get("loginTime"), start)]


def _is_before(time: Json, start: datetime) -> bool:
    """A time in whole seconds may be up to one later than it says."""
    written = moment(time)
    is_exact = isinstance(time, str) and "." in time and written is not None and written.microsecond > 0
    return written is not None and written + timedelta(seconds=0 if is_exact else 1) <= start


def _is_since(time: Json, start: datetime) -> bool:
    """Whether a time is that late; one that is written to the minute may be later than it says."""
    written = moment(time)
    return written is not None and written >= start - grain(time)


def ids(page: Exchange) -> set[Json]:
    return {entry.get("bizId") for entry in entries(page)}


def ids_by_content(page: Exchange) -> dict[str, Json]:
    """Maps each entry's content to its id, without entries of equal content."""
    rows = [
        (json.dumps({**entry, "bizId": None}, sort_keys=True), entry.get("bizId")) for entry in entries(page)
    ]
    counts = Counter(content for content, _ in rows)
    return {content: id for content, id in rows if counts[content] == 1}


def is_completion(entry: dict[str, Json]) -> bool:
    return not is_refusal(entry)


def is_refusal(entry: dict[str, Json]) -> bool:
    """An empty text says no more than null."""
    return entry.get("failureReason") not in (None, "")
