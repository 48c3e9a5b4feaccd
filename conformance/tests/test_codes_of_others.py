"""A mailed code may name its account: one that another account was mailed sets no new password of it."""

from __future__ import annotations

import re

import pytest

from cases.authentication import test_password_reset
from conformance.spec import REQUIREMENTS
from conformance.tests.reached import connected
from conformance.verdicts.findings import Ledger, Verdict
from conformance.verdicts.verify import Verify

WITH_THE_EMAIL = re.compile(r'email = "\{email\}"(?=, code = "\{code\}")')


@pytest.mark.parametrize("email, verdict", [("{email}", Verdict.UNTESTED), ("a@example.test", Verdict.PASS)])
def test_a_code_that_names_its_account_sets_no_password_of_another(email: str, verdict: Verdict) -> None:
    ledger = Ledger(REQUIREMENTS)
    verify = Verify(ledger, "a case", list(REQUIREMENTS))

    def edit(profile: str) -> str:
        return WITH_THE_EMAIL.sub(f'email = "{email}"', profile)

    with connected(variants=["a-mailed-code-names-its-account"], edit=edit) as (portal, _, running):
        reset = test_password_reset.test_a_reset_password_signs_in_and_the_old_one_no_more
        reset(portal, portal.account("spare"), verify)
        limited = portal.account("limited")
        account = running.portal.account_of(limited.email)
        assert account is not None
        assert running.portal.passwords[account["bizId"]].matches(limited.password)

    verdicts = {row.requirement.id: row.verdict for row in ledger.results()}
    assert verdicts["PASSWORD-022"] is verdict
