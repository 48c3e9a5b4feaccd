"""The IP whitelist: set, enabled, disabled, read back (chapter "Security endpoints")."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cases.changing import put_back
from cases.premises import authorized, granted, listed, outcome, settled
from cases.surroundings import Surroundings, by_admin
from conformance.cases import (
    ABSENT,
    Account,
    Comparison,
    Exchange,
    Portal,
    Untestable,
    Verify,
    address,
    addresses_in,
    equal,
    holds,
    is_invalid_parameter,
    mark,
    op,
)

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


@mark.requirement("IPWHITELIST-003", "IPWHITELIST-006", "IPWHITELIST-010", "MODEL-010")
@mark.needs("accounts.spare")
@mark.impact("disruptive")
def test_addresses_that_were_set_are_read_back(portal: Portal, verify: Verify, spare: Account) -> None:
    """Few addresses first: where they join those that are there, they stay, and no more are set."""
    wanted = [*own_addresses(portal, spare), ANOTHER]

    around = Surroundings(portal, spare.token, beside=by_admin(portal, op.IP_WHITELIST))
    with kept(portal, spare, *wanted):
        changed = granted(portal.call(op.IP_WHITELIST_SET, json={"ips": wanted}, token=spare.token))
        verify("IPWHITELIST-003", _lists(_with(portal, spare, wanted), wanted, changed))
        around.judged(verify, "MODEL-010", changed, (op.IP_WHITELIST, "", "entries"))
        if _is_emptied(portal, verify, spare):
            longer = [*wanted, OF_THE_NEXT_VERSION, *FURTHER]
            changed = authorized(portal.call(op.IP_WHITELIST_SET, json={"ips": longer}, token=spare.token))
            if changed.success:
                verify("IPWHITELIST-003", _lists(_with(portal, spare, longer), longer, changed))


def _with(portal: Portal, account: Account, wanted: list[str]) -> Exchange:
    return settled(
        portal, lambda: read(portal, account), lambda answer: set(wanted) <= set(addresses(answer))
    )


def _is_emptied(portal: Portal, verify: Verify, account: Account) -> bool:
    """Sets no address; whether what is set takes the place of what is there."""
    emptied = authorized(portal.call(op.IP_WHITELIST_SET, json={"ips": []}, token=account.token))
    if not emptied.success:
        return not _adds(portal, account)
    after = settled(portal, lambda: read(portal, account), lambda answer: not addresses(answer))
    left = addresses(after)
    if left and _adds(portal, account):
        reason = "addresses that are set join those that are there"
        verify.untested("IPWHITELIST-010", reason, "target")
        return False
    verify("IPWHITELIST-010", holds(after, "data.entries", not left, "none", emptied, actual=left))
    return True


def _adds(portal: Portal, account: Account) -> bool:
    """Whether a shorter list leaves the addresses that it does not name."""
    granted(portal.call(op.IP_WHITELIST_SET, json={"ips": [ANOTHER]}, token=account.token))
    return not set(addresses(read(portal, account))) <= {ANOTHER}


@mark.requirement("IPWHITELIST-004", "IPWHITELIST-005", "IPWHITELIST-008", "IPWHITELIST-011", "MODEL-010")
@mark.needs("accounts.spare")
@mark.impact("disruptive")
def test_the_whitelist_is_enabled_and_disabled(portal: Portal, verify: Verify, spare: Account) -> None:
    """Each twice: what is so already stays so, whether or not that is refused."""
    wanted = own_addresses(portal, spare)
    elsewhere = Surroundings(portal, beside=by_admin(portal, op.IP_WHITELIST))

    with kept(portal, spare, *wanted):
        granted(portal.call(op.IP_WHITELIST_SET, json={"ips": wanted}, token=spare.token))
        if not set(wanted) <= set(addresses(read(portal, spare))):
            raise Untestable("the address that the suite calls from is not read back", "target")

        with put_back(portal, op.IP_WHITELIST_ENABLE, ABSENT, by=spare):
            enabled = granted(portal.call(op.IP_WHITELIST_ENABLE, token=spare.token))
            portal.call(op.IP_WHITELIST_ENABLE, token=spare.token)
            during = _switched(portal, spare, True)
            elsewhere.judged(verify, "MODEL-010", enabled)
            verify("IPWHITELIST-004", equal(during, "data.enabled", True, enabled))
            verify("IPWHITELIST-011", _lists(during, wanted, enabled))
            observe_effect(portal, verify, spare)
            again = authorized(portal.call(op.IP_WHITELIST_SET, json={"ips": wanted}, token=spare.token))
            if again.success and during.at("data.enabled") is True:
                during = _switched(portal, spare, True)
                message = "setting the addresses has switched the whitelist off"
                still = during.at("data.enabled") is not False
                verify("MODEL-010", holds(during, "data.enabled", still, True, again, message=message))

            disabled = granted(portal.call(op.IP_WHITELIST_DISABLE, token=spare.token))
            portal.call(op.IP_WHITELIST_DISABLE, token=spare.token)
            after = _switched(portal, spare, False)
            verify("IPWHITELIST-005", equal(after, "data.enabled", False, enabled, disabled))
            verify("IPWHITELIST-011", _lists(after, wanted, disabled))


def _lists(listing: Exchange, wanted: list[str], changed: Exchange) -> Comparison:
    stored = addresses(listing)
    is_there = set(wanted) <= set(stored)
    return holds(listing, "data.entries", is_there, wanted, changed, actual=stored)


def _switched(portal: Portal, account: Account, enabled: bool) -> Exchange:
    return settled(portal, lambda: read(portal, account), lambda answer: answer.at("data.enabled") is enabled)


def observe_effect(portal: Portal, verify: Verify, account: Account) -> None:
    """Another address can only be feigned where no real edge stands before the target."""
    if not portal.profile.portal.edge_headers:
        verify.untested("IPWHITELIST-008", "a real edge sets the address of the client", "environment")
        return
    elsewhere = portal.call(op.IP_WHITELIST, token=account.token, headers=dict.fromkeys(EDGE, ELSEWHERE))
    verify.observe("ip-whitelist-effect", elsewhere, effect(elsewhere))


def effect(exchange: Exchange) -> object:
    return "lets another address in" if exchange.success else {"keeps another address out": outcome(exchange)}


@mark.requirement("IPWHITELIST-007", "MODEL-014")
@mark.needs("accounts.spare")
@mark.impact("disruptive")
def test_how_an_address_that_is_none_is_answered(portal: Portal, verify: Verify, spare: Account) -> None:
    ips = [ANOTHER, "not-an-address"]
    with kept(portal, spare, *ips):
        around = Surroundings(portal, spare.token)
        exchange = authorized(portal.call(op.IP_WHITELIST_SET, json={"ips": ips}, token=spare.token))
        verify.observe("invalid-ip-address", exchange, outcome(exchange))
        if not exchange.success:
            around.judged(verify, "MODEL-014", exchange)


@mark.requirement("IPWHITELIST-009")
@mark.needs("accounts.spare")
@mark.impact("disruptive")
def test_ips_that_are_no_array_are_refused(portal: Portal, verify: Verify, spare: Account) -> None:
    with kept(portal, spare, ANOTHER):
        refused = authorized(portal.call(op.IP_WHITELIST_SET, json={"ips": ANOTHER}, token=spare.token))
        verify("IPWHITELIST-009", is_invalid_parameter(refused))
