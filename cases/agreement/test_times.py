"""A record is read again after a while: what its times show is compared on the wire."""

from __future__ import annotations

from cases.premises import granted
from conformance.cases import Account, Portal, Untestable, requirement
from conformance.checks.model.agreement import LAG
from conformance.spec.endpoints import PROFILE


@requirement("MODEL-005")
def test_a_profile_is_not_older_after_a_while(portal: Portal, admin: Account) -> None:
    """Where time cannot be moved a run that lasts longer shows the same, and none waits for this alone."""
    token = admin.token
    granted(portal.call(PROFILE, token=token))
    if not portal.clock.is_simulated:
        raise Untestable("a minute has to pass, and no run waits for this alone", "configuration")
    portal.clock.wait(LAG + 1, "a change to be seen everywhere")
    granted(portal.call(PROFILE, token=token))
    granted(portal.call(PROFILE, token=token))
