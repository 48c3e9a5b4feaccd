"""What ends a moment too soon (several chapters)."""

from typing import Any

from reference_impl.changes import handled
from reference_impl.errors import Refusal
from reference_impl.faults.fault import asked, fault, first, reported, then
from reference_impl.faults.operations import (
    COMPLETE,
    INVITE,
    ORDERS,
    PROFILE,
    SECURE_SESSION,
    SEND,
)
from reference_impl.faults.stored import newest_with
from reference_impl.portal import Caller, Portal, Record
from reference_impl.routes import Handler
from reference_impl.shapes import Body


def _token_ends_early(handler: Handler) -> Handler:
    """Any access token is refused two minutes before its end."""

    def reading(portal: Portal, caller: Caller, body: Body) -> Any:
        session = caller.session
        issued = [
            each for each in portal.refresh_tokens.values() if session and each.session_id == session.id
        ]
        began = max(each.expires for each in issued) - portal.limits.refresh_token
        if portal.now() > began + portal.limits.access_token - 120:
            raise Refusal("TOKEN_INVALID")
        return handler(portal, caller, body)

    return reading


EARLY = 3.0


def _cooldown_ends_early(handler: Handler) -> Handler:
    def sending(portal: Portal, caller: Caller, body: Body) -> Any:
        last = portal.mfa_codes.get(body["sessionId"])
        if last is None:
            return handler(portal, caller, body)
        last.sent -= EARLY
        try:
            return handler(portal, caller, body)
        finally:
            last.sent += EARLY

    return sending


def _session_ends_early(handler: Handler) -> Handler:
    def completing(portal: Portal, caller: Caller, body: Body) -> Any:
        session = portal.login_sessions.get(body["sessionId"])
        if session is not None and session.expires - EARLY <= portal.now():
            raise Refusal("AUTH.SESSION_NOT_FOUND")
        return handler(portal, caller, body)

    return completing


def _code_ends_early(portal: Portal, caller: Caller, body: Body) -> None:
    """A mailed code lives for a minute, whatever was said when it was sent."""
    code = portal.mfa_codes.get(body["sessionId"])
    if code is not None and portal.now() > code.sent + 60:
        code.expires = min(code.expires, portal.now())


QUARTER, HOUR, DAY = 900, 3600, 86_400


def _range_ends_early(body: Body) -> Body:
    """Of the last day nothing is given, at any time of the day."""
    return body | {"endTime": body["endTime"] - DAY} if "endTime" in body else body


def _hours_before_its_end(invitation: Record) -> float:
    """Not at a quarter of an hour, where a day may end in some zone."""
    return float((invitation["expiresAt"] - 9 * HOUR) // QUARTER * QUARTER + QUARTER / 2)


FAULTS = (
    fault("AUTHN-021", "access-tokens-end-two-minutes-early", handled(PROFILE, _token_ends_early)),
    fault("LOGIN-025", "a-cooldown-ends-three-seconds-early", handled(SEND, _cooldown_ends_early)),
    fault("LOGIN-034", "a-login-session-ends-three-seconds-early", handled(COMPLETE, _session_ends_early)),
    fault("LOGIN-088", "a-mailed-code-lives-a-minute", first(COMPLETE, _code_ends_early)),
    fault(
        "SECURE-033",
        "an-encrypted-channel-ends-a-minute-before-it-says",
        reported(SECURE_SESSION, "", expiresAt=lambda end: end + 60_000),
    ),
    fault("ORDER-042", "a-range-ends-a-day-early", asked(ORDERS, _range_ends_early)),
    fault(
        "INVITE-009",
        "an-invitation-ends-hours-early",
        then(INVITE, newest_with("invitation", expiresAt=_hours_before_its_end)),
    ),
)
