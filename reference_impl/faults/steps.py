"""What the steps of a sign-in, and refreshing, let through (chapter "Moves that are stated")."""

from collections.abc import Callable
from typing import Any

from reference_impl.changes import Change, handled, together
from reference_impl.errors import Refusal
from reference_impl.faults.fault import asked, fault, first, optional
from reference_impl.faults.operations import COMPLETE, REFRESH, SEND
from reference_impl.faults.side_effects import where_refused
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body

NO_METHOD = 99999999
SENT = {"sent": True, "cooldownSeconds": 60, "codeExpiresIn": 300}


def _sent_for_the_used_up(handler: Handler) -> Handler:
    def sending(portal: Portal, caller: Caller, body: Body) -> Any:
        session = portal.login_sessions.get(body["sessionId"])
        if session is not None and session.state == "CONSUMED":
            return SENT
        return handler(portal, caller, body)

    return sending


def _sent_for_the_used_up_later(handler: Handler) -> Handler:
    """As long as the cooldown of its last code runs it is refused for that."""

    def sending(portal: Portal, caller: Caller, body: Body) -> Any:
        session = portal.login_sessions.get(body["sessionId"])
        code = portal.mfa_codes.get(body["sessionId"])
        if session is None or code is None or session.state != "CONSUMED" or session.expires <= portal.now():
            return handler(portal, caller, body)
        if portal.now() < code.sent + portal.limits.mfa_cooldown:
            raise Refusal("AUTH.MFA_SEND_COOLDOWN")
        return SENT

    return sending


def _cooldown_lifted(portal: Portal, caller: Caller, body: Body) -> None:
    code = portal.mfa_codes.get(str(body.get("sessionId")))
    if code:
        code.sent = 0


def _sent_for_the_expired(handler: Handler) -> Handler:
    def sending(portal: Portal, caller: Caller, body: Body) -> Any:
        session = portal.login_sessions.get(body["sessionId"])
        if session is not None and session.expires <= portal.now():
            return SENT
        return handler(portal, caller, body)

    return sending


def _unknown_method_is_not_found(portal: Portal, caller: Caller, body: Body) -> None:
    if body["method"] == NO_METHOD:
        raise Refusal("RESOURCE.NOT_FOUND")


def _without_method(operation: str) -> Change:
    """A method that is left out is looked up, and not found."""
    return together(first(operation, _unknown_method_is_not_found), optional(operation, "method", NO_METHOD))


def _any_method_is_mail(body: Body) -> Body:
    is_one = body["method"] in (10011001, 10011002)
    return body if is_one else body | {"method": 10011001}


def _ended_by_the_third_wrong_code(handler: Handler) -> Handler:
    wrong: dict[str, int] = {}

    def completing(portal: Portal, caller: Caller, body: Body) -> Any:
        id = body["sessionId"]
        try:
            return handler(portal, caller, body)
        except Refusal as refusal:
            if refusal.name == "AUTH.MFA_CODE_INVALID":
                wrong[id] = wrong.get(id, 0) + 1
                if wrong[id] == 3:
                    del portal.login_sessions[id]
            raise

    return completing


def _of_another(handler: Handler) -> Handler:
    """The session that is refreshed is taken over by another account that is signed in."""

    def refreshing(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        token = portal.refresh_tokens[body["refreshToken"]]
        own = portal.sessions[token.session_id]
        for session in portal.sessions.values():
            if session.account_id != own.account_id and session.state == "ACTIVE":
                claims = portal.tokens.read(data["accessToken"])
                claims |= {"sub": session.account_id, "sid": session.id}
                return data | {"accessToken": portal.tokens.issue(claims)}
        return data

    return refreshing


def _once_refreshed(portal: Portal, caller: Caller, body: Body) -> None:
    """What was given by a refresh is refreshed no more."""
    token = portal.refresh_tokens.get(body["refreshToken"])
    if token is not None:
        family = [other for other in portal.refresh_tokens.values() if other.session_id == token.session_id]
        if len(family) > 1:
            token.state = "USED"


def _named(claim: str, field: str) -> Callable[[Handler], Handler]:
    """The access token repeats a field of the profile, in a claim within another."""

    def around(handler: Handler) -> Handler:
        def issuing(portal: Portal, caller: Caller, body: Body) -> Any:
            data = handler(portal, caller, body)
            claims = portal.tokens.read(data["accessToken"])
            value = portal.find("account", claims["sub"])[field]
            return data | {"accessToken": portal.tokens.issue(claims | {"ctx": {claim: value}})}

        return issuing

    return around


FAULTS = (
    fault(
        "LOGIN-080",
        "the-third-wrong-code-ends-a-login-session",
        handled(COMPLETE, _ended_by_the_third_wrong_code),
    ),
    fault("LOGIN-069", "send-without-method-is-404", _without_method(SEND)),
    fault("LOGIN-070", "complete-without-method-is-404", _without_method(COMPLETE)),
    fault("LOGIN-071", "complete-without-session-is-404", optional(COMPLETE, "sessionId", "none")),
    fault("LOGIN-025", "a-wrong-code-lifts-the-cooldown", where_refused(COMPLETE, _cooldown_lifted), SEND),
    fault("LOGIN-072", "a-used-up-session-is-sent-a-code", handled(SEND, _sent_for_the_used_up)),
    fault(
        "LOGIN-072",
        "a-used-up-session-is-sent-a-code-after-the-cooldown",
        handled(SEND, _sent_for_the_used_up_later),
    ),
    fault(
        "LOGIN-073",
        "an-expired-session-is-sent-a-code",
        handled(SEND, _sent_for_the_expired),
        also="LOGIN-025",
    ),
    fault("LOGIN-074", "a-code-is-sent-by-any-method", asked(SEND, _any_method_is_mail)),
    fault("TOKEN-026", "a-refresh-gives-the-token-of-another", handled(REFRESH, _of_another)),
    fault(
        "TOKEN-027",
        "a-refreshed-pair-is-refreshed-no-more",
        first(REFRESH, _once_refreshed),
        also="AUTHN-012",
    ),
    fault(
        "TOKEN-028", "a-nested-claim-holds-the-name", handled(COMPLETE, _named("displayName", "accountName"))
    ),
    fault("TOKEN-028", "a-nested-claim-holds-the-phone", handled(COMPLETE, _named("tel", "accountPhone"))),
)
