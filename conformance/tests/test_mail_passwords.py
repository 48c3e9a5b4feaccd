"""Whether mail passwords are returned masked, where the profile's body sets none."""

from __future__ import annotations

import re

import pytest

from cases.notifications.making import CHANNEL, a_record
from cases.notifications.test_channel_changes import is_masked
from conformance.spec import REQUIREMENTS
from conformance.tests.reached import connected
from conformance.verdicts.findings import Ledger, Result, Verdict
from conformance.verdicts.verify import Verify

MASKED = "CHANNEL-046"


def result_of(ledger: Ledger) -> Result:
    return next(result for result in ledger.results() if result.requirement.id == MASKED)


def without_password(profile: str) -> str:
    return re.sub(r',? *"?password"? *= *"[^"]*"(?=[^\n]*useSsl)', "", profile)


@pytest.mark.parametrize(
    "faults, verdict", [((), Verdict.PASS), (("channel-password-in-the-clear",), Verdict.FAIL)]
)
def test_a_body_with_mail_settings_gets_a_password_that_is_made_up(
    faults: tuple[str, ...], verdict: Verdict
) -> None:
    ledger = Ledger(REQUIREMENTS)
    verify = Verify(ledger, "a case", [MASKED])
    with connected(faults=faults, edit=without_password) as (portal, _, _):
        assert "password" not in portal.operation_body(CHANNEL.verb("create"))["emailConfig"]
        with a_record(portal, verify, portal.account("admin"), CHANNEL) as own:
            assert own.body["emailConfig"]["password"]
            is_masked(own)

    assert result_of(ledger).verdict is verdict
