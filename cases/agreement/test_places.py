"""A record is read at one place, at another, and at both again: what they show is compared on the wire."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from cases.pagination.listings import ORDER_LISTING
from cases.premises import authorized, granted, listed, text
from cases.reading import NO_FILTER, PENDING
from conformance.cases import LIMITS, Account, Exchange, Json, Portal, Untestable, requirement
from conformance.checks.model.agreement import LAG, are_different
from conformance.checks.records import records
from conformance.spec.endpoints import (
    ACCOUNT,
    ACCOUNTS_QUERY,
    CHANNEL_TYPES_QUERY,
    CHANNELS_QUERY,
    INVITATIONS,
    OWN_INVITATIONS,
    PROFILE,
    ROLE,
    ROLES,
    WORKSPACES_CURRENT,
    WORKSPACES_MINE,
)
from conformance.spec.requests import UNFILTERED

Read = Callable[[], Exchange]
Places = Callable[[Portal, Account], Iterator[Read]]
"""Gives the places that show a record: the first one of all others."""


def profile_and_query(portal: Portal, caller: Account) -> Iterator[Read]:
    yield lambda: portal.call(PROFILE, token=caller.token)
    email = text(granted(portal.call(PROFILE, token=caller.token)), "data.accountEmail")
    body = {**NO_FILTER, "email": email, "page": LIMITS.page, "size": LIMITS.size}
    yield lambda: portal.call(ACCOUNTS_QUERY, json=body, token=caller.token)


def profile_and_admin(portal: Portal, caller: Account) -> Iterator[Read]:
    yield lambda: portal.call(PROFILE, token=caller.token)
    id = text(granted(portal.call(PROFILE, token=caller.token)), "data.bizId")
    yield lambda: portal.call(ACCOUNT, token=caller.token, userBizId=id)


def list_and_role(portal: Portal, caller: Account) -> Iterator[Read]:
    yield lambda: portal.call(ROLES, token=caller.token)
    id = portal.record("role")
    yield lambda: portal.call(ROLE, token=caller.token, roleBizId=id)


def current_and_mine(portal: Portal, caller: Account) -> Iterator[Read]:
    yield lambda: portal.call(WORKSPACES_CURRENT, token=caller.token)
    yield lambda: portal.call(WORKSPACES_MINE, token=caller.token)


def pending_and_all(portal: Portal, caller: Account) -> Iterator[Read]:
    yield lambda: portal.call(OWN_INVITATIONS, query={"statuses": PENDING}, token=caller.token)
    yield lambda: portal.call(OWN_INVITATIONS, token=caller.token)
    yield lambda: portal.call(INVITATIONS, token=caller.token)


def channels(portal: Portal, caller: Account) -> Iterator[Read]:
    yield from _whole_and_one(portal, caller, CHANNELS_QUERY)


def channel_types(portal: Portal, caller: Account) -> Iterator[Read]:
    yield from _whole_and_one(portal, caller, CHANNEL_TYPES_QUERY)


def _whole_and_one(portal: Portal, caller: Account, key: str) -> Iterator[Read]:
    whole: dict[str, Json] = dict(UNFILTERED[key])
    yield lambda: portal.call(key, json=whole, token=caller.token)
    listing = granted(portal.call(key, json=whole, token=caller.token))
    id = next((record.get("bizId") for record in listed(listing, "data.items")), None)
    if not isinstance(id, str):
        raise Untestable("the target lists none to compare with", "environment")
    yield lambda: portal.call(key, json={**whole, "bizId": id}, token=caller.token)


def orders(portal: Portal, caller: Account) -> Iterator[Read]:
    yield lambda: ORDER_LISTING.ask(portal, caller, page=0, size=LIMITS.size)
    yield lambda: ORDER_LISTING.ask(portal, caller, page=0, size=2)


@pytest.mark.parametrize(
    "places",
    [
        pytest.param(profile_and_query, marks=requirement("AGREE-001")),
        pytest.param(profile_and_admin, marks=requirement("AGREE-001")),
        pytest.param(list_and_role, marks=requirement("AGREE-002")),
        pytest.param(current_and_mine, marks=requirement("AGREE-003")),
        pytest.param(pending_and_all, marks=requirement("AGREE-004")),
        pytest.param(channels, marks=requirement("AGREE-005")),
        pytest.param(channel_types, marks=requirement("AGREE-006")),
        pytest.param(orders, marks=requirement("AGREE-007")),
    ],
    ids=lambda places: places.__name__,
)
def test_a_record_is_the_same_wherever_it_is_read(portal: Portal, admin: Account, places: Places) -> None:
    first, *others = places(portal, admin)
    for other in others:
        if _in_turn(first, other):
            portal.clock.wait(LAG + 1, "a change to be seen everywhere")
            _in_turn(first, other)


def _in_turn(first: Read, other: Read) -> bool:
    """Reads two places twice, in turn. Whether they differ, which a change by somebody may explain yet."""
    here, there = granted(first()), authorized(other())
    granted(first())
    authorized(other())
    return _differ(here, there)


def _differ(here: Exchange, there: Exchange) -> bool:
    """Whether a record that both answers show has different values in a field."""
    shown = {record["bizId"]: record for _, record in records(here) if isinstance(record.get("bizId"), str)}
    return any(
        are_different(value, shown[record["bizId"]].get(name))
        for _, record in records(there)
        if isinstance(record.get("bizId"), str) and record["bizId"] in shown
        for name, value in record.items()
    )
