"""Refresh: what it does not take."""

from __future__ import annotations

import secrets

from cases.authentication.steps import judged
from cases.every_endpoint.tokens import changed_signature, forged
from conformance.cases import NO_SESSION, Account, Portal, Untestable, Verify, is_error, is_refused, mark


@mark.requirement("TOKEN-015", "TOKEN-016")
def test_an_unknown_refresh_token_gives_nothing(portal: Portal, admin: Account, verify: Verify) -> None:
    """While somebody is signed in, whose session it could be taken for."""
    admin.signed_in()
    unknown = secrets.token_urlsafe(48)
    portal.secrets.add(unknown, "refresh-token", "made up")
    refused = judged(portal.login.refresh(unknown), NO_SESSION)

    verify("TOKEN-015", is_refused(refused))
    verify("TOKEN-016", is_error(refused, NO_SESSION))


@mark.requirement("TOKEN-030")
def test_a_refresh_token_with_another_letter_gives_nothing(
    portal: Portal, admin: Account, verify: Verify
) -> None:
    right = admin.signed_in().refresh_token
    if right is None:
        raise Untestable("the sign-in gave no refresh token", "target")
    near = forged(portal, right, changed_signature, kind="refresh-token")
    refused = judged(portal.login.refresh(near), NO_SESSION)

    verify("TOKEN-030", is_refused(refused, message="a refresh token was taken with another letter"))


@mark.requirement("TOKEN-031")
def test_an_access_token_refreshes_nothing(portal: Portal, admin: Account, verify: Verify) -> None:
    signed_in = admin.signed_in()
    refused = judged(portal.login.refresh(signed_in.token), NO_SESSION)

    message = "an access token was taken for a refresh token"
    verify("TOKEN-031", is_refused(refused, signed_in.completed, message=message))
