"""Requests that change more than they name; sign-ins, sessions and reads that disturb their neighbours."""

import copy
from collections.abc import Callable
from typing import Any

from reference_impl.changes import Change, data_rewritten, handled, rewritten
from reference_impl.errors import Refusal
from reference_impl.faults.fault import fault, first, on_success, then, turned
from reference_impl.faults.operations import (
    ACCEPT,
    ACCOUNT_PASSWORD,
    BACKUP_GENERATE,
    CANCEL,
    CHANNEL_UPDATE,
    COMMAND,
    COMPLETE,
    FILE,
    FORGOT,
    HISTORY,
    INITIATE,
    INSTITUTION,
    ORDERS,
    OTP_REVOKE,
    OTP_VERIFY,
    OWN_INVITATIONS,
    PROFILE_UPDATE,
    REFRESH,
    REVOKE,
    ROLE,
    SECURE_SESSION,
    SEND,
    SET_SESSION_CONFIG,
    SET_WHITELIST,
    TERMINATE,
    TERMINATE_ALL,
    TYPE_UPDATE,
    constants,
)
from reference_impl.handlers.passwords import send_password_code
from reference_impl.portal import Caller, Portal, Record
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.wrappers import Answer, Seen

Action = Callable[[Portal, Caller, Body], None]


def where_refused(operation: str, action: Action) -> Change:
    """Something is done although the handler refuses."""

    def around(handler: Handler) -> Handler:
        def acting(portal: Portal, caller: Caller, body: Body) -> Any:
            try:
                return handler(portal, caller, body)
            except Refusal:
                action(portal, caller, body)
                raise

        return acting

    return handled(operation, around)


def where_refused_by_anyone(operation: str, action: Callable[[Seen], None], *statuses: int) -> Change:
    """Something is done although the request is refused, by one of these statuses, before the handler or in
    it."""

    def acting(seen: Seen, answer: Answer) -> None:
        if answer.status in statuses and isinstance(seen.body, dict):
            action(seen)

    return rewritten(acting, operation)


def _deactivated_all_the_same(seen: Seen) -> None:
    channel = seen.portal.records["channel"].get(seen.body.get("bizId"))
    if channel is not None:
        channel["channelStatus"] = "INACTIVE"


def _texts_stored_all_the_same(seen: Seen) -> None:
    sessions = seen.portal.sessions
    claims = seen.portal.tokens.read(seen.asked.bearer or "")
    account = seen.portal.find("account", sessions[claims["sid"]].account_id)
    account.update({name: text for name, text in seen.body.items() if name in account and type(text) is str})


def _password_code_mailed_all_the_same(seen: Seen) -> None:
    email = seen.body.get("email")
    account = seen.portal.account_of(email) if isinstance(email, str) else None
    if account is not None:
        send_password_code(seen.portal, account)


def _mailed_anyway(portal: Portal, caller: Caller, body: Body) -> None:
    session = portal.login_sessions.get(body.get("sessionId", ""))
    if session is not None:
        email = portal.find("account", session.account_id)["accountEmail"]
        portal.mail(email, "Your sign-in code", code=portal.draw.digits(portal.limits.mfa_code_digits))


def _end_others_of(portal: Portal, account_id: str, *, but: str | None = None) -> None:
    for session in portal.sessions_of(account_id):
        if session.id != but:
            portal.end(session, "terminate")


# Security settings.


def _email_verified_now(portal: Portal, caller: Caller, body: Body) -> None:
    factors = copy.deepcopy(portal.security(caller.account_id)["factors"])
    factors["EMAIL"]["verifiedAt"] = portal.now() - 86_400
    portal.change("security", caller.account_id, factors=factors)


def _most_raised(portal: Portal, caller: Caller, body: Body) -> None:
    portal.change("security", caller.account_id, maxSessions=99)


def _single_sign_on(portal: Portal, caller: Caller, body: Body) -> None:
    security = portal.security(caller.account_id)
    portal.change("security", caller.account_id, ssoEnabled=not security["ssoEnabled"])


def _never_emptied(handler: Handler) -> Handler:
    def setting(portal: Portal, caller: Caller, body: Body) -> Any:
        kept = portal.security(caller.account_id)["whitelist"]
        data = handler(portal, caller, body)
        if not body["ips"]:
            portal.change("security", caller.account_id, whitelist=kept)
        return data

    return setting


