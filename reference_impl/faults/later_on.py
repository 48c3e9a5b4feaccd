"""Sign-in, tokens and passwords that are right at first, and wrong later on or at another endpoint."""

from typing import Any

from starlette.types import Scope

from reference_impl.changes import chosen, handled, rewritten, together
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults.fault import asked, fault, first, refusing, then
from reference_impl.faults.headers import Names, adding
from reference_impl.faults.operations import (
    ACCEPT,
    CHANGE,
    COMPLETE,
    FILE,
    HISTORY,
    INITIATE,
    LOGOUT,
    ROLE,
    ROLES,
    SEND,
    SET_WHITELIST,
    TERMINATE_ALL,
)
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal, Session
from reference_impl.routes import Handler
from reference_impl.shapes import Body, checked
from reference_impl.wrappers import Answer, Seen

OCTETS = 72


def _keeps_the_failure(handler: Handler) -> Handler:
    """A sign-in that is completed after a wrong code is written as the failure before it."""
    failed: set[str] = set()

    def completing(portal: Portal, caller: Caller, body: Body) -> Any:
        try:
            data = handler(portal, caller, body)
        except Refusal:
            failed.add(body["sessionId"])
            raise
        if body["sessionId"] in failed:
            account = portal.login_sessions[body["sessionId"]].account_id
            portal.history[account][-1]["failureReason"] = "MFA_CODE_INVALID"
        return data

    return completing


def _form_first(plan: Plan) -> None:
    def rewriting(seen: Seen, answer: Answer) -> None:
        if answer.status == 401:
            try:
                checked(plan.rows[seen.operation].takes, seen.body, limits=seen.portal.limits, strict=True)
            except Refusal:
                answer.status = 400
                answer.body |= {"code": INVALID, "message": INVALID}

    rewritten(rewriting, SET_WHITELIST)(plan)


def _session_of(scope: Scope, names: Names) -> Session | None:
    """Of a bearer token that the portal issued, be it over or not."""
    portal: Portal = scope["app"].state.portal
    scheme, _, token = names.get("authorization", "").partition(" ")
    try:
        return portal.sessions.get(portal.tokens.read(token).get("sid", "")) if scheme == "Bearer" else None
    except Refusal:
        return None


def _outlives(scope: Scope, names: Names) -> Names:
    """A token that has expired is taken for a new one of its session."""
    portal: Portal = scope["app"].state.portal
    session = _session_of(scope, names)
    if session is None:
        return names
    return names | {
        "authorization": f"Bearer {portal.tokens.issue({'sid': session.id, 'exp': portal.now() + 60})}"
    }


def _by_its_account(scope: Scope, names: Names) -> Names:
    """A token of a session that was ended is taken for another of its account."""
    portal: Portal = scope["app"].state.portal
    session = _session_of(scope, names)
    if session is None or portal.next_state("session", session.state, "call") is not None:
        return names
    own = [each for each in portal.sessions_of(session.account_id) if each.id != session.id]
    if not own:
        return names
    return names | {
        "authorization": f"Bearer {portal.tokens.issue({'sid': own[-1].id, 'exp': portal.now() + 60})}"
    }


def _in_the_language_of_the_account(scope: Scope, names: Names) -> Names:
    portal: Portal = scope["app"].state.portal
    session = _session_of(scope, names)
    if session is None or "accept-language" in names:
        return names
    return names | {"accept-language": portal.find("account", session.account_id)["defaultLanguage"]}


def _closed_by_its_use(portal: Portal, caller: Caller, body: Body) -> None:
    portal.secure_sessions[str(caller.secure_session_id)].state = "CLOSED"


def _cut(body: Body) -> Body:
    return {
        name: value[:OCTETS] if "assword" in name and isinstance(value, str) else value
        for name, value in body.items()
    }


