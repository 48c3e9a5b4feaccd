"""What a request changes, and what it leaves as it was (chapter "States and transitions")."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from reference_impl import invitations
from reference_impl.changes import Change, rewritten
from reference_impl.faults import operations as op
from reference_impl.faults.fault import Action, Call, answered, first, on_success, served, then, turned
from reference_impl.faults.verbs import (
    COUNTRIES,
    HOUR,
    as_another,
    named_with,
    newest_with,
    too,
    where_refused,
)
from reference_impl.handlers.passwords import send_password_code
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal, Record, Session
from reference_impl.shapes import Body
from reference_impl.wrappers import Answer, Seen


def _cancelled(value: int, field: str = "") -> Callable[[Record], None]:
    """The code of what was cancelled carries another value."""

    def turn(item: Record) -> None:
        status = item[field] if field else item
        status["value"] = value if status["code"] == "CANCELLED" else status["value"]

    return turn


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


def _left(operation: str, kind: str, field: str, name: str) -> Change:
    """A change leaves a field of the record as it was."""

    def changing(call: Call) -> Any:
        before = call.portal.records[kind].get(call.body[name], {}).get(field)
        data = call.run()
        call.portal.records[kind][call.body[name]][field] = before
        return data

    return served(operation, changing)


_ELSEWHERE = {"institutionBizId": "institution-of-another"}


def _first_timestamp(seen: Seen, answer: Answer) -> None:
    if answer.body["success"]:
        answer.body["timestamp"] = seen.memory.setdefault("timestamp", answer.body["timestamp"])


def _logged_in_by_a_refresh(call: Call, data: Any) -> Any:
    session = call.portal.sessions[call.portal.refresh_tokens[data["refreshToken"]].session_id]
    session.login_time = session.last_activity = call.portal.now()
    return data


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


def _history_of_all(call: Call) -> Any:
    own = call.portal.history
    entries = (entry for entries in own.values() for entry in entries)
    call.portal.history = {call.caller.account_id: sorted(entries, key=lambda entry: entry["loginTime"])}
    try:
        return call.run()
    finally:
        call.portal.history = own


def _where_refused_by_anyone(operation: str, action: Callable[[Seen], object], *statuses: int) -> Change:
    """Something is done although the request is refused, by a status, before the handler or in it."""

    def acting(seen: Seen, answer: Answer) -> None:
        if answer.status in statuses and isinstance(seen.body, dict):
            action(seen)

    return rewritten(acting, operation)


def _deactivated_all_the_same(seen: Seen) -> None:
    seen.portal.records["channel"].get(seen.body.get("bizId"), {}).update(channelStatus="INACTIVE")


def _texts_stored_all_the_same(seen: Seen) -> None:
    session = seen.portal.sessions[seen.portal.tokens.read(seen.asked.bearer or "")["sid"]]
    account = seen.portal.find("account", session.account_id)
    account.update({name: text for name, text in seen.body.items() if name in account and type(text) is str})


def _password_code_mailed_all_the_same(seen: Seen) -> None:
    account = seen.portal.account_of(str(seen.body.get("email")))
    if account is not None:
        send_password_code(seen.portal, account)


def _secured(**values: Any) -> Action:
    """A change of the caller's security settings, with those that were asked for."""
    return lambda portal, caller, body: portal.change("security", caller.account_id, **values)


def _ended(portal: Portal, *sessions: Session) -> None:
    for session in sessions:
        portal.end(session, "terminate")


def _those_of_others(portal: Portal, caller: Caller, body: Body) -> None:
    own = portal.sessions_of(caller.account_id)
    _ended(portal, *(each for each in portal.sessions.values() if each.state == "ACTIVE" and each not in own))


def _signed_out(portal: Portal, caller: Caller, body: Body) -> None:
    account = portal.account_of(body["email"]) or {"bizId": ""}
    _ended(portal, *portal.sessions_of(account["bizId"]))


def _alone_in_it(portal: Portal, caller: Caller, body: Body) -> None:
    workspace = portal.find("invitation", body["invitationBizId"])["workspaceBizId"]
    others = [id for id in portal.records["workspace"] if id not in caller.account["workspaceBizIds"]]
    kept = [workspace] if len(caller.account["workspaceBizIds"]) > 1 else others[:1]
    portal.change("account", caller.account_id, workspaceBizIds=kept)


