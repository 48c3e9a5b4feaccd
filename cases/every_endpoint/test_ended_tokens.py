"""An access token that has expired, at every endpoint that reads (chapter "Authentication", 6)."""

from __future__ import annotations

from collections.abc import Generator

from cases.authentication.steps import profile_after_expiry
from cases.reading import READABLE, read
from conformance.cases import (
    LIMITS,
    Account,
    Exchange,
    Portal,
    Untestable,
    Verify,
    Wait,
    is_held_back,
    is_refused,
    mark,
)

READ_BY_TOKEN = tuple(row for row in READABLE if not row.is_prelogin)


def is_refused_everywhere(portal: Portal, verify: Verify, token: str, refused: Exchange) -> None:
    """``refused``: how it was refused at one endpoint. What is served without any token says nothing."""
    for row in READ_BY_TOKEN:
        try:
            answer = read(portal, row, token=token)
        except Untestable:
            continue
        if not is_held_back(answer) and not (answer.success and read(portal, row).success):
            message = "a token that is over, and was refused elsewhere, was accepted"
            verify("AUTHN-024", is_refused(answer, refused, message=message))


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
