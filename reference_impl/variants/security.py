"""Whitelist, factors, backup codes, and what sessions and the history show (chapter "Security endpoints")."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import Any

from reference_impl.changes import Change, chosen, data_rewritten, rewritten
from reference_impl.errors import INVALID
from reference_impl.faults import operations as op
from reference_impl.faults.fault import first, objects, on_success, reported, then, turned
from reference_impl.faults.verbs import where_refused
from reference_impl.portal import Caller, Portal, Record
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.variants.variant import around, keeping, may, permitted, refused
from reference_impl.wrappers import Seen


def _as_networks(data: Any) -> Any:
    return data | {"entries": [str(ip_network(entry)) for entry in data["entries"]]}


def _added(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
    """Adds the sent addresses to the stored whitelist."""
    there = portal.security(caller.account_id)["whitelist"]
    return handler(portal, caller, body | {"ips": [*there, *(ip for ip in body["ips"] if ip not in there)]})


def _counted(count: Callable[[Any, int], Any]) -> Change:
    """What is counted are the backup codes of all sets that were ever made."""

    def counting() -> Change:
        sets: dict[str, list[Record]] = {}

        def summing_up(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
            data, codes = handler(portal, caller, body), portal.security(caller.account_id)["backupCodes"]
            own = sets.setdefault(caller.account_id, [])
            if codes and not any(each is codes for each in own):
                own.append(codes)
            return count(data, sum(map(len, own)))

        return around(summing_up, op.BACKUP_CODES)

    return keeping(counting)


def _active(begun: Callable[[datetime], datetime]) -> Change:
    """The last activity is written now and then, and at first at the sign-in."""

    def turn(item: Record) -> None:
        active, login = (
            datetime.fromisoformat(item[name].upper()) for name in ("lastActivityTime", "loginTime")
        )
        shown = begun(active).astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        item["lastActivityTime"] = shown if begun(active) > login else item["loginTime"]

    return turned(op.SESSIONS, "[]", turn)


def _as_before(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
    """The last login that is shown is the one before the session that asks."""
    data, session = handler(portal, caller, body), caller.session
    earlier = [
        entry
        for entry in portal.history.get(caller.account_id, [])
        if entry["loginResult"] == 1 and session and entry["loginTime"] < session.login_time
    ]
    last = earlier[-1] if earlier else {"loginTime": None, "clientIp": None}
    shown = portal.view("session config", {"lastLoginAt": last["loginTime"]})["lastLoginAt"]
    return data | {"lastLoginAt": shown, "lastLoginIp": last["clientIp"]}


def _failures_counted(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
    """The session config has a field of the portal's own, which refused sign-ins move."""
    failed = sum(not each["loginResult"] for each in portal.history.get(caller.account_id, []))
    return handler(portal, caller, body) | {"failedSignIns": failed}


WRITTEN_SECONDS = 5.0
"""Until a sign-in stands in the login history."""


