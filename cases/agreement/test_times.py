"""A record is read again after a while: what its times show is compared on the wire."""

from __future__ import annotations

from collections.abc import Generator

from cases.premises import granted
from conformance.cases import Account, Portal, requirement, waits
from conformance.checks.model.agreement import LAG
from conformance.run.schedule import Wait
from conformance.spec.endpoints import PROFILE


@requirement("MODEL-005")
@waits(LAG + 1)
def test_a_profile_is_not_older_after_a_while(portal: Portal, admin: Account) -> Generator[Wait, None, None]:
    token = admin.token
    granted(portal.call(PROFILE, token=token))
    yield LAG + 1, "a change to be seen everywhere"
    granted(portal.call(PROFILE, token=token))
    granted(portal.call(PROFILE, token=token))
