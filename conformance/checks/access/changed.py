"""What an account shows after its security was changed (chapter "Security endpoints").

A change may take its time to show, and another user may change the same: what is shown soon after counts
where it is neither what was there before nor what was set, or where another answer shows that the change has
arrived.
"""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import NamedTuple

from conformance.checks.access.sign_in import HEARD_OF
from conformance.checks.model.places import viewer_of
from conformance.checks.records import sent_fields
from conformance.checks.registry import Memory, answers, check, key_of
from conformance.spec import endpoints as op
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.values import is_integer
from conformance.verdicts.comparisons import contradicts, equal, is_granted
from conformance.verdicts.findings import HELD, Comparison

SOON_SECONDS = 60.0
"""Seconds after a change in which nobody else is taken to have changed the same."""


# The number of sessions.


class ValueShown(NamedTuple):
    """A value with the time when a caller read it."""

    value: Json
    time: float


class ValueSet(NamedTuple):
    """A value that a caller set, with the previous value and the time of the update."""

    value: Json
    before: Json
    time: float


@check(
    "SESSION-029",
    on=answers(
        op.SESSIONS_CONFIG, op.SESSIONS_CONFIG_SET, op.ACCOUNT_UPDATE, op.ACCOUNT_STATUS
    ).at_its_moment(),
    remembers=True,
    compares=True,
)
def the_number_that_was_set_is_shown(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """Numbers below an earlier shown number respect every limit of the portal."""
    viewer = viewer_of(exchange)
    if key_of(exchange) != op.SESSIONS_CONFIG:
        _note_change(exchange, memory, _number_set(exchange))
        return
    shown = exchange.at("data.maxSessions")
    if viewer is None or not exchange.success or not is_integer(shown):
        return
    change: ValueSet | None = memory.pop(f"change {viewer}", None)
    memory[viewer] = ValueShown(shown, exchange.time)
    if change is None or exchange.time > change.time + SOON_SECONDS or not change.value <= change.before:
        return
    if shown == change.value:
        yield HELD
    elif shown != change.before:
        message = f"{change.value} was set, and {change.before} was there before"
        yield contradicts(exchange, "data.maxSessions", change.value, shown, message)


def _number_set(exchange: Exchange) -> Json:
    """The number of sessions that a request sets; None where it sets none, or may not have set it."""
    number: Json = sent_fields(exchange).get("maxConcurrentSessions")
    is_set = key_of(exchange) == op.SESSIONS_CONFIG_SET and is_granted(exchange)
    return number if is_set and is_integer(number) and number > 0 else None


def _note_change(exchange: Exchange, memory: Memory, value: Json) -> None:
    """Forgets shown values; remembers the requested value if the previous one was shown shortly before."""
    viewer = viewer_of(exchange)
    before: ValueShown | None = memory.get(viewer or "")
    memory.clear()
    if value is None or before is None:
        return
    if exchange.time < before.time + SOON_SECONDS:
        memory[f"change {viewer}"] = ValueSet(value, before.value, exchange.time)


# The IP whitelist.

Network = IPv4Network | IPv6Network
Networks = frozenset[Network]


@check(
    "IPWHITELIST-003",
    on=answers(op.IP_WHITELIST, op.IP_WHITELIST_SET).at_its_moment(),
    remembers=True,
    compares=True,
)
def all_addresses_that_were_set_are_shown(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
    """If some new addresses appear, all must appear, except forms that never appear and networks contained in
    others. Setting may also add."""
    viewer = viewer_of(exchange)
    if key_of(exchange) == op.IP_WHITELIST_SET:
        addresses = _networks(sent_fields(exchange).get("ips"))
        _note_change(exchange, memory, addresses if addresses and is_granted(exchange) else None)
        return
    if viewer is None or not exchange.success:
        return
    shown = _networks(exchange.at("data.entries"))
    change: ValueSet | None = memory.pop(f"change {viewer}", None)
    memory[viewer] = ValueShown(shown, exchange.time)
    is_recent = change is not None and exchange.time < change.time + SOON_SECONDS
    if change is not None and is_recent and shown is not None and change.before is not None:
        yield from _all_of(exchange, change, shown)


def _all_of(exchange: Exchange, change: ValueSet, shown: Networks) -> Iterator[Comparison]:
    addresses: Networks = change.value
    arrived = (addresses & shown) - change.before
    forms = {_form_of(network) for network in arrived}
    missing = sorted(
        str(network)
        for network in addresses - shown
        if _form_of(network) in forms and not any(_is_within(network, other) for other in shown)
    )
    if arrived and missing:
        yield contradicts(
            exchange, "data.entries", {"addresses that were set": missing}, exchange.at("data.entries")
        )
    elif arrived and addresses <= shown:
        yield HELD


def _networks(entries: Json) -> Networks | None:
    """The addresses of a list of texts, or of objects with one address each; None of another list."""
    if not isinstance(entries, list):
        return None
    networks = [_network(entry) for entry in entries]
    whole = frozenset(network for network in networks if network is not None)
    return whole if len(whole) == len(networks) else None


def _network(entry: Json) -> Network | None:
    texts = [text for text in entry.values() if isinstance(text, str)] if isinstance(entry, dict) else [entry]
    networks = [network for network in map(_parsed, texts) if network is not None]
    return networks[0] if len(networks) == 1 else None


def _parsed(text: Json) -> Network | None:
    try:
        return ip_network(text.strip(), strict=False) if isinstance(text, str) else None
    except ValueError:
        return None


def _form_of(network: Network) -> tuple[int, bool]:
    return network.version, network.num_addresses == 1


def _is_within(network: Network, other: Network) -> bool:
    first, last = int(other.network_address), int(other.broadcast_address)
    return network.version == other.version and first <= int(network.network_address) <= last


def _switch_rule(requirement: str, switch: str, *, enabled: bool) -> None:
    @check(
        requirement,
        on=answers(op.IP_WHITELIST, *OF_THE_WHITELIST).at_its_moment(),
        remembers=True,
        compares=True,
    )
    def the_switch_shows(exchange: Exchange, memory: Memory) -> Iterator[Comparison]:
        """By the same caller, once the change has had its time."""
        viewer, key = viewer_of(exchange), key_of(exchange)
        if key != op.IP_WHITELIST:
            memory.clear()
            if key == switch and viewer is not None and is_granted(exchange):
                memory[viewer] = exchange.time
            return
        shown, switched = exchange.at("data.enabled"), memory.get(viewer or "")
        if switched is None or not exchange.success or not isinstance(shown, bool):
            return
        if shown is enabled or switched + HEARD_OF < exchange.time < switched + SOON_SECONDS:
            memory.clear()
            yield equal(exchange, "data.enabled", enabled)


OF_THE_WHITELIST = (op.IP_WHITELIST_SET, op.IP_WHITELIST_ENABLE, op.IP_WHITELIST_DISABLE)

_switch_rule("IPWHITELIST-004", op.IP_WHITELIST_ENABLE, enabled=True)
_switch_rule("IPWHITELIST-005", op.IP_WHITELIST_DISABLE, enabled=False)
