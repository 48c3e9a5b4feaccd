"""What verifying an authenticator does to mailed codes is not shown: each effect of it is a reading."""

from __future__ import annotations

import pytest

from cases.security.test_factors import through_its_life
from conformance.spec import REQUIREMENTS
from conformance.tests.reached import connected
from conformance.verdicts.findings import Ledger, Verdict
from conformance.verdicts.verify import Verify
from reference_impl.choices import Choices


@pytest.mark.parametrize("is_replaced", [False, True])
def test_an_authenticator_may_take_the_place_of_mailed_codes(is_replaced: bool) -> None:
    ledger = Ledger(REQUIREMENTS)
    verify = Verify(ledger, "a case", list(REQUIREMENTS))
    with connected(choices=Choices(authenticator_replaces_email=is_replaced)) as (portal, _, _):
        for seconds, why in through_its_life(portal, verify, portal.account("spare")):
            portal.clock.wait(seconds, why)

    verdicts = {row.requirement.id: row.verdict for row in ledger.results()}
    assert (verdicts["MODEL-010"], verdicts["MFA-017"]) == (Verdict.PASS, Verdict.OPEN)
    readings = {row.observed for row in ledger.observations if row.topic == "email-beside-otp"}
    assert readings == {"is replaced" if is_replaced else "stays enabled"}
