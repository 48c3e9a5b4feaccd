"""Sessions and the login history (chapter "Security endpoints")."""

from collections.abc import Callable
from typing import Any

from reference_impl.changes import data_rewritten, handled, moved, rewritten, together
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import (
    Call,
    Serving,
    asked,
    first,
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
from reference_impl.portal import Caller, Portal, Record
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.wrappers import Seen


def _newest_is_current(seen: Seen, data: Any) -> None:
    newest = max(data, key=lambda session: str(session["loginTime"]))
    for session in data:
        session["isCurrent"] = session is newest


def _of_the_client(call: Call) -> Any:
    client = {"clientIp": call.caller.client_ip, "userAgent": call.caller.user_agent}
    return [session | client for session in call.run()]


def _the_first_page_again(body: Body) -> Body:
    """The second page of the history is the first, and says that it is the second."""
    return body | {"page": 1} if body.get("page") == 2 else body


def _named_as_asked(call: Call) -> Any:
    data = call.run_with(_the_first_page_again(call.body))
    page = call.body.get("page") or 1
    return data | {"pagination": data["pagination"] | {"currentPage": page}} if page == 2 else data


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


def _failures_forgotten(portal: Portal, caller: Caller, body: Body) -> None:
    account = portal.login_sessions[body["sessionId"]].account_id
    kept = [entry for entry in portal.history.get(account, []) if not entry["failureReason"]]
    portal.history[account] = kept


def _with_new_ids(call: Call) -> Any:
    data = call.run()
    items = [item | {"bizId": call.portal.new_id("login history")} for item in data["items"]]
    return data | {"items": items}


def _all_active(portal: Portal, caller: Caller, body: Body) -> None:
    for session in portal.sessions_of(caller.account_id):
        session.last_activity = portal.now()


def _listed_as_a_sign_in(portal: Portal, caller: Caller, body: Body) -> None:
    session = portal.login_sessions.get(body["sessionId"])
    if session is not None:
        portal.record_sign_in(session.account_id, caller)


def _newest_left_out(data: Any) -> Any:
    """The session that was opened last is not listed; the others are."""
    newest = max(data, key=lambda item: item["loginTime"])
    return [item for item in data if item is not newest or item["isCurrent"]]


def _one_spared(index: int) -> Serving:
    """One of the other sessions goes on, by its place among them from the oldest."""

    def terminating(call: Call) -> Any:
        others = [
            s for s in call.portal.sessions_of(call.caller.account_id) if s.id != call.caller.session_id
        ]
        data = call.run()
        if others:
            others[index].state = "ACTIVE"
        return data

    return terminating


def _unrecorded(call: Call) -> Any:
    """What happens at sign-in does not reach the history."""
    before = {account: list(entries) for account, entries in call.portal.history.items()}
    try:
        return call.run()
    finally:
        call.portal.history.clear()
        call.portal.history.update(before)


def _the_newest(call: Call) -> Any:
    """The pair is one of the account's newest session."""
    token = call.portal.refresh_tokens.get(call.body["refreshToken"])
    if token is not None and call.portal.sessions[token.session_id].state == "ACTIVE":
        account_id = call.portal.sessions[token.session_id].account_id
        token.session_id = call.portal.sessions_of(account_id)[-1].id
    return call.run()


def _anybodys_session(call: Call) -> Any:
    """Whoever names a session ends it."""
    session = call.portal.sessions.get(call.body["sessionId"])
    if session is None or session.account_id == call.caller.account_id:
        return call.run()
    call.portal.end(session, "terminate")
    return None


def _shown_by_the_reader(call: Call) -> Any:
    data = call.run()
    return data | {"items": [item | {"userAgent": call.caller.user_agent} for item in data["items"]]}


def _listing_all(call: Call) -> Any:
    """Ended sessions are listed with the others."""
    own = [
        session for session in call.portal.sessions.values() if session.account_id == call.caller.account_id
    ]
    states = [session.state for session in own]
    for session in own:
        session.state = "ACTIVE"
    data = call.run()
    for session, state in zip(own, states, strict=True):
        session.state = state
    return data


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


def _a_day_old(item: Record) -> None:
    item["loginTime"] = item["loginTime"].replace(item["loginTime"][:4], str(int(item["loginTime"][:4]) - 1))


def _refused_where_left(portal: Portal, caller: Caller, body: Body) -> None:
    if caller.session is not None and caller.session.state == "LEFT":
        raise Refusal("TOKEN_INVALID")


def _one_more(call: Call) -> Any:
    """A session more is let live than the account may have."""
    session = call.portal.login_sessions.get(call.body["sessionId"])
    security = call.portal.security(session.account_id) if session else {"maxSessions": 0}
    security["maxSessions"] += 1
    try:
        return call.run()
    finally:
        security["maxSessions"] -= 1


ROWS = {
    "SESSION-035 the-newest-session-is-the-current-one": rewritten(
        on_success(_newest_is_current), op.SESSIONS
    ),
    "SESSION-044 every-session-is-of-the-client-that-lists-it": served(op.SESSIONS, _of_the_client),
    "HISTORY-014 the-second-page-of-the-history-is-the-first": served(op.HISTORY, _named_as_asked),
    "HISTORY-019 history-ids-are-new-at-each-read": served(op.HISTORY, _with_new_ids),
    "HISTORY-018 a-sign-in-forgets-the-failures-before": then(op.COMPLETE, _failures_forgotten),
    "HISTORY-013 a-completed-sign-in-keeps-the-failure-before": handled(op.COMPLETE, _keeps_the_failure),
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
    "SESSION-020 every-session-is-current": data_rewritten(each(isCurrent=True), op.SESSIONS),
    "SESSION-021 new-sign-in-is-not-listed": data_rewritten(_newest_left_out, op.SESSIONS),
    "SESSION-022 newest-session-is-current-for-all": data_rewritten(
        lambda data: [item | {"isCurrent": at == 0} for at, item in enumerate(data)], op.SESSIONS
    ),
    "SESSION-023 activity-before-the-login": turned(
        op.SESSIONS, "[]", lambda item: item.update(lastActivityTime="2020-01-01T00:00:00.000Z")
    ),
    "SESSION-024 a-session-twice": data_rewritten(
        lambda data: [*data, data[-1] | {"isCurrent": False}], op.SESSIONS
    ),
    "SESSION-025 terminated-session-goes-on": together(
        moved("session", "ACTIVE", "terminate", "LEFT"), moved("session", "LEFT", "call", "LEFT")
    ).at(op.TERMINATE),
    "SESSION-025 SESSION-026 terminate-does-nothing": handled(
        op.TERMINATE, lambda handler: lambda portal, caller, body: None
    ),
    "SESSION-027 terminate-all-does-nothing": handled(
        op.TERMINATE_ALL, lambda handler: lambda portal, caller, body: None
    ),
    "SESSION-027 terminate-all-spares-the-newest": served(op.TERMINATE_ALL, _one_spared(-1)),
    "SESSION-039 terminate-all-spares-the-oldest": served(op.TERMINATE_ALL, _one_spared(0)),
    "SESSION-029 session-config-does-not-stick": pretending(op.SET_SESSION_CONFIG, "security"),
    "SESSION-032 session-config-takes-text": ruled(
        op.SET_SESSION_CONFIG,
        "maxConcurrentSessions",
        lambda value, limits: int(value) if str(value).isdigit() else 1,
    ),
    "SESSION-033 last-login-is-a-word": reported(op.SESSION_CONFIG, "", lastLoginAt="just now"),
    "HISTORY-009 refused-sign-ins-are-not-recorded": served(op.INITIATE, _unrecorded),
    "HISTORY-010 completed-sign-ins-are-not-recorded": served(op.COMPLETE, _unrecorded),
    "HISTORY-013 every-sign-in-has-a-reason": turned(
        op.HISTORY, "items[]", lambda item: item.update(failureReason=item["failureReason"] or "NONE")
    ),
    "HISTORY-013 no-sign-in-has-a-reason": turned(
        op.HISTORY, "items[]", lambda item: item.update(failureReason=None)
    ),
    "SESSION-037 anybodys-session-is-terminated": served(op.TERMINATE, _anybodys_session),
    "SESSION-036 a-refresh-takes-the-newest-session": served(op.REFRESH, _the_newest),
    "HISTORY-016 the-history-shows-its-reader": served(op.HISTORY, _shown_by_the_reader),
    "SESSION-031 logged-out-session-is-listed": served(op.SESSIONS, _listing_all),
    "SESSION-042 the-last-login-is-the-first": handled(op.SESSION_CONFIG, _as_it_was_at_first("lastLoginAt")),
    "SESSION-042 the-last-login-came-from-elsewhere": reported(
        op.SESSION_CONFIG, "", lastLoginIp="192.0.2.200"
    ),
    "SESSION-042 sessions-began-a-year-ago": turned(op.SESSIONS, "[]", _a_day_old),
    "SESSION-043 no-session-is-active-after-its-login": turned(
        op.SESSIONS, "[]", lambda item: item.update(lastActivityTime=item["loginTime"])
    ),
    "SESSION-025 a-terminated-session-still-lists-accounts": together(
        moved("session", "ACTIVE", "terminate", "LEFT"),
        moved("session", "LEFT", "call", "LEFT"),
        first(op.PROFILE, _refused_where_left),
    ).at(op.TERMINATE),
    "SESSION-041 a-session-more-than-allowed": served(op.COMPLETE, _one_more),
}
