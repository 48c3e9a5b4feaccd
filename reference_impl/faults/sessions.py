"""Sessions and the login history (chapter "Security endpoints")."""

from dataclasses import replace
from typing import Any

from reference_impl.changes import data_rewritten, moved, rewritten
from reference_impl.errors import INVALID
from reference_impl.faults import operations as op
from reference_impl.faults.fault import (
    Call,
    answered,
    asked,
    first,
    forgetting,
    on_success,
    pretending,
    refusing,
    reported,
    ruled,
    served,
    then,
    turned,
)
from reference_impl.faults.verbs import as_another, each, one_item_twice, where_refused
from reference_impl.portal import Caller, Portal
from reference_impl.shapes import Body
from reference_impl.wrappers import Seen


def _newest_is_current(seen: Seen, data: Any) -> None:
    newest = max(data, key=lambda session: str(session["loginTime"]))
    for session in data:
        session["isCurrent"] = session is newest


def _failures_forgotten(portal: Portal, caller: Caller, body: Body) -> None:
    account = portal.login_sessions[body["sessionId"]].account_id
    portal.history[account] = [entry for entry in portal.history[account] if not entry["failureReason"]]


def _all_active(portal: Portal, caller: Caller, body: Body) -> None:
    for session in portal.sessions_of(caller.account_id):
        session.last_activity = portal.now()


def _listed_as_a_sign_in(portal: Portal, caller: Caller, body: Body) -> None:
    session = portal.login_sessions.get(body["sessionId"])
    if session is not None:
        portal.record_sign_in(session.account_id, caller)


def _newest_left_out(data: Any) -> Any:
    """Omits the newest session from the list, unless it is the current session."""
    newest = max(data, key=lambda item: item["loginTime"])
    return [item for item in data if item is not newest or item["isCurrent"]]


def _oldest_spared(call: Call) -> Any:
    """Leaves the oldest of the other sessions active."""
    own = call.portal.sessions_of(call.caller.account_id)
    others = [session for session in own if session.id != call.caller.session_id]
    data = call.run()
    if others:
        others[0].state = "ACTIVE"
    return data


def _the_newest(call: Call) -> Any:
    """The pair is one of the account's newest session."""
    token = call.portal.refresh_tokens.get(call.body["refreshToken"])
    session = call.portal.sessions[token.session_id] if token else None
    if token and session and session.state == "ACTIVE":
        token.session_id = call.portal.sessions_of(session.account_id)[-1].id
    return call.run()


def _anybodys_session(call: Call) -> Any:
    """Whoever names a session ends it."""
    session = call.portal.sessions.get(call.body["sessionId"])
    if session is None or session.account_id == call.caller.account_id:
        return call.run()
    call.portal.end(session, "terminate")
    return None


def _listing_all(call: Call) -> Any:
    """Ended sessions are listed with the others."""
    own = call.portal.sessions
    call.portal.sessions = {id: replace(session, state="ACTIVE") for id, session in own.items()}
    try:
        return call.run()
    finally:
        call.portal.sessions = own


def _a_year_before(moment: str) -> str:
    return f"{int(moment[:4]) - 1}{moment[4:]}"


def _one_more(call: Call) -> Any:
    """A session more is let live than the account may have."""
    security = (
        call.portal.security(call.login_session.account_id) if call.login_session else {"maxSessions": 0}
    )
    security["maxSessions"] += 1
    try:
        return call.run()
    finally:
        security["maxSessions"] -= 1


