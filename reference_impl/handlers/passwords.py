"""Password forgot, reset, init and change (chapter "Authentication endpoints", gap N6)."""

from typing import Any

from reference_impl.errors import INVALID, Refusal
from reference_impl.factors import code_accepted
from reference_impl.passwords import hashed
from reference_impl.portal import Caller, MfaCode, Portal, Record
from reference_impl.shapes import Body

FORGOTTEN = "If an account has this address, a mail with a code is on its way."


def forgot(portal: Portal, caller: Caller, body: Body) -> Any:
    account = portal.account_of(body["email"])
    if account:
        send_password_code(portal, account)
    return {"success": True, "message": FORGOTTEN}


def by_code(portal: Portal, caller: Caller, body: Body) -> Any:
    """Reset and init alike: whoever holds the mailed code sets the password."""
    account = portal.account_of(body["email"])
    code = portal.password_codes.get(account["bizId"]) if account else None
    if account is None or not code_accepted(portal, code, body["code"]):
        raise Refusal(INVALID)
    set_password(portal, account["bizId"], body["newPassword"])


def change(portal: Portal, caller: Caller, body: Body) -> Any:
    if not portal.passwords[caller.account_id].matches(body["oldPassword"]):
        raise Refusal(INVALID)
    set_password(portal, caller.account_id, body["newPassword"])
    if portal.choices.password_change_ends_sessions:
        end_sessions(portal, caller.account_id, but=caller.session_id)


def send_password_code(portal: Portal, account: Record) -> None:
    now = portal.now()
    code = MfaCode(portal.draw.digits(6), expires=now + portal.limits.password_code, sent=now)
    portal.password_codes[account["bizId"]] = code
    portal.mail(account["accountEmail"], "Set your password", code=code.text)


def set_password(portal: Portal, account_id: str, plain: str) -> None:
    portal.passwords[account_id] = hashed(plain, portal.draw)
    portal.change("security", account_id, passwordChangedAt=portal.now())


def end_sessions(portal: Portal, account_id: str, *, but: str | None = None) -> None:
    for session in portal.sessions_of(account_id):
        if session.id != but:
            portal.end(session, "terminate")
