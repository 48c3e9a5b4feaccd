"""What is another's: records that depend on their reader, invitations and codes of others, idle sessions."""

from typing import Any

from reference_impl import invitations
from reference_impl.changes import handled, moved, rewritten
from reference_impl.dispatch import BOT_HEADER
from reference_impl.errors import Refusal
from reference_impl.faults.fault import fault, first, reported, then, turned
from reference_impl.faults.operations import (
    ACCEPT,
    ACCOUNTS_QUERY,
    CANCEL,
    CHANGE,
    COMMAND,
    COMPLETE,
    CURRENT_WORKSPACE,
    DECLINE,
    DISABLE_WHITELIST,
    ENABLE_WHITELIST,
    FILE,
    INIT,
    INSTITUTION,
    INVITATIONS,
    ORDERS,
    REFRESH,
    RESET,
    REVOKE,
    ROLE_PERMISSIONS,
    SECURE_SESSION,
    SEND,
    SESSIONS,
    TERMINATE,
    constants,
)
from reference_impl.faults.side_effects import where_refused
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.wrappers import Answer, Seen

# What goes on, or goes with it.


def _cooldown_of_the_first(handler: Handler) -> Handler:
    """A second code is sent after the cooldown, and a third at once."""

    def sending(portal: Portal, caller: Caller, body: Body) -> Any:
        last = portal.mfa_codes.get(body["sessionId"])
        data = handler(portal, caller, body)
        if last is not None:
            portal.mfa_codes[body["sessionId"]].sent = last.sent
        return data

    return sending


def _logged_in_by_a_refresh(portal: Portal, caller: Caller, body: Body) -> None:
    token = portal.refresh_tokens.get(body["refreshToken"])
    if token is not None:
        session = portal.sessions[token.session_id]
        session.login_time = session.last_activity = portal.now()


def _emptied(portal: Portal, caller: Caller, body: Body) -> None:
    portal.change("security", caller.account_id, whitelist=[])


def _invitee_uninvited(portal: Portal, caller: Caller, body: Body) -> None:
    """Every open invitation of who is named in the cancelled one is cancelled."""
    named = portal.find("invitation", body["invitationBizId"])
    for other in portal.newest("invitation"):
        is_of_them = other["inviteeEmail"] == named["inviteeEmail"]
        if is_of_them and invitations.current(portal, other)["canAccept"]:
            invitations.move(portal, other, "cancel")


def _ga2031_in_japanese(seen: Seen, answer: Answer) -> None:
    if answer.body["code"] == "GA2031" and seen.asked.headers.get("accept-language", "").startswith("ja"):
        answer.body["message"] = "ワークスペースが選択されていません。"


# Readers.


def _created_by_the_reader(handler: Handler) -> Handler:
    def reading(portal: Portal, caller: Caller, body: Body) -> Any:
        return handler(portal, caller, body) | {"createdBy": caller.account_id}

    return reading