def _history(listed: Callable[[Portal, list[Record]], list[Record]]) -> Change:
    """Lists the history from other entries, or in another order."""

    def listing(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
        kept = portal.history.get(caller.account_id, [])
        portal.history[caller.account_id] = listed(portal, kept)
        try:
            return handler(portal, caller, body)
        finally:
            portal.history[caller.account_id] = kept

    return around(listing, op.HISTORY)


def _written_by_now(portal: Portal, entries: list[Record]) -> list[Record]:
    return [entry for entry in entries if entry["loginTime"] <= portal.now() - WRITTEN_SECONDS]


def _noted(portal: Portal, caller: Caller, account_id: str, result: int) -> None:
    portal.record_sign_in(account_id, caller)
    portal.history[account_id][-1]["loginResult"] = result


def _first_step_noted(portal: Portal, caller: Caller, body: Body) -> None:
    account = portal.account_of(body["email"])
    if account is not None:
        _noted(portal, caller, account["bizId"], 2)


def _wrong_code_noted(portal: Portal, caller: Caller, body: Body) -> None:
    session = portal.login_sessions.get(body.get("sessionId", ""))
    if session is not None:
        _noted(portal, caller, session.account_id, 3)


def _numbered(seen: Seen, data: Any) -> None:
    """The history of each account begins with 1."""
    total = data["pagination"]["totalRecords"]
    for number, record in enumerate(objects(data, "items[]")):
        record["bizId"] = str(total - number)


VARIANTS = permitted(
    "fields of IP whitelist entries are not shown",
    may("whitelist-of-objects: whitelist", chosen(whitelist_entries="objects")),
    "the entries of the whitelist are not shown",
    may("whitelist-as-networks: whitelist", data_rewritten(_as_networks, op.WHITELIST)),
    "whether addresses replace those before is not stated",
    may("whitelist-adds", around(_added, op.SET_WHITELIST)),
    "what an enabled whitelist does is not stated",
    may("whitelist-keeps-nobody-out", chosen(whitelist_enforced=False)),
    "which addresses a whitelist takes is not stated",
    may(
        "whitelists-of-short-addresses",
        refused(op.SET_WHITELIST, INVALID, lambda _, __, body: any(":" in ip for ip in body["ips"])),
    ),
    # Factors and backup codes.
    "verifiedAt is nullable",
    may("verified-never-told: verified", reported(op.MFA, "[]", verifiedAt=None)),
    "what totalGenerated counts is not stated",
    # The accounts have made some before.
    may(
        "backup-codes-counted-for-ever: backup-codes",
        _counted(lambda data, number: data | {"totalGenerated": 30 + number}),
    ),
    "what becomes of the codes of an earlier set is not stated",
    # They stay good, and count.
    may(
        "backup-codes-add-up: backup-codes",
        _counted(lambda data, number: {"remainingCount": number, "totalGenerated": number}),
    ),
    # Sessions.
    "how exact the last activity of a session is is not stated",
    may("activity-by-the-minute: activity", _active(lambda time: time.replace(second=0, microsecond=0))),
    may(
        "activity-by-the-quarter-hour: activity",
        _active(lambda time: time - timedelta(minutes=time.minute % 15)),
    ),
    "whether the last login is that of the session itself is not stated",
    may("last-login-is-the-one-before: session-config", around(_as_before, op.SESSION_CONFIG)),
    "`passwordChangedAt` is nullable",
    may(
        "password-changes-are-not-dated: session-config",
        reported(op.SESSION_CONFIG, "", passwordChangedAt=None),
    ),
    "fields beyond those that are shown are left open",
    may("refused-sign-ins-are-counted", around(_failures_counted, op.SESSION_CONFIG)),
    "whether there is a single sign-on is a deployment's",
    may("signed-in-elsewhere", reported(op.SESSION_CONFIG, "", ssoEnabled=True)),
    # The history.
    "the order of a listing is not stated",
    may("history-oldest-first", _history(lambda portal, entries: entries[::-1])),
    "when a change shows is not stated",
    may("history-is-written-later: consistency", _history(_written_by_now)),
    "the values of loginResult have no stated meaning",
    may(
        "logouts-stand-in-the-history",
        first(op.LOGOUT, lambda portal, caller, body: _noted(portal, caller, caller.account_id, 2)),
    ),
    "the meaning of `loginResult` is unspecified",
    may("the-first-step-is-in-the-history", then(op.INITIATE, _first_step_noted)),
    "the meaning of loginResult is unspecified",
    may(
        "login-results-by-other-numbers",
        reported(op.HISTORY, "items[]", loginResult=lambda result: 10020001 + result),
    ),
    "the meaning of `loginResult` is unspecified, and `failureReason` may be null",
    may("wrong-codes-are-in-the-history-without-a-reason", where_refused(op.COMPLETE, _wrong_code_noted)),
    "what an id looks like is not stated",
    may("history-counted-for-each-account: history-ids", rewritten(on_success(_numbered), op.HISTORY)),
)
