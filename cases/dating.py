"""Times and authors of a change, as the changed record shows them (chapter "Resources and their fields").

What is no time with its zone says nothing, nor does one that is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from cases.premises import A_WHILE, without
from conformance.cases import (
    HELD,
    Comparison,
    Exchange,
    Json,
    Verify,
    contradicts,
    has_offset,
    moment,
    portal_time,
)

TRACES = ("updatedAt", "updatedBy")
"""What any change leaves behind, also one that changed nothing else."""

AROUND = timedelta(minutes=15)
"""By how much two clocks of a portal may differ."""

DATED, MOVED = "MODEL-018", "MODEL-019"
"""That a time which a request sets is that of the request; and that ``updatedAt`` moves with a change."""


TO_THE_MINUTE = re.compile(r"[Tt ]\d\d:?\d\d(?![:\d])")
"""Of a time without seconds, the hour and the minute."""


def grain(value: Json) -> timedelta:
    """The least by which a later time is surely written otherwise."""
    is_to_the_minute = isinstance(value, str) and TO_THE_MINUTE.search(value) is not None
    return timedelta(minutes=1) if is_to_the_minute else timedelta(seconds=A_WHILE)


def exact_moment(value: Json) -> datetime | None:
    return moment(value) if isinstance(value, str) and has_offset(value) else None


def dated(listing: Exchange, path: str, value: Json, done: Exchange) -> Iterator[Comparison]:
    """Whether a time that ``done`` has set is about that of its answer."""
    time, about = exact_moment(value), portal_time(done)
    if time is not None:
        is_near = abs(time - about) <= AROUND
        expected = f"about {about.isoformat()}"
        message = f"{_named(done)} set it, at another time"
        yield HELD if is_near else contradicts(listing, path, expected, value, message)


def moved(listing: Exchange, path: str, before: Json, after: Json, done: Exchange) -> Iterator[Comparison]:
    """Whether a time moved forward with a change. One of a moment ago may be kept in whole seconds, or in
    minutes."""
    early, late = exact_moment(before), exact_moment(after)
    if early is None or late is None or early > portal_time(done) - grain(after):
        return
    message = f"{_named(done)} changed the record, and the time is no later than {before} before it"
    expected = f"a time after {before}"
    yield HELD if late > early else contradicts(listing, path, expected, after, message)


def _named(done: Exchange) -> str:
    operation = done.request.operation
    return done.request.path if operation is None else operation.key


def verify_moved(
    verify: Verify,
    listing: Exchange,
    path: str,
    *,
    before: dict[str, Json],
    after: dict[str, Json],
    done: Exchange,
) -> None:
    """Verifies that ``updatedAt`` of the record at a path moved to the time of the change; a record without a
    visible change proves nothing."""
    at, name = f"{path}.updatedAt", "updatedAt"
    if without(before, *TRACES) == without(after, *TRACES):
        return
    for comparison in moved(listing, at, before.get(name), after.get(name), done):
        verify(MOVED, comparison)
        for other in dated(listing, at, after.get(name), done) if comparison is HELD else ():
            verify(DATED, other)