def _unknown_to_send(plan: Plan) -> None:
    """A login session for which a wrong code was sent is unknown where another is to be mailed."""
    tried: set[str] = set()

    def completing(handler: Handler) -> Handler:
        def trying(portal: Portal, caller: Caller, body: Body) -> Any:
            try:
                return handler(portal, caller, body)
            except Refusal:
                tried.add(body["sessionId"])
                raise

        return trying

    def sending(portal: Portal, caller: Caller, body: Body) -> None:
        if body["sessionId"] in tried:
            raise Refusal("AUTH.SESSION_NOT_FOUND")

    together(handled(COMPLETE, completing), first(SEND, sending))(plan)


def _also_once_cancelled(handler: Handler) -> Handler:
    """What was cancelled is accepted as if it were open still, and is listed as what it is until then."""

    def accepting(portal: Portal, caller: Caller, body: Body) -> Any:
        record = portal.find("invitation", body["invitationBizId"])
        if record["invitationStatus"] == "CANCELLED":
            portal.change("invitation", record["bizId"], invitationStatus="PENDING")
        return handler(portal, caller, body)

    return accepting


def _codes_of_others_end(portal: Portal, caller: Caller, body: Body) -> None:
    session = portal.login_sessions.get(body["sessionId"])
    for id, code in portal.mfa_codes.items():
        other = portal.login_sessions.get(id)
        if session is not None and other is not None and other.account_id != session.account_id:
            code.expires = min(code.expires, portal.now())


def _last_login_forgotten(portal: Portal, caller: Caller, body: Body) -> None:
    portal.security(caller.account_id).update(lastLoginAt=None, lastLoginIp=None)


def _failures_forgotten(portal: Portal, caller: Caller, body: Body) -> None:
    account = portal.login_sessions[body["sessionId"]].account_id
    kept = [entry for entry in portal.history.get(account, []) if not entry["failureReason"]]
    portal.history[account] = kept


def _window_emptied(portal: Portal, caller: Caller, body: Body) -> None:
    portal.initiations.clear()


def _with_new_ids(handler: Handler) -> Handler:
    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        items = [item | {"bizId": portal.new_id("login history")} for item in data["items"]]
        return data | {"items": items}

    return listing


FAULTS = (
    fault(
        "HISTORY-019", "history-ids-are-new-at-each-read", handled(HISTORY, _with_new_ids), also="HISTORY-017"
    ),
    fault("HISTORY-018", "a-sign-in-forgets-the-failures-before", then(COMPLETE, _failures_forgotten)),
    fault(
        "HISTORY-013", "a-completed-sign-in-keeps-the-failure-before", handled(COMPLETE, _keeps_the_failure)
    ),
    fault("AUTHN-023", "a-body-is-judged-before-the-token", _form_first, SET_WHITELIST),
    fault("AUTHN-024", "files-are-read-by-expired-tokens", adding(_outlives, FILE)),
    fault("AUTHN-024", "roles-are-read-after-a-logout", adding(_by_its_account, ROLES)),
    fault("SECURE-036", "a-secure-session-serves-once", then(CHANGE, _closed_by_its_use)),
    fault(
        "SECURE-036",
        "a-used-secure-session-is-called-expired",
        together(
            chosen(secure_session_unknown_code="SECURE_CHANNEL.SESSION_EXPIRED"),
            then(CHANGE, _closed_by_its_use),
        ),
    ),
    fault("LOGIN-090", "a-wrong-code-ends-mails", _unknown_to_send, SEND),
    fault("SESSION-045", "terminate-all-asks-for-a-body", refusing(TERMINATE_ALL, INVALID)),
    fault("INVITATION-029", "a-cancelled-invitation-is-accepted", handled(ACCEPT, _also_once_cancelled)),
    fault(
        "PASSWORD-024", "passwords-are-cut-at-72-octets", together(asked(CHANGE, _cut), asked(INITIATE, _cut))
    ),
    fault(
        "HEADER-024", "errors-in-the-language-of-the-account", adding(_in_the_language_of_the_account, ROLE)
    ),
    fault("LOGIN-089", "a-send-ends-the-codes-of-others", first(SEND, _codes_of_others_end)),
    fault("MODEL-023", "a-logout-forgets-the-last-login", first(LOGOUT, _last_login_forgotten)),
    fault("LIMIT-017", "a-completed-sign-in-empties-the-window", then(COMPLETE, _window_emptied)),
)
