"""The IP whitelist as the cases change it: where it can be put back, and never so that it shuts them out."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from contextlib import contextmanager

from cases.changing import put_back
from cases.premises import granted, listed, settled
from conformance.cases import Account, Exchange, Json, Portal, Untestable
from conformance.spec.endpoints import IP_WHITELIST, IP_WHITELIST_SET, SESSIONS

ANOTHER = "198.51.100.23"
ELSEWHERE = "198.51.100.77"
OF_THE_NEXT_VERSION = "2001:db8::17"
"""Addresses from blocks that are set apart for documentation: nobody calls from there."""

FURTHER = tuple(f"198.51.100.{last}" for last in range(31, 37))

KEPT = "the IP whitelist of [accounts.{account}] keeps {more}, as what is set joins what is there"

EDGE = ("CF-Connecting-IP", "X-Real-IP", "X-Forwarded-For")


def address(text: Json) -> str | None:
    """An address, or a network, in its usual form; None where a value is none."""
    if not isinstance(text, str):
        return None
    try:
        network = ipaddress.ip_network(text.strip(), strict=False)
    except ValueError:
        return None
    return str(network.network_address if network.num_addresses == 1 else network)


def addresses(exchange: Exchange) -> list[str]:
    """The addresses of the entries, whatever their form (it is not shown)."""
    entries = exchange.at("data.entries")
    return [
        entry_address
        for entry in (entries if isinstance(entries, list) else [])
        for entry_address in _in(entry)
    ]


def _in(entry: Json) -> Iterator[str]:
    values = entry.values() if isinstance(entry, dict) else [entry]
    yield from (entry_address for value in values if (entry_address := address(value)) is not None)


def read(portal: Portal, account: Account) -> Exchange:
    return granted(portal.call(IP_WHITELIST, token=account.token))


@contextmanager
def kept(portal: Portal, account: Account) -> Iterator[Exchange]:
    """Within it the addresses may be set; afterwards they are as they were.

    Raises Untestable where that could not be done, or where the whitelist is in use.
    """
    before = read(portal, account)
    if before.at("data.enabled") is not False:
        raise Untestable(f"the IP whitelist of [accounts.{account.name}] is in use", "environment")
    entries, present = before.at("data.entries"), addresses(before)
    if not isinstance(entries, list) or len(entries) != len(present):
        raise Untestable("the IP whitelist has entries that could not be restored", "environment")

    def left() -> str | None:
        more = set(addresses(settled(portal, lambda: read(portal, account), holds_no_more))) - set(present)
        return KEPT.format(account=account.name, more=", ".join(sorted(more))) if more else None

    def holds_no_more(answer: Exchange) -> bool:
        return set(addresses(answer)) <= set(present)

    with put_back(portal, IP_WHITELIST_SET, {"ips": present}, by=account, left=left):
        yield before


def own_addresses(portal: Portal, account: Account) -> list[str]:
    """Where the account calls from: as its session shows, and as the edge headers say. Raises Untestable."""
    listing = granted(portal.call(SESSIONS, token=account.token))
    shown = [session.get("clientIp") for session in listed(listing) if session.get("isCurrent") is True]
    sent = [listing.request.header(name) for name in EDGE]
    addresses_sent = [valid for value in [*shown, *sent] if (valid := address(value)) is not None]
    if not addresses_sent:
        raise Untestable("it is not known from which address the target is called", "environment")
    return list(dict.fromkeys(addresses_sent))
