"""What a request changes, and what it leaves as it was (chapter "States and transitions")."""

import copy
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from reference_impl import invitations
from reference_impl.changes import Change, handled, rewritten, together
from reference_impl.errors import Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import Action, Call, first, on_success, served, then, turned
from reference_impl.faults.verbs import (
    COUNTRIES,
    as_another,
    named_with,
    newest_with,
    too,
    where_refused,
)
from reference_impl.handlers.passwords import send_password_code
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.wrappers import Answer, Rewriting, Seen

INVITATION_STATUSES = op.constants("user-invitation-statuses")


def _enveloped(**fields: Any) -> Rewriting:
    return lambda seen, answer: answer.body.update(fields)


def _value_of_declined(invitation: dict[str, Any]) -> None:
    status = invitation["invitationStatus"]
    if status["code"] == "CANCELLED":
        status["value"] = 10050303


def _another_value(item: dict[str, Any]) -> None:
    if item["code"] == "CANCELLED":
        item["value"] = 10050309


def _one_more(page: dict[str, Any]) -> None:
    if 0 < page["totalRecords"] < page["pageSize"]:
        page["totalRecords"] += 1


def _one_less_at_the_end(data: dict[str, Any]) -> None:
    if data["totalPages"] == 1 and len(data["accounts"]) > 1:
        del data["accounts"][-1]


def _older(seen: Seen, profile: dict[str, Any]) -> None:
    """The more time passes the longer ago the account was updated."""
    began = seen.memory.setdefault("began", seen.portal.now())
    updated = datetime.fromtimestamp(2 * began - seen.portal.now() - 3600, UTC)
    profile["updatedAt"] = f"{updated:%Y-%m-%dT%H:%M:%S}.000Z"


def _stamped_yesterday(seen: Seen, answer: Answer) -> None:
    answer.body["timestamp"] -= 86_400_000


HOUR = 3600.0


def undated(operation: str, kind: str, name: str) -> Change:
    """A change leaves ``updatedAt`` as it was."""

    def changing(call: Call) -> Any:
        before = call.portal.records[kind].get(call.body[name], {}).get("updatedAt")
        data = call.run()
        call.portal.records[kind][call.body[name]]["updatedAt"] = before
        return data

    return served(operation, changing)


def _author_kept(call: Call) -> Any:
    """Whoever updates a channel, it was updated by who created it."""
    data = call.run()
    channel = call.portal.find("channel", call.body["bizId"])
    channel["updatedBy"] = channel["createdBy"]
    return data


_ELSEWHERE = {"institutionBizId": "institution-of-another"}


def _remembers(plan: Plan) -> None:
    """Pages of the query are kept until an administrator changes some account."""
    pages: dict[str, Any] = {}

    def querying(handler: Handler) -> Handler:
        def answering(portal: Portal, caller: Caller, body: Body) -> Any:
            if str(body) not in pages:
                pages[str(body)] = handler(portal, caller, body)
            return copy.deepcopy(pages[str(body)])

        return answering

    def forget(portal: Portal, caller: Caller, body: Body) -> None:
        pages.clear()

    handled(op.ACCOUNTS_QUERY, querying)(plan)
    for operation in (op.ACCOUNT_UPDATE, op.ACCOUNT_STATUS):
        then(operation, forget)(plan)


def _first_timestamp(seen: Seen, answer: Answer) -> None:
    if answer.body["success"]:
        answer.body["timestamp"] = seen.memory.setdefault("timestamp", answer.body["timestamp"])


def _by_whom_it_was(call: Call) -> Any:
    before = call.portal.records["channel"].get(call.body["bizId"], {}).get("updatedBy")
    data = call.run()
    call.portal.records["channel"][call.body["bizId"]]["updatedBy"] = before
    return data


def _logged_in_by_a_refresh(portal: Portal, caller: Caller, body: Body) -> None:
    token = portal.refresh_tokens.get(body["refreshToken"])
    if token is not None:
        session = portal.sessions[token.session_id]
        session.login_time = session.last_activity = portal.now()


def _invitee_uninvited(portal: Portal, caller: Caller, body: Body) -> None:
    """Every open invitation of who is named in the cancelled one is cancelled."""
    named = portal.find("invitation", body["invitationBizId"])
    for other in portal.newest("invitation"):
        is_of_them = other["inviteeEmail"] == named["inviteeEmail"]
        if is_of_them and invitations.current(portal, other)["canAccept"]:
            invitations.move(portal, other, "cancel")