def _with_what_is_set_up(handler: Handler) -> Handler:
    """The authenticator is offered from its set-up on."""

    def initiating(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        account = portal.account_of(body["email"]) or {}
        if account and portal.security(account["bizId"])["otpOffered"]:
            methods = [portal.enumeration("user-mfa-methods", name) for name in ("EMAIL", "OTP")]
            data = data | {"mfaMethods": methods}
        return data

    return initiating


# Sessions.


def _of_the_same_account(portal: Portal, caller: Caller, body: Body) -> None:
    """Of the other sessions the one that began last goes as well."""
    left = [each for each in portal.sessions_of(caller.account_id) if each.id != body["sessionId"]]
    for session in left[-1:]:
        portal.end(session, "terminate")


def _everybodys(portal: Portal, caller: Caller, body: Body) -> None:
    for session in list(portal.sessions.values()):
        if session.account_id != caller.account_id and session.state == "ACTIVE":
            portal.end(session, "terminate")


def _signed_in_by_refresh(portal: Portal, caller: Caller, body: Body) -> None:
    token = portal.refresh_tokens.get(body["refreshToken"])
    if token is not None:
        account_id = portal.sessions[token.session_id].account_id
        portal.security(account_id).update(lastLoginAt=portal.now() + 2, lastLoginIp="192.0.2.77")


def _the_newest(handler: Handler) -> Handler:
    """The pair is one of the account's newest session."""

    def refreshing(portal: Portal, caller: Caller, body: Body) -> Any:
        token = portal.refresh_tokens.get(body["refreshToken"])
        if token is not None and portal.sessions[token.session_id].state == "ACTIVE":
            account_id = portal.sessions[token.session_id].account_id
            token.session_id = portal.sessions_of(account_id)[-1].id
        return handler(portal, caller, body)

    return refreshing


def _signed_out(portal: Portal, caller: Caller, body: Body) -> None:
    account = portal.account_of(body["email"])
    if account is not None:
        _end_others_of(portal, account["bizId"])


def _administrators_password_dated(portal: Portal, caller: Caller, body: Body) -> None:
    portal.security(caller.account_id)["passwordChangedAt"] = portal.now()


def _login_sessions_ended(portal: Portal, caller: Caller, body: Body) -> None:
    account = portal.account_of(body["email"])
    for id, session in list(portal.login_sessions.items()):
        if account is not None and session.account_id == account["bizId"]:
            del portal.login_sessions[id]


def _anybodys_session(handler: Handler) -> Handler:
    """Whoever names a session ends it."""

    def terminating(portal: Portal, caller: Caller, body: Body) -> Any:
        session = portal.sessions.get(body["sessionId"])
        if session is None or session.account_id == caller.account_id:
            return handler(portal, caller, body)
        portal.end(session, "terminate")
        return None

    return terminating


def _anybodys_code(handler: Handler) -> Handler:
    """A code that was mailed for one login session completes another one."""

    def completing(portal: Portal, caller: Caller, body: Body) -> Any:
        session = portal.login_sessions.get(body["sessionId"])
        for id, code in list(portal.mfa_codes.items()):
            is_live = code.text == body["code"] and code.state == "SENT" and code.expires > portal.now()
            if session is not None and is_live and id not in (session.id, session.account_id):
                own = session.id if id in portal.login_sessions else session.account_id
                portal.mfa_codes[own] = copy.copy(code)
        return handler(portal, caller, body)

    return completing


def _approved(seen: Seen, data: Any) -> None:
    data["pendingApproval"] = False


# Invitations, grants, channels.


def _alone_in_it(portal: Portal, caller: Caller, body: Body) -> None:
    workspace = portal.find("invitation", body["invitationBizId"])["workspaceBizId"]
    others = [id for id in portal.records["workspace"] if id not in caller.account["workspaceBizIds"]]
    kept = [workspace] if len(caller.account["workspaceBizIds"]) > 1 else others[:1]
    portal.change("account", caller.account_id, workspaceBizIds=kept)


def _joined_all_the_same(portal: Portal, caller: Caller, body: Body) -> None:
    mine = caller.account["workspaceBizIds"]
    further = [id for id in portal.records["workspace"] if id not in mine][:1]
    portal.change("account", caller.account_id, workspaceBizIds=[*mine, *further])


def _reason_for_message(portal: Portal, caller: Caller, body: Body) -> None:
    portal.change("invitation", body["invitationBizId"], message=body.get("reason"))


def _all_of_them(portal: Portal, caller: Caller, body: Body) -> None:
    for grant in portal.records["currency grant"].values():
        grant["grantStatus"] = portal.find("currency grant", body["bizId"])["grantStatus"]


def _neighbour(kind: str, **values: Any) -> Action:
    """Another record of the kind is changed too."""

    def changing(portal: Portal, caller: Caller, body: Body) -> None:
        others = [record for id, record in portal.records[kind].items() if id != body.get("bizId")]
        for record in others[-1:]:
            record.update(values)

    return changing


def _named_like_the_inviter(item: Record) -> None:
    item["inviteeAccountName"] = item["inviterName"]


# Reading.


def _moved_by_a_read(kind: str, name: str) -> Action:
    def reading(portal: Portal, caller: Caller, body: Body) -> None:
        portal.find(kind, body[name])["updatedAt"] = portal.now()

    return reading


def _hashed_anew(seen: Seen, data: Any) -> None:
    seen.memory["reads"] = seen.memory.get("reads", 0) + 1
    data["etag"] = f"read-{seen.memory['reads']:08d}"


def _created_anew(seen: Seen, data: Any) -> None:
    seen.memory["reads"] = seen.memory.get("reads", 0) + 1
    created = data["createdAt"]
    data["createdAt"] = f"{created[:17]}{seen.memory['reads'] % 60:02d}{created[19:]}"


def _shown_by_the_reader(handler: Handler) -> Handler:
    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        return data | {"items": [item | {"userAgent": caller.user_agent} for item in data["items"]]}

    return listing


# Orders, constants, the secure channel.


def _from_the_end(handler: Handler) -> Handler:
    """Without a start the range begins thirty days before its end."""

    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        if "endTime" in body and "startTime" not in body:
            body = body | {"startTime": body["endTime"] - portal.limits.default_range_days * 86_400}
        return handler(portal, caller, body)

    return listing


def _of_the_header(handler: Handler) -> Handler:
    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        return handler(portal, caller, body | {"workspaceId": caller.workspace_id or body["workspaceId"]})

    return listing


def _extras_of_the_first(data: Any) -> Any:
    own = ("code", "value", "label", "description")
    extras = {name: value for name, value in data[0].items() if name not in own}
    return [item | extras for item in data]


def _others_closed(handler: Handler) -> Handler:
    def opening(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        for id, session in portal.secure_sessions.items():
            session.expires = session.expires if id == data["sessionId"] else 0
        return data

    return opening


def _ended_half_way(handler: Handler) -> Handler:
    def opening(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        session = portal.secure_sessions[data["sessionId"]]
        session.expires -= portal.limits.secure_session / 2
        return data

    return opening


def _half_written(portal: Portal, caller: Caller, body: Body) -> None:
    """The addresses before the one that is none."""
    entries = [ip for ip in body["ips"] if isinstance(ip, str) and ip[:1].isdigit()]
    portal.change("security", caller.account_id, whitelist=entries)


FAULTS = (
    fault("MODEL-010", "generated-codes-raise-the-sessions", then(BACKUP_GENERATE, _most_raised)),
    fault("MODEL-010", "the-session-config-turns-single-sign-on", then(SET_SESSION_CONFIG, _single_sign_on)),
    fault("MODEL-010", "the-whitelist-raises-the-sessions", then(SET_WHITELIST, _most_raised)),
    fault("MODEL-010", "a-verified-authenticator-dates-the-email", then(OTP_VERIFY, _email_verified_now)),
    fault("MODEL-010", "a-revoked-authenticator-dates-the-email", then(OTP_REVOKE, _email_verified_now)),
    fault("MODEL-011", "a-refresh-is-a-sign-in", then(REFRESH, _signed_in_by_refresh)),
    fault("MODEL-011", "a-forgotten-password-signs-out", then(FORGOT, _signed_out)),
    fault("MODEL-012", "a-session-goes-with-its-neighbour", then(TERMINATE, _of_the_same_account)),
    fault("MODEL-012", "all-sessions-of-everybody-end", then(TERMINATE_ALL, _everybodys)),
    fault(
        "MODEL-012",
        "a-reset-dates-the-administrators-password",
        then(ACCOUNT_PASSWORD, _administrators_password_dated),
    ),
    fault("MODEL-013", "an-accepted-invitation-is-the-only-workspace", then(ACCEPT, _alone_in_it)),
    fault(
        "MODEL-014", "a-refused-invitation-joins-all-the-same", where_refused(ACCEPT, _joined_all_the_same)
    ),
    fault(
        "MODEL-015",
        "a-read-updates-the-institution",
        first(INSTITUTION, _moved_by_a_read("institution", "institutionBizId")),
    ),
    fault(
        "MODEL-015",
        "a-file-has-another-hash-at-each-read",
        rewritten(on_success(_hashed_anew), FILE),
        also="MODEL-016",
    ),
    fault(
        "MODEL-015",
        "a-file-is-created-when-it-is-read",
        rewritten(on_success(_created_anew), FILE),
        also="MODEL-016",
    ),
    fault("MODEL-015", "a-read-updates-the-role", first(ROLE, _moved_by_a_read("role", "roleBizId"))),
    fault("MODEL-016", "one-grant-is-revoked-with-all-others", then(REVOKE, _all_of_them)),
    fault(
        "MODEL-016",
        "a-channel-is-updated-with-its-neighbour",
        then(CHANNEL_UPDATE, _neighbour("channel", channelRemark="changed too")),
    ),
    fault(
        "MODEL-016",
        "a-type-is-updated-with-its-neighbour",
        then(TYPE_UPDATE, _neighbour("channel type", typeDescription="changed too")),
    ),
    fault(
        "LOGIN-076", "a-pending-account-is-approved-at-complete", rewritten(on_success(_approved), COMPLETE)
    ),
    fault(
        "LOGIN-077",
        "a-wrong-password-ends-open-login-sessions",
        where_refused(INITIATE, _login_sessions_ended),
    ),
    fault("LOGIN-078", "anybodys-mailed-code-completes", handled(COMPLETE, _anybodys_code)),
    fault("LOGIN-079", "a-refused-send-is-mailed", where_refused(SEND, _mailed_anyway)),
    fault("MFA-015", "an-unverified-authenticator-is-offered", handled(INITIATE, _with_what_is_set_up)),
    fault("IPWHITELIST-010", "the-whitelist-is-never-emptied", handled(SET_WHITELIST, _never_emptied)),
    fault("SESSION-037", "anybodys-session-is-terminated", handled(TERMINATE, _anybodys_session)),
    fault(
        "SESSION-036", "a-refresh-takes-the-newest-session", handled(REFRESH, _the_newest), also="SESSION-027"
    ),
    fault("HISTORY-016", "the-history-shows-its-reader", handled(HISTORY, _shown_by_the_reader)),
    fault(
        "INVITATION-035",
        "the-invitee-is-named-like-the-inviter",
        turned(OWN_INVITATIONS, "[]", _named_like_the_inviter),
        also="AGREE-004",
    ),
    fault("INVITE-012", "the-reason-replaces-the-message", then(CANCEL, _reason_for_message)),
    fault("ORDER-037", "a-range-begins-before-its-end", handled(ORDERS, _from_the_end)),
    fault("ORDER-038", "orders-of-the-headers-workspace", handled(ORDERS, _of_the_header)),
    fault(
        "CONSTANT-069",
        "countries-have-the-codes-of-the-first",
        data_rewritten(_extras_of_the_first, constants("countries")),
    ),
    fault("SECURE-032", "a-session-ends-with-the-next-one", handled(SECURE_SESSION, _others_closed)),
    fault("SECURE-033", "a-session-ends-half-way", handled(SECURE_SESSION, _ended_half_way)),
    fault(
        "MODEL-014",
        "a-refused-command-deactivates",
        where_refused_by_anyone(COMMAND, _deactivated_all_the_same, 403),
    ),
    fault(
        "MODEL-014",
        "a-refused-forgotten-password-is-mailed",
        where_refused_by_anyone(FORGOT, _password_code_mailed_all_the_same, 400, 403),
    ),
    fault(
        "MODEL-014",
        "a-refused-profile-is-stored-in-part",
        where_refused_by_anyone(PROFILE_UPDATE, _texts_stored_all_the_same, 400),
    ),
    fault("MODEL-014", "a-refused-whitelist-is-written-in-part", where_refused(SET_WHITELIST, _half_written)),
)
