"""Sign-in, sign-out and tokens (chapter "Authentication endpoints")."""

import ipaddress
import math
from typing import Any

from reference_impl.errors import INVALID, Refusal
from reference_impl.factors import accepts, enabled_methods
from reference_impl.portal import Caller, LoginSession, MfaCode, Portal, Record, RefreshToken, Session
from reference_impl.shapes import Body

DELIVERED = "EMAIL"
PENDING = "REGISTERED"
CLOSED = ("SUSPENDED", "CLOSED")


def initiate(portal: Portal, caller: Caller, body: Body) -> Any:
    account = _account_with_password(portal, caller, body)
    if account["accountStatus"] in CLOSED:
        raise Refusal("ACCOUNT_CLOSED")
    admit_address(portal, account["bizId"], caller.client_ip)
    session = _login_session(portal, caller, account)
    answer = {
        "sessionId": session.id,
        "mfaMethods": [
            portal.enumeration("user-mfa-methods", method) for method in enabled_methods(portal, account)
        ],
        "expiresIn": _whole(portal.limits.login_session),
        **_approval(portal, account),
    }
    if _is_pending(account) and portal.choices.pending_at_initiate == "code":
        raise Refusal("ACCOUNT_PENDING_APPROVAL", data=answer | {"isPendingApproval": True})
    return answer


def send(portal: Portal, caller: Caller, body: Body) -> Any:
    session = _open_login_session(portal, caller, body["sessionId"])
    account = portal.find("account", session.account_id)
    if _method(portal, account, body["method"]) != DELIVERED:
        raise Refusal(INVALID)
    _send_code(portal, session, account)
    return {
        "sent": True,
        "cooldownSeconds": _whole(portal.limits.mfa_cooldown),
        "codeExpiresIn": _whole(portal.limits.mfa_code),
    }


def complete(portal: Portal, caller: Caller, body: Body) -> Any:
    session = _open_login_session(portal, caller, body["sessionId"])
    account = portal.find("account", session.account_id)
    method = _method(portal, account, body["method"])
    right = accepts(portal, session, method, body["code"])
    _advance(portal, session, "right code" if right else "wrong code")
    if not right:
        portal.record_sign_in(session.account_id, caller, failure="MFA_CODE_INVALID")
        raise Refusal("AUTH.MFA_CODE_INVALID")
    portal.record_sign_in(session.account_id, caller)
    signed_in = _sign_in(portal, caller, account)
    return _token_pair(portal, signed_in, _new_refresh_token(portal, signed_in)) | _approval(portal, account)


def logout(portal: Portal, caller: Caller, body: Body) -> Any:
    ending = portal.sessions_of(caller.account_id)
    if portal.choices.logout_ends == "own":
        ending = [session for session in ending if session.id == caller.session_id]
    for session in ending:
        portal.end(session, "logout")
    return {"success": True, "terminatedSessions": len(ending)}


def refresh(portal: Portal, caller: Caller, body: Body) -> Any:
    text = body["refreshToken"]
    token = portal.refresh_tokens.get(text)
    if token is None or token.expires <= portal.now():
        raise Refusal("AUTH.SESSION_NOT_FOUND")
    session = portal.sessions[token.session_id]
    moved = portal.next_state("refresh token", token.state, "refresh")
    alive = portal.next_state("session", session.state, "refresh")
    if moved is None or alive is None:
        raise Refusal("AUTH.SESSION_NOT_FOUND")
    if portal.choices.refresh_rotation:
        token.state = moved
        text = _new_refresh_token(portal, session)
    return _token_pair(portal, session, text)


# The login session.


def count_initiation(portal: Portal, caller: Caller, email: str) -> None:
    """Lets ten through in a window; raises Refusal for the rest, which do not count."""
    choices, now = portal.choices, portal.now()
    scope = {"address": caller.client_ip, "account": email.casefold(), "all": ""}[choices.rate_scope]
    window = portal.limits.login_window
    counted = portal.initiations.get(scope, [])
    if choices.rate_window == "sliding":
        counted = [moment for moment in counted if moment > now - window]
    elif counted and counted[0] <= now - window:
        counted = []
    if len(counted) >= portal.limits.login_initiations:
        wait = max(1, math.ceil(counted[0] + window - now))
        raise Refusal("RATE_LIMITED", headers={"retry-after": str(wait)} if choices.retry_after else None)
    portal.initiations[scope] = [*counted, now]


def _account_with_password(portal: Portal, caller: Caller, body: Body) -> Record:
    account = portal.account_of(body["email"])
    password = portal.passwords.get(account["bizId"]) if account else None
    if account and password and password.matches(body["password"]):
        return account
    if account:
        portal.record_sign_in(account["bizId"], caller, failure="INVALID_CREDENTIALS")
    raise Refusal("AUTH.INVALID_CREDENTIALS")


