"""Invitations in the states that the document does not number are read too where `statuses` must be sent."""

from __future__ import annotations

import pytest

from cases.profile import test_answering_invitations
from conformance.spec import REQUIREMENTS
from conformance.tests.reached import connected
from conformance.verdicts.findings import Ledger, Verdict
from conformance.verdicts.verify import Verify
from reference_impl.choices import Choices

REQUIRED = Choices(statuses_required=True)
FAULT = "declined-invitation-can-be-accepted"


@pytest.mark.parametrize("faults, verdict", [((), Verdict.PASS), ((FAULT,), Verdict.WARN)])
def test_a_declined_invitation_is_looked_for_where_it_is_now(
    faults: tuple[str, ...], verdict: Verdict
) -> None:
    ledger = Ledger(REQUIREMENTS)
    verify = Verify(ledger, "a case", list(REQUIREMENTS))
    with connected(choices=REQUIRED, faults=faults) as (portal, _, _):
        declined = test_answering_invitations.test_a_declined_invitation_can_no_longer_be_accepted
        declined(portal, verify, portal.account("admin"), portal.account("spare"))

    assert {row.requirement.id: row.verdict for row in ledger.results()}["INVITATION-030"] is verdict
