"""IP whitelist, factors, backup codes, sessions and history (chapter "Security endpoints")."""

from collections.abc import Callable
from typing import Any

import pyotp

from reference_impl.changes import data_rewritten, handled, moved, together
from reference_impl.faults.fault import asked, fault, first, pretending, reported, ruled, turned
from reference_impl.faults.operations import (
    BACKUP_CODES,
    BACKUP_GENERATE,
    COMPLETE,
    DISABLE_WHITELIST,
    ENABLE_WHITELIST,
    HISTORY,
    INITIATE,
    MFA,
    OTP_REVOKE,
    OTP_VERIFY,
    SESSION_CONFIG,
    SESSIONS,
    SET_SESSION_CONFIG,
    SET_WHITELIST,
    TERMINATE,
    TERMINATE_ALL,
    WHITELIST,
)
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body


def _each(**values: Any) -> Any:
    return lambda items: [item | values for item in items]


def _first_alone(data: Any) -> Any:
    return data | {"entries": data["entries"][:1]}


def _last_primary_too(data: Any) -> Any:
    return [item | {"isPrimary": True} for item in data] if len(data) > 1 else data


def _twice(data: Any) -> Any:
    return [*data, *data[:1]]


def _other_is_current(data: Any) -> Any:
    """The newest session is called the current one, whoever asks."""
    return [item | {"isCurrent": at == 0} for at, item in enumerate(data)]


def _newest_left_out(data: Any) -> Any:
    """The session that was opened last is not listed; the others are."""
    newest = max(data, key=lambda item: item["loginTime"])
    return [item for item in data if item is not newest or item["isCurrent"]]


def _activity_before_login(item: dict[str, Any]) -> None:
    item["lastActivityTime"] = "2020-01-01T00:00:00.000Z"


def _any_code(portal: Portal, caller: Caller, body: Body) -> None:
    """The code is not compared: the one that would be right is put in its place."""
    security = portal.security(caller.account_id)
    secret = security["otpOffered"] or security["otpSecret"]
    if secret:
        body["code"] = pyotp.TOTP(secret).at(int(portal.now()))