def _all_accepted(portal: Portal, caller: Caller, body: Body) -> None:
    for record in list(portal.records["invitation"].values()):
        own = invitations.is_for(caller, record)
        if own and invitations.current(portal, record)["invitationStatus"] == "PENDING":
            portal.change("invitation", record["bizId"], invitationStatus="ACCEPTED")


def _oldest_alike(call: Call) -> Any:
    own = ("bizId", "createdAt", "updatedAt")
    named = call.portal.find("currency grant", call.body["bizId"])
    alike = [
        id
        for id, grant in call.portal.records["currency grant"].items()
        if all(grant.get(name) == value for name, value in named.items() if name not in own)
    ]
    return call.run(bizId=alike[0])


def _with_those_of_others(call: Call) -> Any:
    """The sessions of another account are listed behind the caller's."""
    sessions = call.run()
    ids = {session.account_id for session in call.portal.sessions.values()} - {call.caller.account_id}
    listed = list(sessions)
    for id in sorted(ids):
        other = Caller(call.caller.client_ip, "", "", "en", known_account=call.portal.find("account", id))
        listed += [session | {"isCurrent": False} for session in call.handler(call.portal, other, call.body)]
    return listed


def _history_of_all(call: Call) -> Any:
    own = call.portal.history
    everybody = sorted((entry for entries in own.values() for entry in entries), key=lambda e: e["loginTime"])
    call.portal.history = {call.caller.account_id: everybody}
    try:
        return call.run()
    finally:
        call.portal.history = own


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


def _end_others_of(portal: Portal, account_id: str, *, but: str | None = None) -> None:
    for session in portal.sessions_of(account_id):
        if session.id != but:
            portal.end(session, "terminate")


def _most_raised(portal: Portal, caller: Caller, body: Body) -> None:
    portal.change("security", caller.account_id, maxSessions=99)


def _of_the_same_account(portal: Portal, caller: Caller, body: Body) -> None:
    """Of the other sessions the one that began last goes as well."""
    left = [each for each in portal.sessions_of(caller.account_id) if each.id != body["sessionId"]]
    for session in left[-1:]:
        portal.end(session, "terminate")


def _everybodys(portal: Portal, caller: Caller, body: Body) -> None:
    for session in list(portal.sessions.values()):
        if session.account_id != caller.account_id and session.state == "ACTIVE":
            portal.end(session, "terminate")


def _signed_out(portal: Portal, caller: Caller, body: Body) -> None:
    account = portal.account_of(body["email"])
    if account is not None:
        _end_others_of(portal, account["bizId"])


def _alone_in_it(portal: Portal, caller: Caller, body: Body) -> None:
    workspace = portal.find("invitation", body["invitationBizId"])["workspaceBizId"]
    others = [id for id in portal.records["workspace"] if id not in caller.account["workspaceBizIds"]]
    kept = [workspace] if len(caller.account["workspaceBizIds"]) > 1 else others[:1]
    portal.change("account", caller.account_id, workspaceBizIds=kept)


def _joined_all_the_same(portal: Portal, caller: Caller, body: Body) -> None:
    mine = caller.account["workspaceBizIds"]
    further = [id for id in portal.records["workspace"] if id not in mine][:1]
    portal.change("account", caller.account_id, workspaceBizIds=[*mine, *further])


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


def _half_written(portal: Portal, caller: Caller, body: Body) -> None:
    """The addresses before the one that is none."""
    entries = [ip for ip in body["ips"] if isinstance(ip, str) and ip[:1].isdigit()]
    portal.change("security", caller.account_id, whitelist=entries)


def _kept_for_good(operation: str, *updates: str) -> Change:
    """What an operation gave first to a caller it gives until the caller changes it."""

    def change(plan: Plan) -> None:
        kept: dict[str, Any] = {}

        def reading(handler: Handler) -> Handler:
            def shown(portal: Portal, caller: Caller, body: Body) -> Any:
                key = str(body.get("userBizId", caller.account_id))
                return kept.setdefault(key, handler(portal, caller, body))

            return shown

        def forgotten(portal: Portal, caller: Caller, body: Body) -> None:
            kept.clear()

        together(handled(operation, reading), *(then(update, forgotten) for update in updates))(plan)

    return Change(change, (operation,))


def _dated_by_a_wrong_code(call: Call) -> Any:
    try:
        return call.run()
    except Refusal:
        session = call.portal.login_sessions.get(call.body["sessionId"])
        if session is not None:
            call.portal.security(session.account_id)["lastLoginAt"] = call.portal.now()
        raise


