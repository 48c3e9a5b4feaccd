"""A record is read again after a while: what its times show is compared on the wire."""

from __future__ import annotations

from contextlib import suppress

from cases.premises import granted
from cases.reading import read
from cases.surroundings import Surroundings
from conformance.cases import BY_KEY, Account, Portal, Untestable, Verify, requirement
from conformance.checks.model.agreement import LAG
from conformance.spec.endpoints import ACCOUNT, FILE, INSTITUTION, PROFILE, ROLE, ROLE_PERMISSIONS


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


DETAILS = (ACCOUNT, INSTITUTION, FILE, ROLE, ROLE_PERMISSIONS)
"""What shows one record, which a listing shows as well or which is read again."""

MOVES_WITH_A_READ = 2.0
"""Seconds after which a time that a read sets is surely another: times may be shown in whole seconds."""


@requirement("MODEL-015")
def test_what_is_read_twice_is_the_same(portal: Portal, verify: Verify, admin: Account) -> None:
    around = Surroundings(portal, admin.token, shared=True)
    portal.clock.wait(MOVES_WITH_A_READ, "times that a read may set")
    answer = granted(portal.call(PROFILE, token=admin.token))
    for key in DETAILS:
        with suppress(Untestable):
            answer = read(portal, BY_KEY[key], token=admin.token)
    verify("MODEL-015", around.kept(answer))
