"""What a request, a token and a code are bound to, and what locks: not stated, and found in the field."""

from collections.abc import Callable
from typing import Any

from reference_impl import wire
from reference_impl.changes import Change, handled, rewritten, together
from reference_impl.errors import Refusal
from reference_impl.faults.fault import erring, first
from reference_impl.faults.operations import (
    COMPLETE,
    INITIATE,
    REFRESH,
    SEND,
)
from reference_impl.faults.sign_in import forget_used_codes
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal
from reference_impl.routes import ROWS, Handler
from reference_impl.shapes import Body
from reference_impl.variants.company import locking
from reference_impl.variants.variant import Variant, enveloped, may
from reference_impl.wrappers import Answer, Seen

# What a request is bound to.
Around = Callable[[Handler], Handler]


Hashes = dict[str, str]
"""The client hash of each session, by its id."""


def _bound_to_its_client(plan: Plan) -> None:
    """A session is its client's: another client hash with its tokens is refused."""
    hashes: Hashes = {}
    for row in ROWS:
        if row.auth == "JWT":
            handled(row.name, _guarded(hashes))(plan)
    handled(COMPLETE, _noting(hashes))(plan)
    handled(REFRESH, _trading(hashes))(plan)


def _noting(hashes: Hashes) -> Around:
    def around(handler: Handler) -> Handler:
        def signing_in(portal: Portal, caller: Caller, body: Body) -> Any:
            before = set(portal.sessions)
            data = handler(portal, caller, body)
            hashes.update(dict.fromkeys(set(portal.sessions) - before, caller.client_hash))
            return data

        return signing_in

    return around


def _guarded(hashes: Hashes) -> Around:
    def around(handler: Handler) -> Handler:
        def guarding(portal: Portal, caller: Caller, body: Body) -> Any:
            if caller.session and hashes.get(caller.session.id, caller.client_hash) != caller.client_hash:
                raise Refusal("TOKEN_INVALID")
            return handler(portal, caller, body)

        return guarding

    return around


def _trading(hashes: Hashes) -> Around:
    def around(handler: Handler) -> Handler:
        def refreshing(portal: Portal, caller: Caller, body: Body) -> Any:
            known = portal.refresh_tokens.get(body["refreshToken"])
            if known and hashes.get(known.session_id, caller.client_hash) != caller.client_hash:
                raise Refusal("AUTH.SESSION_NOT_FOUND")
            return handler(portal, caller, body)

        return refreshing

    return around


def _serving_thrice(plan: Plan) -> None:
    """A token of the challenge serves three times."""
    served: list[None] = []

    def rewriting(seen: Seen, answer: Answer) -> None:
        if answer.status == 401 or answer.body["code"] == "4030":
            return
        served.append(None)
        if len(served) > 3:
            answer.status = 403
            answer.body |= {"success": False, "code": "4030", "message": "Used", "data": None}

    rewritten(enveloped(rewriting), *(row.name for row in ROWS if row.bot))(plan)


def _malformed_by_name(seen: Seen, answer: Answer) -> None:
    octets = seen.asked.octets
    try:
        wire.decoded(octets or b"{}")
    except wire.Malformed:
        if not answer.body["success"] and answer.status == 400:
            answer.body |= {"code": "REQUEST.MALFORMED"}


# Codes and locks.


def _same_code_again(handler: Handler) -> Handler:
    """A resend mails the code that was sent before, as long as it is valid."""
    codes: dict[str, str] = {}

    def sending(portal: Portal, caller: Caller, body: Body) -> Any:
        before = portal.mfa_codes.get(body["sessionId"])
        data = handler(portal, caller, body)
        code = portal.mfa_codes.get(body["sessionId"])
        if (
            code is not None
            and before is not None
            and before.state == "SENT"
            and before.expires > portal.now()
        ):
            code.text = codes.get(body["sessionId"], code.text)
            _mailed(portal, body["sessionId"])[0]["code"] = code.text
        if code is not None:
            codes[body["sessionId"]] = code.text
        return data

    return sending


def _mailed(portal: Portal, session: str) -> list[dict[str, Any]]:
    """The mails of a login session's account, the newest first."""
    account = portal.find("account", portal.login_sessions[session].account_id)
    return portal.outbox[account["accountEmail"].casefold()]


def _address(portal: Portal, caller: Caller, body: Body) -> str:
    return str(body["email"]).casefold() if portal.account_of(body["email"]) else ""


def _owner(portal: Portal, caller: Caller, body: Body) -> str:
    session = portal.login_sessions.get(body["sessionId"])
    return session.account_id if session else ""


def _locked_loudly(status: int, code: str) -> Change:
    shut = locking(INITIATE, "AUTH.INVALID_CREDENTIALS", _address, most=3, told="ACCOUNT_LOCKED")
    return together(erring("ACCOUNT_LOCKED", code, status), shut)


_LOCKS = "what several refusals in a row lead to is not described"

VARIANTS: tuple[Variant, ...] = (
    may(
        "sessions-bound-to-their-client",
        "the client hash is a fingerprint of the client",
        _bound_to_its_client,
        "client",
    ),
    may(
        "authenticator-codes-serve-again",
        "how often a code of an authenticator serves is not stated",
        first(COMPLETE, forget_used_codes),
    ),
    may(
        "challenge-tokens-serve-thrice",
        "how often a token serves is not stated",
        _serving_thrice,
        "challenge-token",
    ),
    may(
        "malformed-json-by-its-own-code",
        "of a body that is no JSON nothing is said",
        rewritten(enveloped(_malformed_by_name)),
        "malformed",
    ),
    may(
        "resends-repeat-the-code",
        "whether a resend replaces the code is not stated",
        handled(SEND, _same_code_again),
        "resend",
    ),
    may("locked-by-423", _LOCKS, _locked_loudly(423, "ACCOUNT.LOCKED"), "lock"),
    may("locked-by-401", _LOCKS, _locked_loudly(401, "AUTH.ACCOUNT_LOCKED"), "lock"),
    may(
        "locked-after-three-codes",
        _LOCKS,
        together(
            erring("CODES_LOCKED", "AUTH.MFA_LOCKED", 423),
            locking(COMPLETE, "AUTH.MFA_CODE_INVALID", _owner, most=3, told="CODES_LOCKED"),
        ),
        "code-lock",
    ),
)
