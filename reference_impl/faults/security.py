"""IP whitelist, factors, backup codes, sessions and history (chapter "Security endpoints")."""

from collections.abc import Callable
from typing import Any

import pyotp

from reference_impl.changes import data_rewritten, handled, moved, together
from reference_impl.faults.fault import asked, first, of, pretending, reported, ruled, turned
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
    of(
        "IPWHITELIST-003",
        "whitelist-is-not-kept",
        SET_WHITELIST,
        apply=pretending(SET_WHITELIST, "security"),
        spreads=True,
    ),
    of(
        "IPWHITELIST-003",
        "whitelist-keeps-one-address",
        WHITELIST,
        apply=data_rewritten(_first_alone, WHITELIST),
    ),
    of(
        "IPWHITELIST-004",
        "enabling-the-whitelist-does-not-stick",
        ENABLE_WHITELIST,
        apply=moved("ip whitelist", "DISABLED", "enable", "DISABLED"),
        spreads=True,
    ),
    of(
        "IPWHITELIST-005",
        "disabling-the-whitelist-does-not-stick",
        DISABLE_WHITELIST,
        apply=moved("ip whitelist", "ENABLED", "disable", "ENABLED"),
        spreads=True,
    ),
    of(
        "IPWHITELIST-009",
        "whitelist-takes-text",
        SET_WHITELIST,
        apply=together(
            (ruled(SET_WHITELIST, "ips", _any_list), asked(SET_WHITELIST, lambda body: body | {"ips": []}))
        ),
    ),
    # Factors.
    of("MFA-005", "every-method-is-primary", MFA, apply=data_rewritten(_last_primary_too, MFA)),
    of(
        "MFA-006",
        "methods-are-listed-as-disabled",
        MFA,
        apply=data_rewritten(_each(isEnabled=False), MFA),
        also="MFA-009",
    ),
    of("MFA-007", "a-method-twice", MFA, apply=data_rewritten(_twice, MFA)),
    of("MFA-008", "verified-at-is-a-word", MFA, apply=data_rewritten(_each(verifiedAt="yesterday"), MFA)),
    of(
        "MFA-009",
        "verified-authenticator-is-not-enabled",
        OTP_VERIFY,
        apply=pretending(OTP_VERIFY, "security"),
        spreads=True,
        also="MFA-013",
    ),
    of(
        "MFA-010",
        "any-code-verifies-an-authenticator",
        OTP_VERIFY,
        apply=first(OTP_VERIFY, _any_code),
        spreads=True,
    ),
    of(
        "MFA-011",
        "revoked-authenticator-stays-enabled",
        OTP_REVOKE,
        apply=pretending(OTP_REVOKE, "security"),
        spreads=True,
        also="MFA-012",
    ),
    of(
        "MFA-011",
        "revoked-authenticator-is-listed-as-enabled",
        MFA,
        apply=data_rewritten(_each(isEnabled=True), MFA),
    ),
    of(
        "MFA-012",
        "revoked-authenticator-is-offered",
        INITIATE,
        apply=turned(INITIATE, "", lambda data: data.update(mfaMethods=_both(data["mfaMethods"]))),
    ),
    of(
        "MFA-013",
        "verified-authenticator-does-not-sign-in",
        OTP_VERIFY,
        apply=handled(OTP_VERIFY, _secret_lost),
        spreads=True,
    ),
    # Backup codes.
    of(
        "BACKUP-003",
        "more-codes-remain-than-were-made",
        BACKUP_CODES,
        apply=reported(BACKUP_CODES, "", remainingCount=lambda count: count + 11),
    ),
    of(
        "BACKUP-003",
        "a-negative-number-of-codes-remains",
        BACKUP_CODES,
        apply=reported(BACKUP_CODES, "", remainingCount=-1),
        also="BACKUP-004",
    ),
    of(
        "BACKUP-004",
        "generating-codes-does-not-reset-the-count",
        BACKUP_GENERATE,
        apply=handled(BACKUP_GENERATE, _one_used_already),
        spreads=True,
    ),
    # Sessions.
    of(
        "SESSION-020",
        "no-session-is-current",
        SESSIONS,
        apply=data_rewritten(_each(isCurrent=False), SESSIONS),
        also="SESSION-022",
    ),
    of(
        "SESSION-020",
        "every-session-is-current",
        SESSIONS,
        apply=data_rewritten(_each(isCurrent=True), SESSIONS),
        also="SESSION-022",
    ),
    of(
        "SESSION-021", "new-sign-in-is-not-listed", SESSIONS, apply=data_rewritten(_newest_left_out, SESSIONS)
    ),
    of(
        "SESSION-022",
        "newest-session-is-current-for-all",
        SESSIONS,
        apply=data_rewritten(_other_is_current, SESSIONS),
    ),
    of(
        "SESSION-023",
        "activity-before-the-login",
        SESSIONS,
        apply=turned(SESSIONS, "[]", _activity_before_login),
    ),
    of(
        "SESSION-024",
        "a-session-twice",
        SESSIONS,
        apply=data_rewritten(lambda data: [*data, data[-1] | {"isCurrent": False}], SESSIONS),
    ),
    of(
        "SESSION-025",
        "terminated-session-goes-on",
        TERMINATE,
        apply=together(
            (moved("session", "ACTIVE", "terminate", "LEFT"), moved("session", "LEFT", "call", "LEFT"))
        ),
        spreads=True,
        also="SESSION-027",
    ),
    of(
        "SESSION-025 SESSION-026",
        "terminate-does-nothing",
        TERMINATE,
        apply=handled(TERMINATE, lambda handler: lambda portal, caller, body: None),
        spreads=True,
    ),
    of(
        "SESSION-027",
        "terminate-all-does-nothing",
        TERMINATE_ALL,
        apply=handled(TERMINATE_ALL, lambda handler: lambda portal, caller, body: None),
        spreads=True,
    ),
    of(
        "SESSION-027",
        "terminate-all-spares-the-newest",
        TERMINATE_ALL,
        apply=handled(TERMINATE_ALL, _one_spared(-1)),
        spreads=True,
    ),
    of(
        "SESSION-039",
        "terminate-all-spares-the-oldest",
        TERMINATE_ALL,
        apply=handled(TERMINATE_ALL, _one_spared(0)),
        also="SESSION-027",
    ),
    of(
        "SESSION-029",
        "session-config-does-not-stick",
        SET_SESSION_CONFIG,
        apply=pretending(SET_SESSION_CONFIG, "security"),
        spreads=True,
    ),
    of(
        "SESSION-029",
        "session-config-is-capped",
        SET_SESSION_CONFIG,
        apply=asked(
            SET_SESSION_CONFIG, lambda body: {"maxConcurrentSessions": min(body["maxConcurrentSessions"], 2)}
        ),
        spreads=True,
    ),
    of(
        "SESSION-030",
        "session-config-of-another-account",
        SESSION_CONFIG,
        apply=reported(SESSION_CONFIG, "", accountBizId=lambda id: id[::-1]),
    ),
    of(
        "SESSION-032",
        "session-config-takes-text",
        SET_SESSION_CONFIG,
        apply=ruled(SET_SESSION_CONFIG, "maxConcurrentSessions", _whatever_number),
    ),
    of(
        "SESSION-033",
        "last-login-is-a-word",
        SESSION_CONFIG,
        apply=reported(SESSION_CONFIG, "", lastLoginAt="just now"),
    ),
    # History.
    of(
        "HISTORY-009",
        "refused-sign-ins-are-not-recorded",
        INITIATE,
        apply=handled(INITIATE, _unrecorded),
        spreads=True,
    ),
    of(
        "HISTORY-010",
        "completed-sign-ins-are-not-recorded",
        COMPLETE,
        apply=handled(COMPLETE, _unrecorded),
        spreads=True,
    ),
    of(
        "HISTORY-013", "every-sign-in-has-a-reason", HISTORY, apply=turned(HISTORY, "items[]", _reason_always)
    ),
    of("HISTORY-013", "no-sign-in-has-a-reason", HISTORY, apply=turned(HISTORY, "items[]", _reason_never)),
)
