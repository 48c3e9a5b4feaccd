"""What is taken although it is only nearly right (several chapters)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from reference_impl.changes import Change, handled, rewritten, together
from reference_impl.errors import Refusal
from reference_impl.faults.fault import fault, first, lenient, ruled
from reference_impl.faults.operations import (
    ACCEPT,
    ACCOUNT,
    COMPLETE,
    CURRENT_WORKSPACE,
    INIT,
    INITIATE,
    INVITE,
    OTP_REVOKE,
    OTP_SETUP,
    REFRESH,
    RESET,
    ROLE,
)
from reference_impl.limits import Limits
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body, Unfit, email
from reference_impl.wrappers import Answer, Seen

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_!"


def or_else(operation: str, code: str, others: Callable[[Body], list[Body]]) -> Change:
    """Where the handler refuses by a name of the table of errors, it is asked again with other bodies."""

    def around(handler: Handler) -> Handler:
        def trying(portal: Portal, caller: Caller, body: Body) -> Any:
            for other in (body, *others(body)):
                try:
                    return handler(portal, caller, other)
                except Refusal as refusal:
                    if refusal.name != code:
                        raise
                    last = refusal
            raise last

        return trying

    return handled(operation, around)


# Passwords, codes, and what a sign-in takes.


def _in_another_case(body: Body) -> list[Body]:
    return [body | {"password": body["password"].swapcase()}]


def _with_another_end(body: Body) -> list[Body]:
    return [body | {"password": body["password"][:-1] + letter} for letter in LETTERS]


def _without_blanks_around(body: Body) -> list[Body]:
    return [body | {"password": body["password"].strip()}]


def _by_its_octets(value: Any, limits: Limits) -> Any:
    if not isinstance(value, str) or not limits.password_min <= len(value.encode()) <= limits.password_max:
        raise Unfit
    return value


def _refused_unless_null(seen: Seen, answer: Answer) -> None:
    """Of what is unknown only that counts which is not null."""
    sent = seen.body if isinstance(seen.body, dict) else {}
    if any(value is not None for name, value in sent.items() if name not in ("email", "password")):
        answer.status = 400
        answer.body |= {"success": False, "code": "VALIDATION.INVALID_PARAMETER", "data": None}


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


def _of_any_code(portal: Portal, caller: Caller, body: Body) -> None:
    """Whoever was mailed a code at some time sets a password by any."""
    account = portal.account_of(body["email"])
    code = portal.password_codes.get(account["bizId"]) if account else None
    if code is not None:
        code.text, code.state, code.expires = body["code"], "SENT", portal.now() + 60


def _used_again(portal: Portal, caller: Caller, body: Body) -> None:
    account = portal.account_of(body["email"])
    code = portal.password_codes.get(account["bizId"]) if account else None
    if code is not None and code.text == body["code"]:
        code.state = "SENT"


def _of_whomever(portal: Portal, caller: Caller, body: Body) -> None:
    """A code that some account was mailed sets the password of each."""
    account = portal.account_of(body["email"])
    codes = [code for code in portal.password_codes.values() if code.text == body["code"]]
    if account and codes:
        portal.password_codes[account["bizId"]] = codes[0]


def _if_the_refresh_token_begins_well(handler: Handler) -> Handler:
    def refreshing(portal: Portal, caller: Caller, body: Body) -> Any:
        begins = body["refreshToken"][:12]
        near = (token for token in reversed(portal.refresh_tokens) if token.startswith(begins))
        is_there = body["refreshToken"] in portal.refresh_tokens
        return handler(portal, caller, body if is_there else body | {"refreshToken": next(near, begins)})

    return refreshing


# Ids, workspaces and invitations.


def _by_its_beginning(kind: str, name: str) -> Callable[[Handler], Handler]:
    """The first record whose id begins so is given."""

    def around(handler: Handler) -> Handler:
        def reading(portal: Portal, caller: Caller, body: Body) -> Any:
            begins = (id for id in portal.records[kind] if id.startswith(body[name]))
            return handler(portal, caller, body | {name: next(begins, body[name])})

        return reading

    return around


def _or_the_first(handler: Handler) -> Handler:
    """Where the workspace that is named is none of the caller's, the caller's first is given."""

    def showing(portal: Portal, caller: Caller, body: Body) -> Any:
        mine = caller.account["workspaceBizIds"]
        if caller.workspace_id is not None and caller.workspace_id not in mine:
            caller = replace(caller, workspace_id=None)
        return handler(portal, caller, body)

    return showing


def _whenever_it_expires(handler: Handler) -> Handler:
    """What is kept as pending is accepted, whatever its end."""

    def accepting(portal: Portal, caller: Caller, body: Body) -> Any:
        record = portal.find("invitation", body["invitationBizId"])
        end = record["expiresAt"]
        record["expiresAt"] = max(end, portal.now() + 60)
        try:
            return handler(portal, caller, body)
        finally:
            record["expiresAt"] = end

    return accepting


def _if_it_begins_well(value: Any, limits: Limits) -> Any:
    words = value.split() if isinstance(value, str) else []
    email(words[0] if words else value, limits)
    return value


FAULTS = (
    fault("LOGIN-081", "long-passwords-are-counted-in-octets", ruled(INITIATE, "password", _by_its_octets)),
    fault(
        "LOGIN-082",
        "an-unknown-null-is-passed-over",
        together(lenient(INITIATE), rewritten(_refused_unless_null, INITIATE)),
    ),
    fault(
        "LOGIN-084",
        "a-password-signs-in-in-any-case",
        or_else(INITIATE, "AUTH.INVALID_CREDENTIALS", _in_another_case),
        also="HISTORY-009 HISTORY-013",
    ),
    fault(
        "LOGIN-084",
        "a-password-signs-in-without-its-last-letter",
        or_else(INITIATE, "AUTH.INVALID_CREDENTIALS", _with_another_end),
        also="LOGIN-077",
    ),
    fault(
        "LOGIN-084",
        "blanks-around-a-password-are-dropped",
        or_else(INITIATE, "AUTH.INVALID_CREDENTIALS", _without_blanks_around),
    ),
    fault(
        "MFA-016",
        "any-authenticator-completes-a-sign-in",
        handled(COMPLETE, _by_any_authenticator),
        COMPLETE,
        OTP_SETUP,
        OTP_REVOKE,
    ),
    fault(
        "PASSWORD-022",
        "any-code-sets-a-password",
        together(first(RESET, _of_any_code), first(INIT, _of_any_code)),
        also="PASSWORD-023",
    ),
    fault(
        "PASSWORD-022", "a-code-sets-the-password-of-another", first(RESET, _of_whomever), also="PASSWORD-023"
    ),
    fault(
        "TOKEN-030",
        "a-refresh-token-need-only-begin-well",
        handled(REFRESH, _if_the_refresh_token_begins_well),
    ),
    fault("PASSWORD-023", "a-code-sets-a-password-again", first(RESET, _used_again)),
    fault(
        "ROLE-010",
        "a-role-is-read-by-the-beginning-of-its-id",
        handled(ROLE, _by_its_beginning("role", "roleBizId")),
        also="ROLE-011",
    ),
    fault(
        "ACCOUNT-033",
        "an-account-is-read-by-the-beginning-of-its-id",
        handled(ACCOUNT, _by_its_beginning("account", "userBizId")),
        also="ACCOUNT-031",
    ),
    fault("WORKSPACE-016", "an-unknown-workspace-is-the-first", handled(CURRENT_WORKSPACE, _or_the_first)),
    fault("INVITATION-029", "an-expired-invitation-is-accepted", handled(ACCEPT, _whenever_it_expires)),
    fault("INVITE-001", "an-address-need-only-begin-well", ruled(INVITE, "inviteeEmail", _if_it_begins_well)),
)
