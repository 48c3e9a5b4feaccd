"""What a request must leave as it was: a finding has both readings, and the request between them."""

from __future__ import annotations

import pytest

from cases.profile.test_profile import test_other_accounts_stay_as_they_were as others_stay
from cases.surroundings import Surroundings
from conformance.spec import REQUIREMENTS
from conformance.spec.endpoints import (
    BACKUP_CODES,
    BACKUP_CODES_GENERATE,
    PROFILE,
    PROFILE_UPDATE,
    SESSIONS_CONFIG,
)
from conformance.tests.reached import connected
from conformance.verdicts.findings import HELD, Contradiction, Ledger, OtherPlace
from conformance.verdicts.verify import Verify


@pytest.mark.parametrize("faults", [(), ("generated-codes-raise-the-sessions",)])
def test_a_setting_that_a_request_does_not_name_is_shown_before_and_after_it(faults: tuple[str, ...]) -> None:
    with connected(faults=faults) as (portal, seen, _):
        token = portal.account("admin").token
        around = Surroundings(portal, token)
        generated = portal.call(BACKUP_CODES_GENERATE, token=token)

        compared = around.kept(generated, (BACKUP_CODES,))

    if not faults:
        assert compared is HELD
        return
    assert isinstance(compared, Contradiction)
    before, done, after = *compared.also, compared.exchange
    assert (before.request.operation, done) == (after.request.operation, generated)
    assert before.at("data.maxSessions") == compared.expected
    assert after.at(compared.path) == compared.actual
    assert compared.other == OtherPlace(before.n, SESSIONS_CONFIG, "", "maxSessions")
    assert before.n < done.n < after.n <= len(seen)


def test_another_account_that_an_update_writes_to_is_noticed_though_it_was_before() -> None:
    with connected(faults=("profile-update-writes-anothers-phone",)) as (portal, _, _):
        admin, spare = portal.account("admin"), portal.account("spare")
        own = portal.call(PROFILE, token=spare.token)
        sent = {name: own.at(f"data.{name}") for name in ("accountName", "accountPhone")}
        assert portal.call(PROFILE_UPDATE, json=sent, token=spare.token).success
        ledger = Ledger(REQUIREMENTS)

        others_stay(portal, Verify(ledger, "case", ["PROFILE-007", "MODEL-021"]), admin, spare)

    assert [finding.requirement for finding in ledger.findings] == ["PROFILE-007"]
