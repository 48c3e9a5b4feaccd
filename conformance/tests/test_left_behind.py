"""What the undoing of a change, although it is accepted, leaves behind is read back and named."""

from __future__ import annotations

import pytest

from cases.security import test_factors, test_ip_whitelist
from cases.security.test_ip_whitelist import ANOTHER, addresses, own_addresses, read
from conformance.errors import Untestable
from conformance.spec.endpoints import OTP_REVOKE
from conformance.tests.reached import Deciding, connected
from conformance.traffic.exchange import Exchange
from conformance.verdicts.findings import Verdict

ADDS = "IPWHITELIST-010"


@pytest.mark.parametrize("variants, verdict", [(("whitelist-adds",), Verdict.UNTESTED), ((), Verdict.PASS)])
def test_addresses_that_join_those_that_are_there_are_named_as_left(
    variants: tuple[str, ...], verdict: Verdict
) -> None:
    verify = Deciding()
    with connected(variants=variants) as (portal, _, _):
        test_ip_whitelist.test_addresses_that_were_set_are_read_back(portal, verify, portal.account("spare"))
        named = " ".join(portal.changes.unrestorable)
        assert portal.changes.pending == []

    assert verify.verdicts[ADDS] is verdict
    assert ("the IP whitelist of [accounts.spare] keeps" in named) == bool(variants)


def test_where_addresses_join_no_more_are_set_than_the_first() -> None:
    verify = Deciding()
    with connected(variants=("whitelist-adds",)) as (portal, exchanges, _):
        spare = portal.account("spare")
        own = own_addresses(portal, spare)
        test_ip_whitelist.test_addresses_that_were_set_are_read_back(portal, verify, spare)
        with pytest.raises(Untestable, match="so that no more are set"):
            test_ip_whitelist.test_how_an_address_that_is_none_is_answered(portal, verify, spare)
        test_ip_whitelist.test_the_whitelist_is_enabled_and_disabled(portal, verify, spare)
        test_ip_whitelist.test_ips_that_are_no_array_are_refused(portal, verify, spare)
        there = addresses(read(portal, spare))

    assert set(there) == {*own, ANOTHER}
    assert not any("not-an-address" in str(exchange.request.body) for exchange in exchanges)
    assert [verify.verdicts[f"IPWHITELIST-00{number}"] for number in (3, 4, 5, 9)] == [Verdict.PASS] * 4


def test_an_authenticator_that_was_never_verified_is_revoked() -> None:
    verify = Deciding()
    with connected(edit=lambda profile: profile.replace('"{otp}"', '"none"')) as (portal, exchanges, _):
        life = test_factors.test_an_authenticator_through_its_life(portal, verify, portal.account("spare"))
        with pytest.raises(Untestable):
            next(life)
        assert any(is_revocation(exchange) for exchange in exchanges)


def is_revocation(exchange: Exchange) -> bool:
    operation = exchange.request.operation
    return operation is not None and operation.key == OTP_REVOKE and exchange.success
