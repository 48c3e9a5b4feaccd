"""A record is read at one place, at another, and at both again: what they show is compared on the wire."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pytest

from cases.pagination.test_pages import ORDER_LISTING
from cases.premises import authorized, granted, is_invalid, text, with_ids
from cases.reading import NO_FILTER, PENDING
from conformance.cases import (
    LAG,
    LIMITS,
    UNFILTERED,
    Account,
    Exchange,
    Json,
    Portal,
    Untestable,
    are_different,
    mark,
    op,
    records,
)

Read = Callable[[], Exchange]
Places = Callable[[Portal, Account], Iterator[Read]]
"""Gives the places that show records: first the one that shows all of them."""


SOME = 3
"""Of how many records of a listing each is read by itself as well."""


def profile_and_admin(portal: Portal, caller: Account) -> Iterator[Read]:
    """The caller's own account: in the query, and by its id."""
    yield lambda: portal.call(op.PROFILE, token=caller.token)
    profile = granted(portal.call(op.PROFILE, token=caller.token))
    email, id = text(profile, "data.accountEmail"), text(profile, "data.bizId")
    body = {**NO_FILTER, "email": email, "page": LIMITS.page, "size": LIMITS.size}
    yield lambda: portal.call(op.ACCOUNTS_QUERY, json=body, token=caller.token)
    yield lambda: portal.call(op.ACCOUNT, token=caller.token, userBizId=id)


def query_and_accounts(portal: Portal, caller: Account) -> Iterator[Read]:
    body = UNFILTERED[op.ACCOUNTS_QUERY]
    yield lambda: portal.call(op.ACCOUNTS_QUERY, json=body, token=caller.token)
    listing = granted(portal.call(op.ACCOUNTS_QUERY, json=body, token=caller.token))
    for id in some_of(listing, "accountStatus", "institutionBizId"):
        yield partial(portal.call, op.ACCOUNT, token=caller.token, userBizId=id)


def list_and_roles(portal: Portal, caller: Account) -> Iterator[Read]:
    yield lambda: portal.call(op.ROLES, token=caller.token)
    for id in some_of(granted(portal.call(op.ROLES, token=caller.token)), "roleType", "workspaceBizId"):
        yield partial(portal.call, op.ROLE, token=caller.token, roleBizId=id)


def mine_and_current(portal: Portal, caller: Account) -> Iterator[Read]:
    """Also where another of the caller's workspaces is asked for than the one that is taken by itself."""
    yield lambda: portal.call(op.WORKSPACES_MINE, token=caller.token)
    yield lambda: portal.call(op.WORKSPACES_CURRENT, token=caller.token)
    mine = granted(portal.call(op.WORKSPACES_MINE, token=caller.token))
    for id in some_of(mine, "institutionBizId", "workspaceStatus"):
        yield partial(portal.call, op.WORKSPACES_CURRENT, token=caller.token, headers={"X-Workspace-Id": id})


def some_of(listing: Exchange, *fields: str) -> list[str]:
    """Ids of a listing, of records that differ in these fields first."""
    shown = with_ids([record for _, record in records(listing)])
    kinds: dict[str, dict[str, Json]] = {}
    for record in shown:
        kinds.setdefault(str([record.get(field) for field in fields]), record)
    first = list(kinds.values())
    rest = [record for record in shown if record not in first]
    return [str(record["bizId"]) for record in (*first, *rest)][:SOME]


def pending_and_all(portal: Portal, caller: Account) -> Iterator[Read]:
    yield lambda: portal.call(op.OWN_INVITATIONS, query={"statuses": PENDING}, token=caller.token)
    yield lambda: portal.call(op.OWN_INVITATIONS, token=caller.token)


def received_and_sent(portal: Portal, caller: Account) -> Iterator[Read]:
    """Also those that are over; where ``statuses`` must be sent, those that are not."""
    everything = authorized(portal.call(op.OWN_INVITATIONS, token=caller.token))
    query = {"statuses": PENDING} if is_invalid(everything) else None
    yield lambda: portal.call(op.OWN_INVITATIONS, query=query, token=caller.token)
    yield lambda: portal.call(op.INVITATIONS, token=caller.token)


def channels(portal: Portal, caller: Account) -> Iterator[Read]:
    yield from _whole_and_one(portal, caller, op.CHANNELS_QUERY)


def channel_types(portal: Portal, caller: Account) -> Iterator[Read]:
    yield from _whole_and_one(portal, caller, op.CHANNEL_TYPES_QUERY)


def _whole_and_one(portal: Portal, caller: Account, key: str) -> Iterator[Read]:
    whole: dict[str, Json] = dict(UNFILTERED[key])
    yield lambda: portal.call(key, json=whole, token=caller.token)
    listing = granted(portal.call(key, json=whole, token=caller.token))
    ids = some_of(listing, "typeStatus", "channelStatus", "institutionBizId")
    if not ids:
        raise Untestable("the target lists none to compare with", "environment")
    for id in ids:
        yield partial(portal.call, key, json={**whole, "bizId": id}, token=caller.token)


def orders(portal: Portal, caller: Account) -> Iterator[Read]:
    yield lambda: ORDER_LISTING.ask(portal, caller, page=0, size=LIMITS.size)
    yield lambda: ORDER_LISTING.ask(portal, caller, page=0, size=2)


@pytest.mark.parametrize(
    "places",
    [
        pytest.param(profile_and_admin, marks=mark.requirement("AGREE-001")),
        pytest.param(query_and_accounts, marks=mark.requirement("AGREE-001")),
        pytest.param(list_and_roles, marks=mark.requirement("AGREE-002")),
        pytest.param(mine_and_current, marks=mark.requirement("AGREE-003")),
        pytest.param(pending_and_all, marks=mark.requirement("AGREE-004")),
        pytest.param(received_and_sent, marks=mark.requirement("AGREE-004")),
        pytest.param(channels, marks=mark.requirement("AGREE-005")),
        pytest.param(channel_types, marks=mark.requirement("AGREE-006")),
        pytest.param(orders, marks=mark.requirement("AGREE-007")),
    ],
    ids=lambda places: places.__name__,
)
def test_a_record_is_the_same_wherever_it_is_read(portal: Portal, admin: Account, places: Places) -> None:
    first, *others = places(portal, admin)
    if _in_turn(first, others):
        portal.clock.wait(
            LAG + 1, "two places that differ to agree: somebody else may just have changed a record"
        )
        _in_turn(first, others)


def _in_turn(first: Read, others: Sequence[Read]) -> bool:
    """Reads a place before and after others. Whether they differ, which a change by somebody may explain."""
    here = granted(first())
    there = [authorized(other()) for other in others]
    granted(first())
    return any(_differ(here, other) for other in there)


def _differ(here: Exchange, there: Exchange) -> bool:
    """Whether a record that both answers show has different values in a field."""
    shown = {record["bizId"]: record for _, record in records(here) if isinstance(record.get("bizId"), str)}
    return any(
        are_different(value, shown[record["bizId"]].get(name))
        for _, record in records(there)
        if isinstance(record.get("bizId"), str) and record["bizId"] in shown
        for name, value in record.items()
    )