def _joined_all_the_same(portal: Portal, caller: Caller, body: Body) -> None:
    mine = caller.account["workspaceBizIds"]
    further = [id for id in portal.records["workspace"] if id not in mine][:1]
    portal.change("account", caller.account_id, workspaceBizIds=[*mine, *further])


def _neighbour(kind: str, **values: Any) -> Action:
    """Another record of the kind is changed too."""

    def changing(portal: Portal, caller: Caller, body: Body) -> None:
        *_, last = (record for id, record in portal.records[kind].items() if id != body["bizId"])
        last.update(values)

    return changing


def _at_each_read(field: str, value: Callable[[str, int], str]) -> Change:
    """A field of a file is another at each read; a function is given its value and the number of the read."""

    def turn(seen: Seen, data: Any) -> None:
        seen.memory["reads"] = seen.memory.get("reads", 0) + 1
        data[field] = value(data[field], seen.memory["reads"])

    return rewritten(on_success(turn), op.FILE)


def _half_written(portal: Portal, caller: Caller, body: Body) -> None:
    """Stores the texts of a refused whitelist that begin with a digit."""
    entries = [ip for ip in body["ips"] if isinstance(ip, str) and ip[:1].isdigit()]
    portal.change("security", caller.account_id, whitelist=entries)


def _kept_for_good(operation: str, *updates: str) -> Change:
    """What an operation gave first to a caller it gives until the caller changes it."""

    def change(plan: Plan) -> None:
        kept: dict[str, Any] = {}

        def reading(call: Call) -> Any:
            return kept.setdefault(str(call.body.get("userBizId", call.caller.account_id)), call.run())

        served(operation, reading)(plan)
        for update in updates:
            then(update, lambda portal, caller, body: kept.clear())(plan)

    return Change(change, (operation,))


def _dated_by_a_wrong_code(portal: Portal, caller: Caller, body: Body) -> None:
    session = portal.login_sessions.get(body["sessionId"])
    if session is not None:
        portal.security(session.account_id)["lastLoginAt"] = portal.now()


def _single_sign_on(portal: Portal, caller: Caller, body: Body) -> None:
    security = portal.security(portal.login_sessions[body["sessionId"]].account_id)
    security["ssoEnabled"] = not security["ssoEnabled"]


def _another_code(portal: Portal, caller: Caller, body: Body) -> None:
    """A send that is refused for the cooldown makes another code, which nobody is mailed."""
    last = portal.mfa_codes.get(body["sessionId"])
    if last is not None and portal.now() < last.sent + portal.limits.mfa_cooldown:
        last.text = "mailed to nobody"


def _everybodys_whitelist(portal: Portal, caller: Caller, body: Body) -> None:
    for security in portal.records["security"].values():
        security["whitelist"] = portal.security(caller.account_id)["whitelist"]


