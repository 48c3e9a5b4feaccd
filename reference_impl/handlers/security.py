"""IP whitelist, factors, backup codes, sessions and history of the caller (chapter "Security endpoints")."""

import ipaddress
from functools import partial
from typing import Any

from reference_impl.errors import INVALID, Refusal
from reference_impl.factors import backup_codes_left, new_backup_codes, otp_accepted
from reference_impl.paging import with_pagination
from reference_impl.portal import Caller, Portal, Record
from reference_impl.shapes import Body

# IP whitelist.


def whitelist(portal: Portal, caller: Caller, body: Body) -> Any:
    security = portal.security(caller.account_id)
    entries = security["whitelist"]
    if portal.choices.whitelist_entries == "objects":
        entries = [{"ip": entry} for entry in entries]
    return {"enabled": security["whitelistState"] == "ENABLED", "entries": entries}


def set_whitelist(portal: Portal, caller: Caller, body: Body) -> Any:
    portal.change("security", caller.account_id, whitelist=[_address(ip) for ip in body["ips"]])
    return whitelist(portal, caller, {})


def switch_whitelist(trigger: str, portal: Portal, caller: Caller, body: Body) -> Any:
    state = portal.security(caller.account_id)["whitelistState"]
    moved = portal.next_state("ip whitelist", state, trigger)
    portal.change("security", caller.account_id, whitelistState=moved or state)
    return whitelist(portal, caller, {})


enable_whitelist = partial(switch_whitelist, "enable")
disable_whitelist = partial(switch_whitelist, "disable")


def _address(ip: str) -> str:
    """An address, or a network as ``192.0.2.0/24``."""
    try:
        parsed = ipaddress.ip_network if "/" in ip else ipaddress.ip_address
        return str(parsed(ip.strip()))
    except ValueError:
        raise Refusal(INVALID) from None


# Factors.


def mfa(portal: Portal, caller: Caller, body: Body) -> Any:
    factors = portal.security(caller.account_id)["factors"]
    offered = portal.choices.factors
    return portal.views("mfa setting", ({"mfaMethod": name} | factors[name] for name in offered))


def set_up_otp(portal: Portal, caller: Caller, body: Body) -> Any:
    secret = portal.draw.base32()
    portal.change("security", caller.account_id, otpOffered=secret)
    email = caller.account["accountEmail"]
    return {"secret": secret, "otpAuthUri": f"otpauth://totp/Portal:{email}?secret={secret}&issuer=Portal"}


def verify_otp(portal: Portal, caller: Caller, body: Body) -> Any:
    security = portal.security(caller.account_id)
    if not otp_accepted(portal, security, security["otpOffered"] or security["otpSecret"], body["code"]):
        raise Refusal("AUTH.MFA_CODE_INVALID")
    secret = security["otpOffered"] or security["otpSecret"]
    portal.change("security", caller.account_id, otpSecret=secret, otpOffered=None)
    return _switch_otp(portal, caller, enabled=True)


def revoke_otp(portal: Portal, caller: Caller, body: Body) -> Any:
    if "EMAIL" not in portal.choices.factors:
        raise Refusal("LAST_FACTOR")
    portal.change("security", caller.account_id, otpSecret=None, otpOffered=None)
    return _switch_otp(portal, caller, enabled=False)


def _switch_otp(portal: Portal, caller: Caller, *, enabled: bool) -> Any:
    factors = portal.security(caller.account_id)["factors"]
    email_serves = "EMAIL" in portal.choices.factors
    otp = {
        "isEnabled": enabled,
        "isPrimary": enabled and (factors["OTP"]["isPrimary"] or not email_serves),
        "verifiedAt": portal.now() if enabled else None,
    }
    email = factors["EMAIL"] | {"isPrimary": not otp["isPrimary"]}
    if portal.choices.authenticator_replaces_email:
        email["isEnabled"] = not enabled
    portal.change("security", caller.account_id, factors={"EMAIL": email, "OTP": otp})
    return mfa(portal, caller, {})


def backup_codes(portal: Portal, caller: Caller, body: Body) -> Any:
    security = portal.security(caller.account_id)
    return {
        "remainingCount": backup_codes_left(portal, security),
        "totalGenerated": len(security["backupCodes"]),
    }


def generate_backup_codes(portal: Portal, caller: Caller, body: Body) -> Any:
    return {"codes": new_backup_codes(portal, portal.security(caller.account_id))}


# Sessions.


def sessions(portal: Portal, caller: Caller, body: Body) -> Any:
    return [
        portal.view(
            "session",
            {
                "sessionId": session.id,
                "clientIp": session.client_ip,
                "userAgent": session.user_agent,
                "loginTime": session.login_time,
                "lastActivityTime": session.last_activity,
                "isCurrent": session.id == caller.session_id,
            },
        )
        for session in reversed(portal.sessions_of(caller.account_id))
    ]


def config(portal: Portal, caller: Caller, body: Body) -> Any:
    security = portal.security(caller.account_id)
    return portal.view("session config", {"accountBizId": caller.account_id} | security)


def set_config(portal: Portal, caller: Caller, body: Body) -> Any:
    most = body["maxConcurrentSessions"]
    if most > portal.limits.max_sessions_settable:
        raise Refusal(INVALID)
    portal.change("security", caller.account_id, maxSessions=most)
    return config(portal, caller, {})


def history(portal: Portal, caller: Caller, body: Body) -> Any:
    newest_first: list[Record] = portal.history.get(caller.account_id, [])[::-1]
    return with_pagination(portal, "login history", newest_first, body)


def terminate(portal: Portal, caller: Caller, body: Body) -> Any:
    own = {session.id: session for session in portal.sessions_of(caller.account_id)}
    ending = own.get(body["sessionId"])
    if ending is None:
        raise Refusal("RESOURCE.NOT_FOUND")
    portal.end(ending, "terminate")


def terminate_all(portal: Portal, caller: Caller, body: Body) -> Any:
    spared = caller.session_id if portal.choices.terminate_all_spares_current else None
    for session in portal.sessions_of(caller.account_id):
        if session.id != spared:
            portal.end(session, "terminate")