def _named_for_the_reader(handler: Handler) -> Handler:
    def reading(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        return data | {"institutionName": f"Institution of {caller.account['accountName']}"}

    return reading


def _of_the_readers_role(handler: Handler) -> Handler:
    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        return handler(portal, caller, body | {"roleBizId": caller.account["roleBizIds"][0]})

    return listing


# Sessions and passwords.


def _all_active(portal: Portal, caller: Caller, body: Body) -> None:
    for session in portal.sessions_of(caller.account_id):
        session.last_activity = portal.now()


def _as_it_was_dated(handler: Handler) -> Handler:
    """Whose password is changed is known by the address, or by the session."""

    def setting(portal: Portal, caller: Caller, body: Body) -> Any:
        account = portal.account_of(body["email"]) if "email" in body else caller.account
        dated = portal.security(account["bizId"])["passwordChangedAt"] if account else None
        data = handler(portal, caller, body)
        if account and dated is not None:
            portal.security(account["bizId"])["passwordChangedAt"] = dated
        return data

    return setting


def _listed_as_a_sign_in(portal: Portal, caller: Caller, body: Body) -> None:
    session = portal.login_sessions.get(body["sessionId"])
    if session is not None:
        portal.record_sign_in(session.account_id, caller)


# Invitations.


def _anybodys(trigger: str) -> Any:
    """Whoever names an invitation answers it."""

    def around(handler: Handler) -> Handler:
        def answering(portal: Portal, caller: Caller, body: Body) -> Any:
            record = portal.find("invitation", body["invitationBizId"])
            if invitations.is_for(caller, record):
                return handler(portal, caller, body)
            moved = invitations.move(portal, record, trigger)
            return portal.view("invitation", invitations.current(portal, moved))

        return answering

    return around


def _all_accepted(portal: Portal, caller: Caller, body: Body) -> None:
    for record in list(portal.records["invitation"].values()):
        own = invitations.is_for(caller, record)
        if own and invitations.current(portal, record)["invitationStatus"] == "PENDING":
            portal.change("invitation", record["bizId"], invitationStatus="ACCEPTED")


def _still_pending(item: dict[str, Any]) -> None:
    if item["invitationStatus"]["code"] == "ACCEPTED":
        item["invitationStatus"] |= {"code": "PENDING", "value": 10050301}


# Accounts, workspaces, grants.


def _by_address(handler: Handler) -> Handler:
    def querying(portal: Portal, caller: Caller, body: Body) -> Any:
        name = body.get("name")
        return handler(portal, caller, body | {"name": None, "email": name} if name else body)

    return querying


def _the_first_alone(handler: Handler) -> Handler:
    def choosing(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        if data["bizId"] != caller.account["workspaceBizIds"][0]:
            raise Refusal("GA2031")
        return data

    return choosing


def _oldest_alike(handler: Handler) -> Handler:
    def revoking(portal: Portal, caller: Caller, body: Body) -> Any:
        own = ("bizId", "createdAt", "updatedAt")
        named = portal.find("currency grant", body["bizId"])
        alike = [
            id
            for id, grant in portal.records["currency grant"].items()
            if all(grant.get(name) == value for name, value in named.items() if name not in own)
        ]
        return handler(portal, caller, body | {"bizId": alike[0]})

    return revoking


# The bot challenge and the secure channel.

NO_ORDERS = {"content": [], "totalElements": 0, "totalPages": 0, "size": 20, "number": 0}


def _is_passed_by_any_token(seen: Seen, answer: Answer) -> bool:
    return bool(seen.asked.headers.get(BOT_HEADER)) and answer.body.get("code") == "4030"


def _orders_for_any_token(seen: Seen, answer: Answer) -> None:
    if _is_passed_by_any_token(seen, answer):
        answer.status = 200
        answer.body |= {"success": True, "code": "2000", "message": "Success", "data": NO_ORDERS}


def _channels_for_any_token(seen: Seen, answer: Answer) -> None:
    if _is_passed_by_any_token(seen, answer):
        answer.status = 404
        answer.body |= {"code": "4040", "message": "There is no such channel."}


def _keys_swapped(handler: Handler) -> Handler:
    def opening(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        session = portal.secure_sessions[data["sessionId"]]
        session.request_key, session.response_key = session.response_key, session.request_key
        return data

    return opening


def _dated_in(operation: str, name: str) -> Any:
    return fault("PASSWORD-020", name, handled(operation, _as_it_was_dated))


FAULTS = (
    fault("AGREE-008", "a-file-was-created-by-whoever-reads-it", handled(FILE, _created_by_the_reader)),
    fault(
        "AGREE-008", "an-institution-has-a-name-for-each-reader", handled(INSTITUTION, _named_for_the_reader)
    ),
    fault(
        "ROLE-015",
        "the-permissions-of-a-role-are-the-readers",
        handled(ROLE_PERMISSIONS, _of_the_readers_role),
        also="ROLE-014",
    ),
    fault(
        "AGREE-009",
        "an-accepted-invitation-is-still-pending-for-its-sender",
        turned(INVITATIONS, "[]", _still_pending),
    ),
    fault(
        "ACCOUNT-048",
        "the-name-filter-looks-at-addresses",
        handled(ACCOUNTS_QUERY, _by_address),
        also="ACCOUNT-024 ACCOUNT-042",
    ),
    fault(
        "WORKSPACE-015",
        "a-listed-workspace-cannot-be-chosen",
        handled(CURRENT_WORKSPACE, _the_first_alone),
        also="WORKSPACE-011 AGREE-003",
    ),
    fault(
        "MODEL-016",
        "the-oldest-of-two-alike-grants-is-revoked",
        handled(REVOKE, _oldest_alike),
        also="GRANT-001 GRANT-002",
    ),
    fault("SESSION-038", "one-call-makes-all-sessions-active", first(SESSIONS, _all_active)),
    _dated_in(CHANGE, "a-changed-password-is-not-dated"),
    _dated_in(RESET, "a-reset-password-is-not-dated"),
    _dated_in(INIT, "an-initialized-password-is-not-dated"),
    fault(
        "HISTORY-017", "a-wrong-code-is-listed-as-a-sign-in", where_refused(COMPLETE, _listed_as_a_sign_in)
    ),
    fault("INVITATION-036", "anybody-accepts-an-invitation", handled(ACCEPT, _anybodys("accept"))),
    fault("INVITATION-036", "anybody-declines-an-invitation", handled(DECLINE, _anybodys("decline"))),
    fault(
        "MODEL-013",
        "one-invitation-is-accepted-with-all-others",
        then(ACCEPT, _all_accepted),
        also="INVITATION-027",
    ),
    fault("AUTHN-019", "orders-are-given-for-any-bot-token", rewritten(_orders_for_any_token, ORDERS)),
    fault(
        "AUTHN-019", "a-channel-is-looked-for-with-any-bot-token", rewritten(_channels_for_any_token, COMMAND)
    ),
    fault("SECURE-034", "the-two-keys-are-swapped", handled(SECURE_SESSION, _keys_swapped)),
    fault(
        "CONSTANT-070",
        "offsets-are-names-of-zones",
        reported(constants("timezones"), "[]", utcOffset="Asia/Shanghai"),
    ),
    fault(
        "SESSION-040",
        "a-terminated-session-is-refreshed",
        moved("session", "ENDED", "refresh", "ENDED"),
        TERMINATE,
    ),
    fault("LOGIN-025", "the-first-send-alone-has-a-cooldown", handled(SEND, _cooldown_of_the_first)),
    fault("MODEL-011", "a-refresh-moves-the-login-time", then(REFRESH, _logged_in_by_a_refresh)),
    fault("IPWHITELIST-011", "enabling-the-whitelist-empties-it", then(ENABLE_WHITELIST, _emptied)),
    fault("IPWHITELIST-011", "disabling-the-whitelist-empties-it", then(DISABLE_WHITELIST, _emptied)),
    fault("MODEL-016", "all-invitations-of-an-address-are-cancelled", then(CANCEL, _invitee_uninvited)),
    fault("ERROR-012", "ga2031-is-translated", rewritten(_ga2031_in_japanese, CURRENT_WORKSPACE)),
)