def _both(methods: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The authenticator is offered to everybody."""
    listed = [method["value"] for method in methods]
    otp = {"code": "OTP", "value": 10011002, "label": "Authenticator"}
    return methods if 10011002 in listed else [*methods, otp]


def _secret_lost(handler: Handler) -> Handler:
    """The new secret is not kept: another one checks the codes."""

    def verifying(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        portal.security(caller.account_id)["otpSecret"] = portal.draw.base32()
        return data

    return verifying


def _one_used_already(handler: Handler) -> Handler:
    """One of the new codes counts as used."""

    def generating(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        codes = portal.security(caller.account_id)["backupCodes"]
        codes[next(iter(codes))] = "USED"
        return data

    return generating


def _one_spared(index: int) -> Callable[[Handler], Handler]:
    """One of the other sessions goes on, by its place among them from the oldest."""

    def around(handler: Handler) -> Handler:
        def terminating(portal: Portal, caller: Caller, body: Body) -> Any:
            others = [s for s in portal.sessions_of(caller.account_id) if s.id != caller.session_id]
            data = handler(portal, caller, body)
            if others:
                others[index].state = "ACTIVE"
            return data

        return terminating

    return around


def _unrecorded(handler: Handler) -> Handler:
    """What happens at sign-in does not reach the history."""

    def signing_in(portal: Portal, caller: Caller, body: Body) -> Any:
        before = {account: list(entries) for account, entries in portal.history.items()}
        try:
            return handler(portal, caller, body)
        finally:
            portal.history.clear()
            portal.history.update(before)

    return signing_in


def _reason_always(item: dict[str, Any]) -> None:
    item["failureReason"] = item["failureReason"] or "NONE"


def _reason_never(item: dict[str, Any]) -> None:
    item["failureReason"] = None


def _whatever_number(value: Any, limits: Any) -> int:
    return int(value) if str(value).isdigit() else 1


def _any_list(value: Any, limits: Any) -> list[str]:
    return [value] if isinstance(value, str) else []


FAULTS = (
    # IP whitelist.
    fault("IPWHITELIST-003", "whitelist-is-not-kept", pretending(SET_WHITELIST, "security")),
    fault("IPWHITELIST-003", "whitelist-keeps-one-address", data_rewritten(_first_alone, WHITELIST)),
    fault(
        "IPWHITELIST-004",
        "enabling-the-whitelist-does-not-stick",
        moved("ip whitelist", "DISABLED", "enable", "DISABLED"),
        ENABLE_WHITELIST,
    ),
    fault(
        "IPWHITELIST-005",
        "disabling-the-whitelist-does-not-stick",
        moved("ip whitelist", "ENABLED", "disable", "ENABLED"),
        DISABLE_WHITELIST,
    ),
    fault(
        "IPWHITELIST-009",
        "whitelist-takes-text",
        together(
            ruled(SET_WHITELIST, "ips", _any_list), asked(SET_WHITELIST, lambda body: body | {"ips": []})
        ),
    ),
    # Factors.
    fault("MFA-005", "every-method-is-primary", data_rewritten(_last_primary_too, MFA)),
    fault(
        "MFA-006",
        "methods-are-listed-as-disabled",
        data_rewritten(_each(isEnabled=False), MFA),
        also="MFA-009",
    ),
    fault("MFA-007", "a-method-twice", data_rewritten(_twice, MFA)),
    fault("MFA-008", "verified-at-is-a-word", data_rewritten(_each(verifiedAt="yesterday"), MFA)),
    fault(
        "MFA-009", "verified-authenticator-is-not-enabled", pretending(OTP_VERIFY, "security"), also="MFA-013"
    ),
    fault("MFA-010", "any-code-verifies-an-authenticator", first(OTP_VERIFY, _any_code)),
    fault(
        "MFA-011", "revoked-authenticator-stays-enabled", pretending(OTP_REVOKE, "security"), also="MFA-012"
    ),
    fault(
        "MFA-011", "revoked-authenticator-is-listed-as-enabled", data_rewritten(_each(isEnabled=True), MFA)
    ),
    fault(
        "MFA-012",
        "revoked-authenticator-is-offered",
        turned(INITIATE, "", lambda data: data.update(mfaMethods=_both(data["mfaMethods"]))),
    ),
    fault("MFA-013", "verified-authenticator-does-not-sign-in", handled(OTP_VERIFY, _secret_lost)),
    # Backup codes.
    fault(
        "BACKUP-003",
        "more-codes-remain-than-were-made",
        reported(BACKUP_CODES, "", remainingCount=lambda count: count + 11),
    ),
    fault(
        "BACKUP-003",
        "a-negative-number-of-codes-remains",
        reported(BACKUP_CODES, "", remainingCount=-1),
        also="BACKUP-004",
    ),
    fault(
        "BACKUP-004", "generating-codes-does-not-reset-the-count", handled(BACKUP_GENERATE, _one_used_already)
    ),
    # Sessions.
    fault(
        "SESSION-020",
        "no-session-is-current",
        data_rewritten(_each(isCurrent=False), SESSIONS),
        also="SESSION-022",
    ),
    fault(
        "SESSION-020",
        "every-session-is-current",
        data_rewritten(_each(isCurrent=True), SESSIONS),
        also="SESSION-022",
    ),
    fault("SESSION-021", "new-sign-in-is-not-listed", data_rewritten(_newest_left_out, SESSIONS)),
    fault("SESSION-022", "newest-session-is-current-for-all", data_rewritten(_other_is_current, SESSIONS)),
    fault("SESSION-023", "activity-before-the-login", turned(SESSIONS, "[]", _activity_before_login)),
    fault(
        "SESSION-024",
        "a-session-twice",
        data_rewritten(lambda data: [*data, data[-1] | {"isCurrent": False}], SESSIONS),
    ),
    fault(
        "SESSION-025",
        "terminated-session-goes-on",
        together(moved("session", "ACTIVE", "terminate", "LEFT"), moved("session", "LEFT", "call", "LEFT")),
        TERMINATE,
        also="SESSION-027",
    ),
    fault(
        "SESSION-025 SESSION-026",
        "terminate-does-nothing",
        handled(TERMINATE, lambda handler: lambda portal, caller, body: None),
    ),
    fault(
        "SESSION-027",
        "terminate-all-does-nothing",
        handled(TERMINATE_ALL, lambda handler: lambda portal, caller, body: None),
    ),
    fault("SESSION-027", "terminate-all-spares-the-newest", handled(TERMINATE_ALL, _one_spared(-1))),
    fault(
        "SESSION-039",
        "terminate-all-spares-the-oldest",
        handled(TERMINATE_ALL, _one_spared(0)),
        also="SESSION-027",
    ),
    fault("SESSION-029", "session-config-does-not-stick", pretending(SET_SESSION_CONFIG, "security")),
    fault(
        "SESSION-029",
        "session-config-is-capped",
        asked(
            SET_SESSION_CONFIG, lambda body: {"maxConcurrentSessions": min(body["maxConcurrentSessions"], 2)}
        ),
    ),
    fault(
        "SESSION-030",
        "session-config-of-another-account",
        reported(SESSION_CONFIG, "", accountBizId=lambda id: id[::-1]),
    ),
    fault(
        "SESSION-032",
        "session-config-takes-text",
        ruled(SET_SESSION_CONFIG, "maxConcurrentSessions", _whatever_number),
    ),
    fault("SESSION-033", "last-login-is-a-word", reported(SESSION_CONFIG, "", lastLoginAt="just now")),
    # History.
    fault("HISTORY-009", "refused-sign-ins-are-not-recorded", handled(INITIATE, _unrecorded)),
    fault("HISTORY-010", "completed-sign-ins-are-not-recorded", handled(COMPLETE, _unrecorded)),
    fault("HISTORY-013", "every-sign-in-has-a-reason", turned(HISTORY, "items[]", _reason_always)),
    fault("HISTORY-013", "no-sign-in-has-a-reason", turned(HISTORY, "items[]", _reason_never)),
)