def admit_address(portal: Portal, account_id: str, client_ip: str) -> None:
    """A whitelist without entries keeps nobody out: it would lock its owner out for good."""
    security, is_enforced = portal.security(account_id), portal.choices.whitelist_enforced
    if security["whitelistState"] != "ENABLED" or not security["whitelist"] or not is_enforced:
        return
    try:
        address = ipaddress.ip_address(client_ip)
    except ValueError:
        raise Refusal("ADDRESS_REFUSED") from None
    if not any(address in ipaddress.ip_network(entry) for entry in security["whitelist"]):
        raise Refusal("ADDRESS_REFUSED")


def _login_session(portal: Portal, caller: Caller, account: Record) -> LoginSession:
    state = portal.next_state("login session", "NONE", "initiate")
    session = LoginSession(
        id=portal.new_id("login session"),
        account_id=account["bizId"],
        client_hash=caller.client_hash,
        expires=portal.now() + portal.limits.login_session,
        state=state or "NONE",
    )
    portal.login_sessions[session.id] = session
    return session


def _open_login_session(portal: Portal, caller: Caller, id: str) -> LoginSession:
    session = portal.login_sessions.get(id)
    if session is None or session.expires <= portal.now():
        raise Refusal("AUTH.SESSION_NOT_FOUND")
    if portal.next_state("login session", session.state, "right code") is None:
        raise Refusal("AUTH.SESSION_NOT_FOUND")
    if portal.choices.client_hash_enforced and session.client_hash != caller.client_hash:
        raise Refusal("AUTH.SESSION_NOT_FOUND")
    return session


def _advance(portal: Portal, session: LoginSession, trigger: str) -> None:
    session.state = portal.next_state("login session", session.state, trigger) or session.state


def _method(portal: Portal, account: Record, value: int) -> str:
    symbol = portal.symbol("user-mfa-methods", value)
    if symbol not in enabled_methods(portal, account):
        raise Refusal(INVALID)
    return symbol


def _send_code(portal: Portal, session: LoginSession, account: Record) -> None:
    now = portal.now()
    scope = session.id if portal.choices.cooldown_scope == "session" else session.account_id
    last = portal.mfa_codes.get(scope)
    if last and now < last.sent + portal.limits.mfa_cooldown:
        raise Refusal("AUTH.MFA_SEND_COOLDOWN")
    code = MfaCode(portal.draw.digits(portal.limits.mfa_code_digits), now + portal.limits.mfa_code, sent=now)
    portal.mfa_codes[scope] = portal.mfa_codes[session.id] = code
    _advance(portal, session, "send")
    portal.mail(account["accountEmail"], "Your sign-in code", code=code.text)


# What a sign-in gives.


def _sign_in(portal: Portal, caller: Caller, account: Record) -> Session:
    now, security = portal.now(), portal.security(account["bizId"])
    others = portal.sessions_of(account["bizId"])
    for oldest in others[: max(0, len(others) + 1 - security["maxSessions"])]:
        portal.end(oldest, "displace")
    security.update(lastLoginAt=now, lastLoginIp=caller.client_ip)
    session = Session(
        id=portal.new_id("session"),
        account_id=account["bizId"],
        client_ip=caller.client_ip,
        user_agent=caller.user_agent,
        login_time=now,
        last_activity=now,
    )
    portal.sessions[session.id] = session
    return session


def _token_pair(portal: Portal, session: Session, refresh_token: str) -> Record:
    issued = int(portal.now())
    claims = {
        "sub": session.account_id,
        "jti": portal.draw.token(),
        "sid": session.id,
        "iat": issued,
        "exp": issued + portal.limits.access_token,
        "portal": "SYSTEM",
    }
    return {
        "accessToken": portal.tokens.issue(claims),
        "refreshToken": refresh_token,
        "expiresIn": _whole(portal.limits.access_token),
    }


def _new_refresh_token(portal: Portal, session: Session) -> str:
    token = portal.draw.token()
    portal.refresh_tokens[token] = RefreshToken(session.id, portal.now() + portal.limits.refresh_token)
    return token


def _approval(portal: Portal, account: Record) -> Record:
    pending = _is_pending(account)
    is_shown = pending or portal.choices.account_status_at_sign_in == "always"
    status = portal.enumeration("user-account-statuses", account["accountStatus"]) if is_shown else None
    return {"accountStatus": status, "pendingApproval": pending}


def _is_pending(account: Record) -> bool:
    return bool(account["accountStatus"] == PENDING)


def _whole(seconds: float) -> int:
    """``expiresIn`` is an integer on the wire, whatever a test sets the limit to."""
    return math.ceil(seconds)
