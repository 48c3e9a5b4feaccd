"""Second factors: which an account has, and whether a code is right."""

import hashlib
import hmac
from typing import Any

import pyotp

from reference_impl.portal import LoginSession, MfaCode, Portal, Record


def enabled_methods(portal: Portal, account: Record) -> list[str]:
    """Symbols, in the order of the constants list."""
    security = portal.security(account["bizId"])
    return [method for method in portal.choices.factors if security["factors"][method]["isEnabled"]]


def accepts(portal: Portal, session: LoginSession, method: str, code: str) -> bool:
    """Whether the code is right for the method; a right one is used up."""
    security = portal.security(session.account_id)
    if method == "OTP" and otp_accepted(portal, security, security["otpSecret"], code):
        return True
    if method == "EMAIL" and code_accepted(portal, portal.mfa_codes.get(session.id), code):
        return True
    return portal.choices.backup_codes_sign_in and _backup_code_accepted(portal, security, code)


def code_accepted(portal: Portal, issued: MfaCode | None, code: str) -> bool:
    """A sent code is right until it has expired or has been used."""
    if issued is None or issued.expires <= portal.now():
        return False
    right = hmac.compare_digest(issued.text.encode(), code.encode())
    moved = portal.next_state("mfa code", issued.state, "right code" if right else "wrong code")
    issued.state = moved or issued.state
    return right and moved is not None


def otp_accepted(portal: Portal, security: Record, secret: str | None, code: str) -> bool:
    """No code of a time step is accepted twice for one account."""
    if not secret:
        return False
    totp, drift = pyotp.TOTP(secret), portal.limits.otp_drift
    current = int(portal.now() // portal.limits.otp_step)
    for step in range(current - drift, current + drift + 1):
        right = totp.generate_otp(step)
        if [step, right] not in security["usedCodes"] and hmac.compare_digest(right.encode(), code.encode()):
            recent = [used for used in security["usedCodes"] if used[0] >= current - drift]
            security["usedCodes"] = [*recent, [step, right]]
            return True
    return False


def new_backup_codes(portal: Portal, security: Record) -> list[str]:
    codes = [f"{portal.draw.digits(4)}-{portal.draw.digits(4)}" for _ in range(portal.limits.backup_codes)]
    portal.change("security", security["bizId"], backupCodes={_digest(code): "UNUSED" for code in codes})
    return codes


def backup_codes_left(portal: Portal, security: Record) -> int:
    codes: dict[str, Any] = security["backupCodes"]
    return sum(portal.next_state("backup code", state, "right code") is not None for state in codes.values())


def _backup_code_accepted(portal: Portal, security: Record, code: str) -> bool:
    digest = _digest(code)
    state = security["backupCodes"].get(digest)
    moved = portal.next_state("backup code", state, "right code") if state else None
    if moved:
        security["backupCodes"][digest] = moved
    return moved is not None


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()
