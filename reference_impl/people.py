"""Accounts of a new portal, and the credentials of accounts that can sign in."""

from dataclasses import dataclass
from typing import Any

from reference_impl.factors import new_backup_codes
from reference_impl.passwords import hashed
from reference_impl.portal import Portal, Record

DAY = 86400.0


@dataclass(frozen=True, slots=True)
class SignIn:
    """An account with the credentials that a client needs to sign in."""

    name: str
    account_id: str
    email: str
    password: str
    mfa: str
    otp_secret: str


def sign_in(portal: Portal, name: str, *, mfa: str, **more: Any) -> SignIn:
    id = account(portal, name.capitalize(), f"{name}@example.test", age=360, **more)
    otp_secret, password = portal.draw.base32(), f"Pw-{portal.draw.token()[:20]}"
    otp_too = name != "spare" or "EMAIL" not in portal.choices.factors
    security(portal, id, otp_secret=otp_secret if otp_too else None, primary=mfa)
    portal.passwords[id] = hashed(password, portal.draw)
    usable = mfa if mfa in portal.choices.factors else portal.choices.factors[0]
    return SignIn(name, id, f"{name}@example.test", password, usable, otp_secret if otp_too else "")


def account(portal: Portal, name: str, email: str, *, age: float, **more: Any) -> str:
    values: Record = {
        "accountEmail": email,
        "accountPhone": f"+1 555 01{len(portal.records['account']):02d}",
        "accountName": name,
        "accountRemark": None,
        "accountPortal": "SYSTEM",
        "accountStatus": "ACTIVE",
        "defaultLanguage": "en",
        "defaultTimezone": "UTC",
        "defaultCountry": "US",
        "roleBizIds": [],
        "workspaceBizIds": [],
    }
    return add_aged(portal, "account", age, values | more)


def security(portal: Portal, account: str, *, otp_secret: str | None, primary: str) -> None:
    verified = portal.now() - 200 * DAY
    has_otp = otp_secret is not None
    added = portal.add(
        "security",
        {
            "bizId": account,
            "whitelistState": "DISABLED",
            "whitelist": [],
            "factors": {
                "EMAIL": {"isEnabled": True, "isPrimary": primary == "EMAIL", "verifiedAt": verified},
                "OTP": {
                    "isEnabled": has_otp,
                    "isPrimary": primary == "OTP",
                    "verifiedAt": verified if has_otp else None,
                },
            },
            "otpSecret": otp_secret,
            "otpOffered": None,
            "usedCodes": [],
            "backupCodes": {},
            "ssoEnabled": False,
            "maxSessions": portal.limits.max_sessions,
            "passwordChangedAt": None,
            "lastLoginAt": None,
            "lastLoginIp": None,
        },
    )
    if has_otp:
        new_backup_codes(portal, added)


def aged(portal: Portal, kind: str, days: float) -> Record:
    created = portal.now() - days * DAY
    return {"bizId": portal.new_id(kind), "createdAt": created, "updatedAt": created}


def add_aged(portal: Portal, kind: str, days: float, values: Record) -> str:
    """The id of a record that was made so many days ago."""
    return str(portal.add(kind, aged(portal, kind, days) | values)["bizId"])