ROWS = {
    "SESSION-035 the-newest-session-is-the-current-one": rewritten(
        on_success(_newest_is_current), op.SESSIONS
    ),
    "SESSION-044 every-session-is-of-the-client-that-lists-it": answered(
        op.SESSIONS,
        lambda call, data: each(clientIp=call.caller.client_ip, userAgent=call.caller.user_agent)(data),
    ),
    "HISTORY-019 history-ids-are-new-at-each-read": answered(
        op.HISTORY,
        lambda call, data: (
            data
            | {"items": [item | {"bizId": call.portal.new_id("login history")} for item in data["items"]]}
        ),
    ),
    "HISTORY-018 a-sign-in-forgets-the-failures-before": then(op.COMPLETE, _failures_forgotten),
    "SESSION-045 terminate-all-asks-for-a-body": refusing(op.TERMINATE_ALL, INVALID),
    "SESSION-038 one-call-makes-all-sessions-active": first(op.SESSIONS, _all_active),
    "HISTORY-017 a-wrong-code-is-listed-as-a-sign-in": where_refused(op.COMPLETE, _listed_as_a_sign_in),
    "SESSION-040 a-terminated-session-is-refreshed": moved("session", "ENDED", "refresh", "ENDED").at(
        op.TERMINATE
    ),
    "SESSION-030 one-session-config-for-all": served(op.SESSION_CONFIG, as_another),
    "HISTORY-012 history-pages-of-ten": asked(op.HISTORY, lambda body: {"pageSize": 10} | body),
    "HISTORY-014 an-entry-twice-on-a-page": turned(op.HISTORY, "", one_item_twice("items")),
    "SESSION-020 no-session-is-current": data_rewritten(each(isCurrent=False), op.SESSIONS),
    "SESSION-021 new-sign-in-is-not-listed": data_rewritten(_newest_left_out, op.SESSIONS),
    "SESSION-022 newest-session-is-current-for-all": data_rewritten(
        lambda data: [item | {"isCurrent": at == 0} for at, item in enumerate(data)], op.SESSIONS
    ),
    "SESSION-023 activity-before-the-login": reported(
        op.SESSIONS, "[]", lastActivityTime="2020-01-01T00:00:00.000Z"
    ),
    "SESSION-024 a-session-twice": data_rewritten(
        lambda data: [*data, data[-1] | {"isCurrent": False}], op.SESSIONS
    ),
    "SESSION-025 SESSION-026 terminate-does-nothing": served(op.TERMINATE, lambda call: None),
    "SESSION-027 terminate-all-does-nothing": served(op.TERMINATE_ALL, lambda call: None),
    "SESSION-039 terminate-all-spares-the-oldest": served(op.TERMINATE_ALL, _oldest_spared),
    "SESSION-029 session-config-does-not-stick": pretending(op.SET_SESSION_CONFIG, "security"),
    "SESSION-032 session-config-takes-text": ruled(
        op.SET_SESSION_CONFIG,
        "maxConcurrentSessions",
        lambda value, limits: int(value) if str(value).isdigit() else 1,
    ),
    "SESSION-033 last-login-is-a-word": reported(op.SESSION_CONFIG, "", lastLoginAt="just now"),
    "HISTORY-009 refused-sign-ins-are-not-recorded": forgetting(op.INITIATE, "history"),
    "HISTORY-010 completed-sign-ins-are-not-recorded": forgetting(op.COMPLETE, "history"),
    "HISTORY-013 every-sign-in-has-a-reason": reported(
        op.HISTORY, "items[]", failureReason=lambda reason: reason or "NONE"
    ),
    "HISTORY-013 no-sign-in-has-a-reason": reported(op.HISTORY, "items[]", failureReason=None),
    "SESSION-037 anybodys-session-is-terminated": served(op.TERMINATE, _anybodys_session),
    "SESSION-036 a-refresh-takes-the-newest-session": served(op.REFRESH, _the_newest),
    "HISTORY-016 the-history-shows-its-reader": answered(
        op.HISTORY, lambda call, data: data | {"items": each(userAgent=call.caller.user_agent)(data["items"])}
    ),
    "SESSION-031 logged-out-session-is-listed": served(op.SESSIONS, _listing_all),
    "SESSION-042 the-last-login-is-the-first": answered(
        op.SESSION_CONFIG,
        lambda call, data: (
            data | {"lastLoginAt": call.memory.setdefault(call.caller.account_id, data["lastLoginAt"])}
        ),
    ),
    "SESSION-042 sessions-began-a-year-ago": reported(op.SESSIONS, "[]", loginTime=_a_year_before),
    "SESSION-043 no-session-is-active-after-its-login": turned(
        op.SESSIONS, "[]", lambda item: item.update(lastActivityTime=item["loginTime"])
    ),
    "SESSION-041 a-session-more-than-allowed": served(op.COMPLETE, _one_more),
}