ROWS = {
    "MODEL-001 refused-orders-are-of-another-version": rewritten(
        lambda seen, answer: answer.body.update(version="1.0.0"), op.ORDERS
    ),
    "MODEL-002 cancelled-carries-the-value-of-declined": turned(
        op.OWN_INVITATIONS, "[]", _cancelled(10050303, "invitationStatus")
    ),
    "MODEL-003 listed-cancelled-has-a-value-of-its-own": turned(
        op.constants("user-invitation-statuses"), "[]", _cancelled(10050309)
    ),
    "MODEL-004 the-history-counts-one-more": turned(
        op.HISTORY,
        "pagination",
        lambda page: page.update(
            totalRecords=page["totalRecords"] + (0 < page["totalRecords"] < page["pageSize"])
        ),
    ),
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
    "MODEL-019 an-update-does-not-date-a-type": _left(op.TYPE_UPDATE, "channel type", "updatedAt", "bizId"),
    "MODEL-019 an-administrators-update-is-not-dated": _left(
        op.ACCOUNT_UPDATE, "account", "updatedAt", "userBizId"
    ),
    "PROFILE-011 an-update-changes-the-institution-too": then(
        op.PROFILE_UPDATE, too("account", **_ELSEWHERE)
    ),
    "ACCOUNT-047 an-update-changes-the-country-too": then(
        op.ACCOUNT_UPDATE, too("account", defaultCountry="FR")
    ),
    "CHANNEL-061 an-update-moves-the-channel": then(op.CHANNEL_UPDATE, too("channel", **_ELSEWHERE)),
    "CHANNELTYPE-033 an-update-moves-the-type": then(op.TYPE_UPDATE, too("channel type", displayOrder=4711)),
    "MODEL-006 countries-are-kept-with-their-timestamp": rewritten(_first_timestamp, COUNTRIES),
    "MODEL-020 a-deactivation-names-nobody": _left(op.CHANNEL_DEACTIVATE, "channel", "updatedBy", "bizId"),
    "MODEL-023 a-logout-forgets-the-last-login": first(
        op.LOGOUT,
        lambda portal, caller, body: portal.security(caller.account_id).update(
            lastLoginAt=None, lastLoginIp=None
        ),
    ),
    "MODEL-016 the-oldest-of-two-alike-grants-is-revoked": served(op.REVOKE, _oldest_alike),
    "MODEL-013 one-invitation-is-accepted-with-all-others": then(op.ACCEPT, _all_accepted),
    "MODEL-011 a-refresh-moves-the-login-time": answered(op.REFRESH, _logged_in_by_a_refresh),
    "MODEL-016 all-invitations-of-an-address-are-cancelled": then(op.CANCEL, _invitee_uninvited),
    "MODEL-007 the-history-is-everybodys": served(op.HISTORY, _history_of_all),
    "MODEL-008 own-invitations-are-anothers": served(op.OWN_INVITATIONS, as_another),
    "MODEL-010 generated-codes-raise-the-sessions": then(op.BACKUP_GENERATE, _secured(maxSessions=99)),
    "MODEL-011 a-forgotten-password-signs-out": then(op.FORGOT, _signed_out),
    "MODEL-012 all-sessions-of-everybody-end": then(op.TERMINATE_ALL, _those_of_others),
    "MODEL-012 a-reset-dates-the-administrators-password": then(
        op.ACCOUNT_PASSWORD,
        lambda portal, caller, body: portal.security(caller.account_id).update(
            passwordChangedAt=portal.now()
        ),
    ),
    "MODEL-013 an-accepted-invitation-is-the-only-workspace": then(op.ACCEPT, _alone_in_it),
    "MODEL-014 a-refused-invitation-joins-all-the-same": where_refused(op.ACCEPT, _joined_all_the_same),
    "MODEL-015 a-file-has-another-hash-at-each-read": _at_each_read(
        "etag", lambda etag, read: f"read-{read:08d}"
    ),
    "MODEL-015 a-file-is-created-when-it-is-read": _at_each_read(
        "createdAt", lambda created, read: f"{created[:17]}{read % 60:02d}{created[19:]}"
    ),
    "MODEL-016 a-channel-is-updated-with-its-neighbour": then(
        op.CHANNEL_UPDATE, _neighbour("channel", channelRemark="changed too")
    ),
    "MODEL-016 a-type-is-updated-with-its-neighbour": then(
        op.TYPE_UPDATE, _neighbour("channel type", typeDescription="changed too")
    ),
    "MODEL-014 a-refused-command-deactivates": _where_refused_by_anyone(
        op.COMMAND, _deactivated_all_the_same, 403
    ),
    "MODEL-014 a-refused-forgotten-password-is-mailed": _where_refused_by_anyone(
        op.FORGOT, _password_code_mailed_all_the_same, 400, 403
    ),
    "MODEL-014 a-refused-profile-is-stored-in-part": _where_refused_by_anyone(
        op.PROFILE_UPDATE, _texts_stored_all_the_same, 400
    ),
    "MODEL-014 a-refused-whitelist-is-written-in-part": where_refused(op.SET_WHITELIST, _half_written),
    "MODEL-021 the-profile-is-kept-after-an-administrators-update": _kept_for_good(
        op.PROFILE, op.PROFILE_UPDATE
    ),
    "MODEL-021 an-account-is-read-as-it-was-at-first": _kept_for_good(op.ACCOUNT),
    "MODEL-011 a-wrong-code-dates-the-last-login": where_refused(op.COMPLETE, _dated_by_a_wrong_code),
    "MODEL-022 a-sign-in-switches-single-sign-on": then(op.COMPLETE, _single_sign_on),
    "MODEL-014 a-refused-send-makes-another-code": first(op.SEND, _another_code),
    "MODEL-010 a-whitelist-is-everybodys": then(op.SET_WHITELIST, _everybodys_whitelist),
}
