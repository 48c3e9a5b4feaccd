"""IP whitelist, factors and backup codes (chapter "Security endpoints")."""

from typing import Any

import pyotp

from reference_impl.changes import data_rewritten, handled, moved, together
from reference_impl.faults import operations as op
from reference_impl.faults.fault import Call, asked, first, pretending, reported, ruled, served, then, turned
from reference_impl.faults.verbs import each
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body


def _by_any_authenticator(handler: Handler) -> Handler:
    """One that is not verified yet, or was revoked, completes a sign-in too."""
    secrets: dict[str, str] = {}

    def completing(portal: Portal, caller: Caller, body: Body) -> Any:
        session = portal.login_sessions.get(body["sessionId"])
        if session is None or body["method"] != OTP:
            return handler(portal, caller, body)
        security = portal.security(session.account_id)
        kept = {name: security[name] for name in ("otpSecret", "factors")}
        secret = security["otpOffered"] or security["otpSecret"] or secrets.get(session.account_id)
        if secret:
            secrets[session.account_id] = secret
            enabled = security["factors"]["OTP"] | {"isEnabled": True}
            security.update(otpSecret=secret, factors=security["factors"] | {"OTP": enabled})
        try:
            return handler(portal, caller, body)
        finally:
            security.update(kept)

    return completing


OTP = 10011002


def _emptied(portal: Portal, caller: Caller, body: Body) -> None:
    portal.change("security", caller.account_id, whitelist=[])


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


def _secret_lost(call: Call) -> Any:
    """The new secret is not kept: another one checks the codes."""
    data = call.run()
    call.portal.security(call.caller.account_id)["otpSecret"] = call.portal.draw.base32()
    return data


def _one_used_already(call: Call) -> Any:
    """One of the new codes counts as used."""
    data = call.run()
    codes = call.portal.security(call.caller.account_id)["backupCodes"]
    codes[next(iter(codes))] = "USED"
    return data


def _never_emptied(call: Call) -> Any:
    kept = call.portal.security(call.caller.account_id)["whitelist"]
    data = call.run()
    if not call.body["ips"]:
        call.portal.change("security", call.caller.account_id, whitelist=kept)
    return data


def _with_what_is_set_up(call: Call) -> Any:
    """The authenticator is offered from its set-up on."""
    data = call.run()
    account = call.portal.account_of(call.body["email"]) or {}
    if account and call.portal.security(account["bizId"])["otpOffered"]:
        methods = [call.portal.enumeration("user-mfa-methods", name) for name in ("EMAIL", "OTP")]
        data = data | {"mfaMethods": methods}
    return data


def _of_every_set(handler: Handler) -> Handler:
    """Codes of the sets before remain beside those of the last."""
    sets: dict[str, list[dict[str, Any]]] = {}

    def summing_up(portal: Portal, caller: Caller, body: Body) -> Any:
        data, codes = handler(portal, caller, body), portal.security(caller.account_id)["backupCodes"]
        own = sets.setdefault(caller.account_id, [])
        if codes and codes not in own:
            own.append(codes)
        return data | {"remainingCount": max(data["remainingCount"], sum(map(len, own)))}

    return summing_up


ROWS = {
    "MFA-016 any-authenticator-completes-a-sign-in": handled(op.COMPLETE, _by_any_authenticator).at(
        op.COMPLETE, op.OTP_SETUP, op.OTP_REVOKE
    ),
    "IPWHITELIST-011 disabling-the-whitelist-empties-it": then(op.DISABLE_WHITELIST, _emptied),
    "IPWHITELIST-003 whitelist-is-not-kept": pretending(op.SET_WHITELIST, "security"),
    "IPWHITELIST-003 whitelist-keeps-one-address": data_rewritten(
        lambda data: data | {"entries": data["entries"][:1]}, op.WHITELIST
    ),
    "IPWHITELIST-004 enabling-the-whitelist-does-not-stick": moved(
        "ip whitelist", "DISABLED", "enable", "DISABLED"
    ).at(op.ENABLE_WHITELIST),
    "IPWHITELIST-005 disabling-the-whitelist-does-not-stick": moved(
        "ip whitelist", "ENABLED", "disable", "ENABLED"
    ).at(op.DISABLE_WHITELIST),
    "IPWHITELIST-009 whitelist-takes-text": together(
        ruled(op.SET_WHITELIST, "ips", lambda value, limits: [value] if isinstance(value, str) else []),
        asked(op.SET_WHITELIST, lambda body: body | {"ips": []}),
    ),
    "MFA-005 every-method-is-primary": data_rewritten(
        lambda data: [item | {"isPrimary": True} for item in data] if len(data) > 1 else data, op.MFA
    ),
    "MFA-006 methods-are-listed-as-disabled": data_rewritten(each(isEnabled=False), op.MFA),
    "MFA-007 a-method-twice": data_rewritten(lambda data: [*data, *data[:1]], op.MFA),
    "MFA-008 verified-at-is-a-word": data_rewritten(each(verifiedAt="yesterday"), op.MFA),
    "MFA-009 verified-authenticator-is-not-enabled": pretending(op.OTP_VERIFY, "security"),
    "MFA-010 any-code-verifies-an-authenticator": first(op.OTP_VERIFY, _any_code),
    "MFA-011 revoked-authenticator-stays-enabled": pretending(op.OTP_REVOKE, "security"),
    "MFA-012 revoked-authenticator-is-offered": turned(
        op.INITIATE, "", lambda data: data.update(mfaMethods=_both(data["mfaMethods"]))
    ),
    "MFA-013 verified-authenticator-does-not-sign-in": served(op.OTP_VERIFY, _secret_lost),
    "BACKUP-003 a-negative-number-of-codes-remains": reported(op.BACKUP_CODES, "", remainingCount=-1),
    "BACKUP-004 generating-codes-does-not-reset-the-count": served(op.BACKUP_GENERATE, _one_used_already),
    "MFA-015 an-unverified-authenticator-is-offered": served(op.INITIATE, _with_what_is_set_up),
    "IPWHITELIST-010 the-whitelist-is-never-emptied": served(op.SET_WHITELIST, _never_emptied),
    "IPWHITELIST-003 a-whitelist-forgets-long-addresses": asked(
        op.SET_WHITELIST, lambda body: body | {"ips": [ip for ip in body["ips"] if ":" not in ip]}
    ),
    "BACKUP-003 backup-codes-of-earlier-sets-remain": handled(op.BACKUP_CODES, _of_every_set),
    "IPWHITELIST-004 enabling-the-whitelist-twice-disables-it": moved(
        "ip whitelist", "ENABLED", "enable", "DISABLED"
    ).at(op.ENABLE_WHITELIST),
    "IPWHITELIST-005 disabling-the-whitelist-twice-enables-it": moved(
        "ip whitelist", "DISABLED", "disable", "ENABLED"
    ).at(op.DISABLE_WHITELIST),
}
