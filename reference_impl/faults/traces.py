"""What a sign-in leaves behind, and what is told of who signs in (several chapters)."""

from collections.abc import Callable
from typing import Any

from reference_impl.changes import handled, moved, together
from reference_impl.errors import Refusal
from reference_impl.faults.fault import fault, first, reported, then, turned
from reference_impl.faults.operations import (
    COMPLETE,
    HISTORY,
    INITIATE,
    PROFILE,
    SESSION_CONFIG,
    SESSIONS,
    TERMINATE,
)
from reference_impl.portal import Caller, Portal, Record
from reference_impl.routes import Handler
from reference_impl.shapes import Body


def _as_it_was_at_first(name: str) -> Callable[[Handler], Handler]:
    """The last sign-in of the config is the first one for good."""

    def around(handler: Handler) -> Handler:
        earliest: dict[str, Any] = {}

        def showing(portal: Portal, caller: Caller, body: Body) -> Any:
            data = handler(portal, caller, body)
            shown = earliest.setdefault(caller.account_id, data[name])
            return data | {name: shown}

        return showing

    return around


def _idle_from_the_start(item: Record) -> None:
    item["lastActivityTime"] = item["loginTime"]


def _a_day_old(item: Record) -> None:
    item["loginTime"] = item["loginTime"].replace(item["loginTime"][:4], str(int(item["loginTime"][:4]) - 1))


def _twice(methods: Any) -> Any:
    return [*methods, *methods[:1]]


def _active(status: Any) -> Any:
    return None if status is None else status | {"code": "ACTIVE", "value": 10010202}


def _dated_by_a_wrong_code(handler: Handler) -> Handler:
    def completing(portal: Portal, caller: Caller, body: Body) -> Any:
        try:
            return handler(portal, caller, body)
        except Refusal:
            session = portal.login_sessions.get(body["sessionId"])
            if session is not None:
                portal.security(session.account_id)["lastLoginAt"] = portal.now()
            raise

    return completing


def _single_sign_on(portal: Portal, caller: Caller, body: Body) -> None:
    session = portal.login_sessions[body["sessionId"]]
    security = portal.security(session.account_id)
    security["ssoEnabled"] = not security["ssoEnabled"]


def _refused_where_left(portal: Portal, caller: Caller, body: Body) -> None:
    if caller.session is not None and caller.session.state == "LEFT":
        raise Refusal("TOKEN_INVALID")


FAULTS = (
    fault("LOGIN-085", "the-first-method-is-named-twice", reported(INITIATE, "", mfaMethods=_twice)),
    fault(
        "LOGIN-086",
        "a-pending-account-is-shown-as-active",
        together(
            reported(INITIATE, "", accountStatus=_active), reported(COMPLETE, "", accountStatus=_active)
        ),
    ),
    fault(
        "SESSION-042",
        "the-last-login-is-the-first",
        handled(SESSION_CONFIG, _as_it_was_at_first("lastLoginAt")),
    ),
    fault(
        "SESSION-042",
        "the-last-login-came-from-elsewhere",
        reported(SESSION_CONFIG, "", lastLoginIp="192.0.2.200"),
    ),
    fault(
        "SESSION-042", "the-history-has-another-address", reported(HISTORY, "items[]", clientIp="192.0.2.200")
    ),
    fault("SESSION-042", "sessions-began-a-year-ago", turned(SESSIONS, "[]", _a_day_old)),
    fault(
        "SESSION-043", "no-session-is-active-after-its-login", turned(SESSIONS, "[]", _idle_from_the_start)
    ),
    fault(
        "MODEL-011",
        "a-wrong-code-dates-the-last-login",
        handled(COMPLETE, _dated_by_a_wrong_code),
        also="MODEL-010",
    ),
    fault("MODEL-022", "a-sign-in-switches-single-sign-on", then(COMPLETE, _single_sign_on)),
    fault(
        "SESSION-025",
        "a-terminated-session-still-lists-accounts",
        together(
            moved("session", "ACTIVE", "terminate", "LEFT"),
            moved("session", "LEFT", "call", "LEFT"),
            first(PROFILE, _refused_where_left),
        ),
        TERMINATE,
    ),
)