def _single_sign_on_traces(portal: Portal, caller: Caller, body: Body) -> None:
    session = portal.login_sessions[body["sessionId"]]
    security = portal.security(session.account_id)
    security["ssoEnabled"] = not security["ssoEnabled"]


def _another_code(portal: Portal, caller: Caller, body: Body) -> None:
    """A send that is refused for the cooldown makes another code, which nobody is mailed."""
    last = portal.mfa_codes.get(body["sessionId"])
    if last is not None and portal.now() < last.sent + portal.limits.mfa_cooldown:
        last.text = "mailed to nobody"


def _of_everybody(*names: str) -> Callable[[Portal, Caller, Body], None]:
    """Settings of the caller become those of every account."""

    def spreading(portal: Portal, caller: Caller, body: Body) -> None:
        own = portal.security(caller.account_id)
        for security in portal.records["security"].values():
            security.update({name: own[name] for name in names})

    return spreading


ROWS = {
    "MODEL-001 the-public-key-is-of-another-version": rewritten(_enveloped(version="2.4.0"), op.PUBLIC_KEY),
    "MODEL-001 refused-orders-are-of-another-version": rewritten(_enveloped(version="1.0.0"), op.ORDERS),
    "MODEL-002 cancelled-carries-the-value-of-declined": turned(op.OWN_INVITATIONS, "[]", _value_of_declined),
    "MODEL-003 listed-cancelled-has-a-value-of-its-own": turned(INVITATION_STATUSES, "[]", _another_value),
    "MODEL-004 the-history-counts-one-more": turned(op.HISTORY, "pagination", _one_more),
    "MODEL-004 the-last-page-of-accounts-lacks-one": turned(op.ACCOUNTS_QUERY, "", _one_less_at_the_end),
    "MODEL-005 the-profile-grows-older": rewritten(on_success(_older), op.PROFILE),
    "MODEL-009 the-profile-is-created-by-its-update": turned(
        op.PROFILE, "", lambda record: record.update(createdAt=record["updatedAt"])
    ),
    "MODEL-006 the-account-query-is-stamped-a-day-before": rewritten(_stamped_yesterday, op.ACCOUNTS_QUERY),
    "MODEL-018 an-invitation-was-made-hours-ago": then(
        op.INVITE, newest_with("invitation", createdAt=lambda record: record["createdAt"] - 8 * HOUR)
    ),
    "MODEL-018 an-invitation-was-accepted-when-it-was-made": then(
        op.ACCEPT, named_with("invitation", "invitationBizId", acceptedAt=lambda record: record["createdAt"])
    ),
    "MODEL-018 a-channel-was-made-hours-ago": then(
        op.CHANNEL_CREATE, newest_with("channel", createdAt=lambda record: record["createdAt"] - 8 * HOUR)
    ),
    "MODEL-017 a-channel-type-is-made-hours-ahead": then(
        op.TYPE_CREATE,
        newest_with(
            "channel type",
            createdAt=lambda record: record["createdAt"] + 8 * HOUR,
            updatedAt=lambda record: record["updatedAt"] + 8 * HOUR,
        ),
    ),
    "MODEL-019 an-update-does-not-date-a-type": undated(op.TYPE_UPDATE, "channel type", "bizId"),
    "MODEL-019 an-administrators-update-is-not-dated": undated(op.ACCOUNT_UPDATE, "account", "userBizId"),
    "MODEL-020 a-channel-was-updated-by-its-creator": served(op.CHANNEL_UPDATE, _author_kept),
    "PROFILE-011 an-update-changes-the-institution-too": then(
        op.PROFILE_UPDATE, too("account", **_ELSEWHERE)
    ),
    "ACCOUNT-047 an-update-changes-the-country-too": then(
        op.ACCOUNT_UPDATE, too("account", defaultCountry="FR")
    ),
    "CHANNEL-061 an-update-moves-the-channel": then(op.CHANNEL_UPDATE, too("channel", **_ELSEWHERE)),
    "CHANNELTYPE-033 an-update-moves-the-type": then(op.TYPE_UPDATE, too("channel type", displayOrder=4711)),
    "MODEL-021 the-account-query-remembers": Change(_remembers, (op.ACCOUNTS_QUERY,)),
    "MODEL-010 new-addresses-switch-the-whitelist-off": then(
        op.SET_WHITELIST,
        lambda portal, caller, body: portal.change("security", caller.account_id, whitelistState="DISABLED"),
    ),
    "MODEL-006 countries-are-kept-with-their-timestamp": rewritten(_first_timestamp, COUNTRIES),
    "MODEL-020 a-deactivation-names-nobody": served(op.CHANNEL_DEACTIVATE, _by_whom_it_was),
    "MODEL-023 a-logout-forgets-the-last-login": first(
        op.LOGOUT,
        lambda portal, caller, body: portal.security(caller.account_id).update(
            lastLoginAt=None, lastLoginIp=None
        ),
    ),
    "MODEL-016 the-oldest-of-two-alike-grants-is-revoked": served(op.REVOKE, _oldest_alike),
    "MODEL-013 one-invitation-is-accepted-with-all-others": then(op.ACCEPT, _all_accepted),
    "MODEL-011 a-refresh-moves-the-login-time": then(op.REFRESH, _logged_in_by_a_refresh),
    "MODEL-016 all-invitations-of-an-address-are-cancelled": then(op.CANCEL, _invitee_uninvited),
    "MODEL-007 sessions-of-others-are-listed": served(op.SESSIONS, _with_those_of_others),
    "MODEL-007 the-history-is-everybodys": served(op.HISTORY, _history_of_all),
    "MODEL-008 own-invitations-are-anothers": served(op.OWN_INVITATIONS, as_another),
    "MODEL-010 generated-codes-raise-the-sessions": then(op.BACKUP_GENERATE, _most_raised),
    "MODEL-010 the-whitelist-raises-the-sessions": then(op.SET_WHITELIST, _most_raised),
    "MODEL-011 a-forgotten-password-signs-out": then(op.FORGOT, _signed_out),
    "MODEL-012 a-session-goes-with-its-neighbour": then(op.TERMINATE, _of_the_same_account),
    "MODEL-012 all-sessions-of-everybody-end": then(op.TERMINATE_ALL, _everybodys),
    "MODEL-012 a-reset-dates-the-administrators-password": then(
        op.ACCOUNT_PASSWORD,
        lambda portal, caller, body: portal.security(caller.account_id).update(
            passwordChangedAt=portal.now()
        ),
    ),
    "MODEL-013 an-accepted-invitation-is-the-only-workspace": then(op.ACCEPT, _alone_in_it),
    "MODEL-014 a-refused-invitation-joins-all-the-same": where_refused(op.ACCEPT, _joined_all_the_same),
    "MODEL-015 a-read-updates-the-institution": first(
        op.INSTITUTION, _moved_by_a_read("institution", "institutionBizId")
    ),
    "MODEL-015 a-file-has-another-hash-at-each-read": rewritten(on_success(_hashed_anew), op.FILE),
    "MODEL-015 a-file-is-created-when-it-is-read": rewritten(on_success(_created_anew), op.FILE),
    "MODEL-016 one-grant-is-revoked-with-all-others": then(op.REVOKE, _all_of_them),
    "MODEL-016 a-channel-is-updated-with-its-neighbour": then(
        op.CHANNEL_UPDATE, _neighbour("channel", channelRemark="changed too")
    ),
    "MODEL-016 a-type-is-updated-with-its-neighbour": then(
        op.TYPE_UPDATE, _neighbour("channel type", typeDescription="changed too")
    ),
    "MODEL-014 a-refused-command-deactivates": where_refused_by_anyone(
        op.COMMAND, _deactivated_all_the_same, 403
    ),
    "MODEL-014 a-refused-forgotten-password-is-mailed": where_refused_by_anyone(
        op.FORGOT, _password_code_mailed_all_the_same, 400, 403
    ),
    "MODEL-014 a-refused-profile-is-stored-in-part": where_refused_by_anyone(
        op.PROFILE_UPDATE, _texts_stored_all_the_same, 400
    ),
    "MODEL-014 a-refused-whitelist-is-written-in-part": where_refused(op.SET_WHITELIST, _half_written),
    "MODEL-021 the-profile-is-kept-after-an-administrators-update": _kept_for_good(
        op.PROFILE, op.PROFILE_UPDATE
    ),
    "MODEL-021 an-account-is-read-as-it-was-at-first": _kept_for_good(op.ACCOUNT),
    "MODEL-011 a-wrong-code-dates-the-last-login": served(op.COMPLETE, _dated_by_a_wrong_code),
    "MODEL-022 a-sign-in-switches-single-sign-on": then(op.COMPLETE, _single_sign_on_traces),
    "MODEL-014 a-refused-send-makes-another-code": first(op.SEND, _another_code),
    "MODEL-010 a-whitelist-is-everybodys": then(op.SET_WHITELIST, _of_everybody("whitelist")),
}
