"""Whether mail passwords are returned masked, where the profile's body sets none."""

from __future__ import annotations

import re

import pytest

from cases.notifications.making import CHANNEL, a_record
from cases.notifications.test_channel_changes import is_masked, verify_masked
from conformance.spec import REQUIREMENTS
from conformance.spec.endpoints import CHANNEL_COMMAND_DEACTIVATE
from conformance.tests.reached import connected
from conformance.tests.traffic import answer, channel, email_config
from conformance.verdicts.findings import HELD, Ledger, Result, Verdict
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


def test_what_is_no_mask_to_see_leaves_the_rule_untested_whatever_is_masked_elsewhere() -> None:
    ledger = Ledger(REQUIREMENTS)
    verify = Verify(ledger, "a case", [MASKED])
    shown = channel(emailConfig=email_config(password="p-secret"))
    with connected() as (portal, _, _):
        with a_record(portal, verify, portal.account("admin"), CHANNEL) as own:
            own.body = {"channelName": "without mail settings"}
            verify(MASKED, HELD)
            verify_masked(own, answer(CHANNEL_COMMAND_DEACTIVATE, shown), shown, "data")

    result = result_of(ledger)
    assert result.verdict is Verdict.UNTESTED
    assert str(result.reason).startswith(f"{CHANNEL_COMMAND_DEACTIVATE} shows no password that is a mask")
    assert "emailConfig.password in the body of [operations." in str(result.reason)
