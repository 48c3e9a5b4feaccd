"""Logout: what it ends."""

from __future__ import annotations

from cases.authentication.steps import SETTLING, profile_by, refreshed_after_the_end
from cases.every_endpoint.test_ended_tokens import is_refused_everywhere
from cases.premises import answered, granted
from cases.surroundings import Surroundings
from conformance.cases import (
    HEARD_OF,
    Account,
    Exchange,
    Portal,
    Verify,
    holds,
    is_integer,
    is_refused,
    is_success,
    mark,
    op,
)


@mark.requirement(
    "LOGOUT-003", "LOGOUT-004", "LOGOUT-005", "LOGOUT-006", "TOKEN-011", "TOKEN-012", "AUTHN-024", "MODEL-023"
)
@mark.needs("accounts.spare")
@mark.impact("disruptive")
@mark.sign_ins(1, reuses=1)
def test_a_session_is_over_after_its_logout(portal: Portal, spare: Account, verify: Verify) -> None:
    spare.signed_in()
    own = spare.another_session()
    shared = spare.token  # only now: it may have been refreshed while the other session began
    granted(profile_by(portal, own.token))
    granted(profile_by(portal, shared))
    before = answered(portal.call(op.SESSIONS, token=own.token))

    around = Surroundings(portal, shared)
    out = answered(portal.login.logout(own.token))
    verify("TOKEN-012", is_success(out, own.completed))
    if not out.success:
        return

    outlived = profile_by(portal, own.token)
    if outlived.success:
        portal.clock.wait(HEARD_OF + SETTLING, "every part of the portal to hear of a logout")
        outlived = profile_by(portal, own.token)
    verify("TOKEN-011", is_refused(outlived, out, message="a token outlived its logout"))
    if not outlived.success:
        is_refused_everywhere(portal, verify, own.token, outlived)
    if own.refresh_token is not None:
        refreshed = refreshed_after_the_end(portal, own.refresh_token)
        verify("TOKEN-012", is_refused(refreshed, out, message="a session was refreshed after its logout"))

    elsewhere = profile_by(portal, shared)
    if elsewhere.success:
        around.judged(verify, "MODEL-023", out, (op.SESSIONS,))
    verify.observe("logout-scope", elsewhere, "own session" if elsewhere.success else "all sessions")
    _verify_count(verify, before, out, elsewhere)


def _verify_count(verify: Verify, before: Exchange, out: Exchange, elsewhere: Exchange) -> None:
    """Of the run's own two sessions both ended, or one lives on."""
    number, listed = out.at("data.terminatedSessions"), before.data
    if not is_integer(number) or not before.success or not isinstance(listed, list) or len(listed) < 2:
        return
    if elsewhere.success:
        right, expected = number < len(listed), f"less than {len(listed)}: another session lives on"
    else:
        right, expected = 2 <= number <= len(listed), f"from 2 to {len(listed)}: another session ended too"
    verify("LOGOUT-006", holds(out, "data.terminatedSessions", right, expected, before, elsewhere))
