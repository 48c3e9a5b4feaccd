"""IP whitelist, factors and backup codes (chapter "Security endpoints")."""

from typing import Any

import pyotp

from reference_impl.changes import data_rewritten, moved, together
from reference_impl.faults import operations as op
from reference_impl.faults.fault import (
    Call,
    answered,
    asked,
    first,
    pretending,
    reported,
    ruled,
    served,
    then,
)
from reference_impl.faults.verbs import each
from reference_impl.portal import Caller, Portal
from reference_impl.shapes import Body


def _by_any_authenticator(call: Call) -> Any:
    """One that is not verified yet, or was revoked, completes a sign-in too."""
    if call.login_session is None or call.body["method"] != OTP:
        return call.run()
    account = call.login_session.account_id
    security = call.portal.security(account)
    kept = {name: security[name] for name in ("otpSecret", "factors")}
    secret = security["otpOffered"] or security["otpSecret"] or call.memory.get(account)
    if secret:
        call.memory[account] = secret
        enabled = security["factors"]["OTP"] | {"isEnabled": True}
        security.update(otpSecret=secret, factors=security["factors"] | {"OTP": enabled})
    try:
        return call.run()
    finally:
        security.update(kept)


OTP = 10011002


def _any_code(portal: Portal, caller: Caller, body: Body) -> None:
    """Accepts every code: the correct code replaces the sent code."""
    secret = (
        portal.security(caller.account_id)["otpOffered"] or portal.security(caller.account_id)["otpSecret"]
    )
    body["code"] = pyotp.TOTP(secret).at(int(portal.now())) if secret else body["code"]


def _both(methods: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The authenticator is offered to everybody."""
    otp = {"code": "OTP", "value": OTP, "label": "Authenticator"}
    return methods if OTP in [method["value"] for method in methods] else [*methods, otp]


def _one_used_already(portal: Portal, caller: Caller, body: Body) -> None:
    """One of the new codes counts as used."""
    codes = portal.security(caller.account_id)["backupCodes"]
    codes[next(iter(codes))] = "USED"


def _never_emptied(call: Call) -> Any:
    kept = call.portal.security(call.caller.account_id)["whitelist"]
    data = call.run()
    if not call.body["ips"]:
        call.portal.change("security", call.caller.account_id, whitelist=kept)
    return data


def _with_what_is_set_up(call: Call, data: Any) -> Any:
    """The authenticator is offered from its set-up on."""
    account = call.portal.account_of(call.body["email"])
    if account is None or not call.portal.security(account["bizId"])["otpOffered"]:
        return data
    return data | {"mfaMethods": [call.portal.enumeration("user-mfa-methods", n) for n in ("EMAIL", "OTP")]}


ROWS = {
    "MFA-016 any-authenticator-completes-a-sign-in": served(op.COMPLETE, _by_any_authenticator).at(
        op.COMPLETE, op.OTP_SETUP, op.OTP_REVOKE
    ),
    "IPWHITELIST-011 disabling-the-whitelist-empties-it": then(
        op.DISABLE_WHITELIST,
        lambda portal, caller, body: portal.change("security", caller.account_id, whitelist=[]),
    ),
    "IPWHITELIST-003 whitelist-is-not-kept": pretending(op.SET_WHITELIST, "security"),
    "IPWHITELIST-003 whitelist-keeps-one-address": data_rewritten(
        lambda data: data | {"entries": data["entries"][:1]}, op.WHITELIST
    ),
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
    "MFA-012 revoked-authenticator-is-offered": reported(op.INITIATE, "", mfaMethods=_both),
    "MFA-013 verified-authenticator-does-not-sign-in": then(
        op.OTP_VERIFY,
        lambda portal, caller, body: portal.security(caller.account_id).update(
            otpSecret=portal.draw.base32()
        ),
    ),
    "BACKUP-003 a-negative-number-of-codes-remains": reported(op.BACKUP_CODES, "", remainingCount=-1),
    "BACKUP-004 generating-codes-does-not-reset-the-count": then(op.BACKUP_GENERATE, _one_used_already),
    "MFA-015 an-unverified-authenticator-is-offered": answered(op.INITIATE, _with_what_is_set_up),
    "IPWHITELIST-010 the-whitelist-is-never-emptied": served(op.SET_WHITELIST, _never_emptied),
    "IPWHITELIST-004 enabling-the-whitelist-twice-disables-it": moved(
        "ip whitelist", "ENABLED", "enable", "DISABLED"
    ).at(op.ENABLE_WHITELIST),
    "IPWHITELIST-005 disabling-the-whitelist-twice-enables-it": moved(
        "ip whitelist", "DISABLED", "disable", "ENABLED"
    ).at(op.DISABLE_WHITELIST),
}
