"""The IP whitelist as the cases change it: where it can be put back, and never so that it shuts them out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cases.changing import put_back
from cases.premises import granted, listed, settled
from conformance.cases import Account, Exchange, Portal, Untestable, address, addresses_in, op

ANOTHER = "198.51.100.23"
ELSEWHERE = "198.51.100.77"
OF_THE_NEXT_VERSION = "2001:db8::17"
"""Addresses from blocks that are set apart for documentation: nobody calls from there."""

FURTHER = tuple(f"198.51.100.{last}" for last in range(31, 37))

KEPT = "the IP whitelist of [accounts.{account}] keeps {more}, as what is set joins what is there"

EDGE = ("CF-Connecting-IP", "X-Real-IP", "X-Forwarded-For")


def addresses(exchange: Exchange) -> list[str]:
    return addresses_in(exchange.at("data.entries"))


def read(portal: Portal, account: Account) -> Exchange:
    return granted(portal.call(op.IP_WHITELIST, token=account.token))


@contextmanager
def kept(portal: Portal, account: Account, *wanted: str) -> Iterator[Exchange]:
    """Lets a block set the ``wanted`` addresses, then restores the whitelist.

    Raises Untestable where that could not be done, as an earlier case has shown, or where the whitelist is in
    use.
    """
    before = read(portal, account)
    if before.at("data.enabled") is not False:
        raise Untestable(f"the IP whitelist of [accounts.{account.name}] is in use", "environment")
    entries, present = before.at("data.entries"), addresses(before)
    if not isinstance(entries, list) or len(entries) != len(present):
        raise Untestable("the IP whitelist has entries that could not be restored", "environment")
    if not set(wanted) <= set(present) and portal.changes.is_left(op.IP_WHITELIST_SET, account=account.name):
        raise Untestable(
            "addresses that are set join those that are there, so that no more are set", "target"
        )

    def left() -> str | None:
        more = set(addresses(settled(portal, lambda: read(portal, account), holds_no_more))) - set(present)
        return KEPT.format(account=account.name, more=", ".join(sorted(more))) if more else None

    def holds_no_more(answer: Exchange) -> bool:
        return set(addresses(answer)) <= set(present)

    with put_back(portal, op.IP_WHITELIST_SET, {"ips": present}, by=account, left=left):
        yield before


def own_addresses(portal: Portal, account: Account) -> list[str]:
    """Where the account calls from: as its session shows, and as the edge headers say. Raises Untestable."""
    listing = granted(portal.call(op.SESSIONS, token=account.token))
    shown = [session.get("clientIp") for session in listed(listing) if session.get("isCurrent") is True]
    sent = [listing.request.header(name) for name in EDGE]
    addresses_sent = [valid for value in [*shown, *sent] if (valid := address(value)) is not None]
    if not addresses_sent:
        raise Untestable("it is not known from which address the target is called", "environment")
    return list(dict.fromkeys(addresses_sent))
