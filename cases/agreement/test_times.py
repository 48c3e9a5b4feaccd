"""A record is read again after a while: what its times show is compared on the wire."""

from __future__ import annotations

from contextlib import suppress

from cases.premises import granted
from cases.reading import READABLE, read
from cases.surroundings import Surroundings
from conformance.cases import (
    ABSENT,
    BY_KEY,
    FAR,
    LAG,
    NEAR,
    Account,
    Exchange,
    Portal,
    Untestable,
    Verify,
    holds,
    is_integer,
    mark,
    op,
)


@mark.requirement("MODEL-005")
@mark.needs("clock")
def test_a_profile_is_not_older_after_a_while(portal: Portal, admin: Account) -> None:
    """Where time cannot be moved a run that lasts longer shows the same, and none waits for this alone."""
    token = admin.token
    granted(portal.call(op.PROFILE, token=token))
    portal.clock.wait(LAG + 1, "a profile that is read a minute later")
    granted(portal.call(op.PROFILE, token=token))
    granted(portal.call(op.PROFILE, token=token))


@mark.requirement("MODEL-006")
@mark.needs("clock")
def test_what_is_read_again_bears_the_time_of_its_answer(
    portal: Portal, verify: Verify, admin: Account
) -> None:
    """What says that it comes from a cache on the way bears the time of the answer that was kept."""
    rows = [row for row in READABLE if row.method == "GET" and not row.is_prelogin]
    for row in rows:
        with suppress(Untestable):
            read(portal, row, token=admin.token)
    portal.clock.wait(FAR + NEAR, "a time that tells an answer from the one before")
    now = read(portal, BY_KEY[op.ACCOUNTS_QUERY], token=admin.token)
    before = now.at("timestamp")
    if not is_integer(before):
        raise Untestable("the portal's answers show no timestamp", "target")
    for row in rows:
        with suppress(Untestable):
            later = read(portal, row, token=admin.token)
            stamp = later.at("timestamp")
            if is_integer(stamp) and not is_cached(later):
                is_of_now = int(stamp) >= int(before) - NEAR * 1000
                verify("MODEL-006", holds(later, "timestamp", is_of_now, f"about {before}", now))


CACHED = ("age", "x-cache", "cf-cache-status", "x-cache-hits")


def is_cached(answer: Exchange) -> bool:
    return any(answer.at(f"headers.{name}") is not ABSENT for name in CACHED)


DETAILS = (op.ACCOUNT, op.INSTITUTION, op.FILE, op.ROLE, op.ROLE_PERMISSIONS)
"""What shows one record, which a listing shows as well or which is read again."""

MOVES_WITH_A_READ = 2.0
"""Seconds after which a time that a read sets is surely another: times may be shown in whole seconds."""


@mark.requirement("MODEL-015")
@mark.pauses(MOVES_WITH_A_READ)
def test_what_is_read_twice_is_the_same(portal: Portal, verify: Verify, admin: Account) -> None:
    around = Surroundings(portal, admin.token, shared=True)
    portal.clock.wait(MOVES_WITH_A_READ, "times that a read may set")
    around.judged(verify, "MODEL-015", details(portal, admin), again=lambda: details(portal, admin))


def details(portal: Portal, admin: Account) -> Exchange:
    """Reads single records, and the caller's own; the last answer."""
    answer = granted(portal.call(op.PROFILE, token=admin.token))
    for key in DETAILS:
        with suppress(Untestable):
            answer = read(portal, BY_KEY[key], token=admin.token)
    return answer
