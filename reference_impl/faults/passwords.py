"""Forgotten, changed and reset passwords (chapter "Authentication endpoints")."""

from typing import Any

from reference_impl.changes import Change, rewritten, row, together, wrapped
from reference_impl.errors import INVALID
from reference_impl.faults import operations as op
from reference_impl.faults.fault import (
    Call,
    asked,
    erring,
    first,
    forgetting,
    on_success,
    optional,
    renamed,
    served,
    then,
)
from reference_impl.faults.requests import AnyChannel
from reference_impl.passwords import hashed
from reference_impl.portal import Caller, Portal
from reference_impl.shapes import Body
from reference_impl.wrappers import Seen

OCTETS = 72


def _cut(body: Body) -> Body:
    return body | {name: str(value)[:OCTETS] for name, value in body.items() if "assword" in name}


def _of_any_code(portal: Portal, caller: Caller, body: Body) -> None:
    """Whoever was mailed a code at some time sets a password by any."""
    account = portal.account_of(body["email"]) or {"bizId": ""}
    code = portal.password_codes.get(account["bizId"])
    if code is not None:
        code.text, code.state, code.expires = body["code"], "SENT", portal.now() + 60


def _of_whomever(portal: Portal, caller: Caller, body: Body) -> None:
    """A code that some account was mailed sets the password of each."""
    account = portal.account_of(body["email"])
    codes = [code for code in portal.password_codes.values() if code.text == body["code"]]
    if account and codes:
        portal.password_codes[account["bizId"]] = codes[0]


def _undated(operation: str) -> Change:
    """Whose password is changed is known by the address, or by the session."""

    def serve(call: Call) -> Any:
        body = call.body
        account = call.portal.account_of(body["email"]) if "email" in body else call.caller.account
        security = call.portal.security(account["bizId"]) if account else {"passwordChangedAt": None}
        dated, data = security["passwordChangedAt"], call.run()
        security["passwordChangedAt"] = dated or security["passwordChangedAt"]
        return data

    return served(operation, serve)


def _unchecked(portal: Portal, caller: Caller, body: Body) -> None:
    """The current password is taken for right, whatever it is."""
    portal.passwords[caller.account_id] = hashed(body["oldPassword"], portal.draw)


def _known_addresses_told(seen: Seen, data: Any) -> None:
    if seen.portal.account_of(seen.body["email"]) is None:
        data["message"] = "No account has this address."


def _locked_until_reset(portal: Portal, caller: Caller, body: Body) -> None:
    account = portal.account_of(body["email"]) or {"bizId": ""}
    portal.passwords[account["bizId"]] = hashed(portal.draw.token(), portal.draw)


ROWS = {
    "PASSWORD-015 unknown-secure-session-opens-a-body": wrapped(
        lambda app: AnyChannel(app, exists=False), op.CHANGE
    ),
    "PASSWORD-024 passwords-are-cut-at-72-octets": together(asked(op.CHANGE, _cut), asked(op.INITIATE, _cut)),
    "PASSWORD-022 any-code-sets-a-password": together(
        first(op.RESET, _of_any_code), first(op.INIT, _of_any_code)
    ),
    "PASSWORD-022 a-code-sets-the-password-of-another": first(op.RESET, _of_whomever),
    "PASSWORD-020 a-changed-password-is-not-dated": _undated(op.CHANGE),
    "PASSWORD-020 a-reset-password-is-not-dated": _undated(op.RESET),
    "PASSWORD-020 an-initialized-password-is-not-dated": _undated(op.INIT),
    "PASSWORD-003 forgot-tells-unknown-addresses": rewritten(on_success(_known_addresses_told), op.FORGOT),
    "PASSWORD-004 forgot-asks-for-no-challenge": row(op.FORGOT, bot=""),
    "PASSWORD-006 forgot-without-email-is-answered": optional(op.FORGOT, "email", "nobody@example.test"),
    "PASSWORD-007 PASSWORD-008 changed-password-does-not-stick": forgetting(op.CHANGE, "passwords"),
    "PASSWORD-009 PASSWORD-010 reset-password-does-not-stick": forgetting(op.RESET, "passwords"),
    "PASSWORD-011 initialized-password-does-not-stick": forgetting(op.INIT, "passwords"),
    "PASSWORD-019 reset-takes-plain-bodies": row(op.RESET, sealed=False),
    "PASSWORD-012 reset-refuses-a-malformed-body-as-unknown": renamed(
        op.RESET, INVALID, "RESOURCE.NOT_FOUND"
    ),
    "PASSWORD-013 init-refuses-a-malformed-body-as-unknown": renamed(op.INIT, INVALID, "RESOURCE.NOT_FOUND"),
    "PASSWORD-014 change-refuses-a-malformed-body-with-422": together(
        erring("UNREADABLE", "BODY.UNREADABLE", 422), renamed(op.CHANGE, INVALID, "UNREADABLE")
    ),
    "PASSWORD-017 current-password-is-not-checked": first(op.CHANGE, _unchecked),
    "PASSWORD-021 a-forgotten-password-signs-in-no-more": then(op.FORGOT, _locked_until_reset),
}
