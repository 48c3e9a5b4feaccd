"""An access token that has expired, at every endpoint that reads (chapter "Authentication", 6)."""

from __future__ import annotations

from collections.abc import Generator

from cases.authentication.steps import profile_after_expiry
from cases.every_endpoint.ended import is_refused_everywhere
from conformance.cases import LIMITS, Account, Portal, Untestable, Verify, Wait, mark


@mark.requirement("AUTHN-024")
@mark.waits(LIMITS.access_token, then=["AUTHN-024"])
def test_an_expired_token_is_refused_everywhere(
    portal: Portal, verify: Verify, admin: Account
) -> Generator[Wait, None, None]:
    """The administrator's: what another account may not read is refused whatever its token is."""
    signed_in = admin.signed_in()
    token = signed_in.token
    expired = yield from profile_after_expiry(portal, token, signed_in.expires_at)
    if expired.success:
        raise Untestable("an expired token is accepted, which is another rule's", "target")
    is_refused_everywhere(portal, verify, token, expired)
