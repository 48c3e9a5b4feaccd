"""What the undoing of a change, although it is accepted, leaves behind is read back and named."""

from __future__ import annotations

import pytest

from cases.security import test_factors, test_ip_whitelist
from conformance.errors import Untestable
from conformance.spec import REQUIREMENTS
from conformance.spec.endpoints import OTP_REVOKE
from conformance.tests.reached import connected
from conformance.traffic.exchange import Exchange
from conformance.verdicts.findings import Ledger, Verdict
from conformance.verdicts.verify import Verify

ADDS = "IPWHITELIST-010"


@pytest.mark.parametrize("variants, verdict", [(("whitelist-adds",), Verdict.UNTESTED), ((), Verdict.PASS)])
def test_addresses_that_join_those_that_are_there_are_named_as_left(
    variants: tuple[str, ...], verdict: Verdict
) -> None:
    ledger = Ledger(REQUIREMENTS)
    verify = Verify(ledger, "a case", list(REQUIREMENTS))
    with connected(variants=variants) as (portal, _, _):
        test_ip_whitelist.test_addresses_that_were_set_are_read_back(portal, verify, portal.account("spare"))
        named = " ".join(portal.changes.unrestorable)
        assert portal.changes.pending == []

    assert {row.requirement.id: row.verdict for row in ledger.results()}[ADDS] is verdict
    assert ("the IP whitelist of [accounts.spare] keeps" in named) == bool(variants)


def test_an_authenticator_that_was_never_verified_is_revoked() -> None:
    verify = Verify(Ledger(REQUIREMENTS), "a case", list(REQUIREMENTS))
    with connected(edit=lambda profile: profile.replace('"{otp}"', '"none"')) as (portal, seen, _):
        life = test_factors.test_an_authenticator_through_its_life(portal, verify, portal.account("spare"))
        with pytest.raises(Untestable):
            next(life)
        assert any(is_revocation(exchange) for exchange in seen)


def is_revocation(exchange: Exchange) -> bool:
    operation = exchange.request.operation
    return operation is not None and operation.key == OTP_REVOKE and exchange.success
