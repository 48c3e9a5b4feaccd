"""Signing in: credentials, login sessions, and the codes of the second step."""

import math
import time
from collections import defaultdict
from typing import Any

from reference_impl.changes import Change, chosen, data_rewritten, limited, together
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import first, optional, reported
from reference_impl.faults.sign_in import forget_used_codes
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.variants.variant import around, enveloped, keeping, may, permitted, refuse
from reference_impl.wrappers import Answer, Seen

EMAIL, OTP = 10011001, 10011002


def _renamed_pending(data: Any) -> Any:
    data["isPendingApproval"] = data.pop("pendingApproval")
    return data


def _refused_when_pending(seen: Seen, answer: Answer) -> None:
    if answer.body["code"] == "ACCOUNT_PENDING_APPROVAL":
        refuse(answer, 403, "ACCOUNT_PENDING_APPROVAL")


def _one_login_session(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
    """A sign-in that begins ends the login session that the account had before."""
    data = handler(portal, caller, body)
    begun = portal.login_sessions.get(data["sessionId"])
    for other in list(portal.login_sessions.values()):
        if begun is not None and other.account_id == begun.account_id and other is not begun:
            del portal.login_sessions[other.id]
    return data


def _pending_one_again(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
    """A client whose sign-in is pending goes on with it."""
    data = handler(portal, caller, body)
    begun = portal.login_sessions.get(data["sessionId"])
    for other in list(portal.login_sessions.values()):
        is_same = begun is not None and (other.account_id, other.client_hash) == (
            begun.account_id,
            begun.client_hash,
        )
        if begun is not None and is_same and other is not begun and other.state == begun.state:
            del portal.login_sessions[begun.id]
            other.expires = begun.expires
            return data | {"sessionId": other.id}
    return data


def _of_the_primary_method(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
    """A method that is left out is the account's primary one."""
    session = portal.login_sessions.get(body["sessionId"])
    if body.get("method") or session is None:
        return handler(portal, caller, body)
    factors = portal.security(session.account_id)["factors"]
    primary = next((name for name, factor in factors.items() if factor["isPrimary"]), "EMAIL")
    return handler(portal, caller, body | {"method": {"EMAIL": EMAIL, "OTP": OTP}[primary]})


def _earlier_codes_too() -> Change:
    """A code stays valid when another one was sent for the same session."""
    sent: dict[str, list[str]] = defaultdict(list)

    def sending(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        newest = portal.mfa_codes.get(body["sessionId"])
        sent[body["sessionId"]] += [newest.text] if newest else []
        return data

    def completing(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
        newest = portal.mfa_codes.get(body["sessionId"])
        if newest and body.get("method") == EMAIL and body["code"] in sent[body["sessionId"]]:
            newest.text = body["code"]
        return handler(portal, caller, body)

    return together(around(sending, op.SEND), around(completing, op.COMPLETE))


def _same_code_again() -> Change:
    """A resend mails the code that was sent before, as long as it is valid."""
    codes: dict[str, str] = {}

    def sending(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
        id = body["sessionId"]
        before = portal.mfa_codes.get(id)
        data = handler(portal, caller, body)
        code = portal.mfa_codes.get(id)
        if code is None:
            return data
        if before is not None and before.state == "SENT" and before.expires > portal.now():
            code.text = codes.get(id, code.text)
            account = portal.find("account", portal.login_sessions[id].account_id)
            portal.outbox[account["accountEmail"].casefold()][0]["code"] = code.text
        codes[id] = code.text
        return data

    return around(sending, op.SEND)


def _otp_needs_no_sending(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
    """Asked to send for the authenticator, the portal says that it need not."""
    if body.get("method") == OTP and body["sessionId"] in portal.login_sessions:
        return {"sent": False, "cooldownSeconds": 0, "codeExpiresIn": 0}
    return handler(portal, caller, body)


def _of_its_length(handler: Handler, portal: Portal, caller: Caller, body: Body) -> Any:
    """A code by mail of another length than is sent is no code."""
    if body.get("method") == EMAIL and len(body["code"]) != portal.limits.mfa_code_digits:
        raise Refusal(INVALID)
    return handler(portal, caller, body)


SYNCHRONOUS_SECONDS = 1.2
"""What a mail server takes for every third mail, while the client waits."""


def _what_is_left(seen: Seen, answer: Answer) -> None:
    """Seconds that are left when the mail is on its way."""
    seen.memory["sent"] = seen.memory.get("sent", 0) + answer.body["success"]
    if answer.body["success"] and seen.memory["sent"] % 3 == 0:
        time.sleep(SYNCHRONOUS_SECONDS)
        for name in ("cooldownSeconds", "codeExpiresIn"):
            answer.body["data"][name] -= math.ceil(SYNCHRONOUS_SECONDS)


def _one_less(number: int) -> int:
    return number - 1


VARIANTS = permitted(
    "401 and 400 are both given",
    may("credentials-400", chosen(invalid_credentials_status=400)),
    "which factors a deployment offers is not stated",
    may("email-only: factors", chosen(factors=("EMAIL",))),
    may("otp-only: factors", chosen(factors=("OTP",))),
    "what backup codes are good for is not shown",
    may("no-backup-codes-at-sign-in", chosen(backup_codes_sign_in=False)),
    "the same hash is to be kept across the login steps",
    may("client-hash-enforced", chosen(client_hash_enforced=True)),
    "flag and result code are both given",
    may("pending-code: pending", chosen(pending_at_initiate="code")),
    "the HTTP status of the result code is n/a",
    may(
        "pending-code-with-403: pending",
        chosen(pending_at_initiate="code", pending_code_status=403),
        enveloped(_refused_when_pending, op.INITIATE),
    ),
    "pendingApproval and isPendingApproval are both given",
    may("pending-by-another-name: pending", data_rewritten(_renamed_pending, op.INITIATE, op.COMPLETE)),
    "accountStatus is null or an enumeration",
    may("account-status-told", chosen(account_status_at_sign_in="always")),
    "whether a login session outlives the next one of its account is not stated",
    may("one-login-session-an-account", around(_one_login_session, op.INITIATE)),
    "whether a client whose sign-in is pending is given another login session is not stated",
    may("a-pending-sign-in-goes-on: one-login-session-an-account", around(_pending_one_again, op.INITIATE)),
    "that a step of the sign-in must name its method is not stated",
    may(
        "a-method-left-out-is-the-primary-one: method",
        around(_of_the_primary_method, op.SEND, op.COMPLETE),
        optional(op.SEND, "method", 0),
        optional(op.COMPLETE, "method", 0),
    ),
    # Codes.
    "the HTTP status is unspecified",
    may("cooldown-400: cooldown-status", chosen(mfa_cooldown_status=400)),
    may("cooldown-409: cooldown-status", chosen(mfa_cooldown_status=409)),
    may("wrong-code-401: wrong-code-status", chosen(mfa_code_invalid_status=401)),
    may("wrong-code-422: wrong-code-status", chosen(mfa_code_invalid_status=422)),
    "whether the cooldown is the session's or the account's is not stated",
    may("cooldown-of-the-account", chosen(cooldown_scope="account")),
    "whether a resend replaces the code is not stated",
    may("earlier-codes-stay-valid", keeping(_earlier_codes_too)),
    may("resends-repeat-the-code: resend", keeping(_same_code_again)),
    "how a send for the authenticator is answered is not stated",
    may("otp-needs-no-sending", around(_otp_needs_no_sending, op.SEND)),
    "the form of a code is not stated",
    may(
        "codes-of-another-length-are-malformed",
        limited(mfa_code_digits=8),
        around(_of_its_length, op.COMPLETE),
    ),
    "whether a clock may drift is not stated",
    may("authenticators-on-time: drift", limited(otp_drift=0)),
    "how often a code of an authenticator serves is not stated",
    may("authenticator-codes-serve-again", first(op.COMPLETE, forget_used_codes)),
    "how long an answer takes, and how a lifetime is rounded, is not stated",
    may("mails-sent-while-one-waits: lifetimes-told", enveloped(_what_is_left, op.SEND)),
    may(
        "what-is-left-is-told: lifetimes-told",
        reported(op.INITIATE, "", expiresIn=_one_less),
        reported(op.SEND, "", codeExpiresIn=_one_less, cooldownSeconds=_one_less),
        reported(op.COMPLETE, "", expiresIn=_one_less),
        reported(op.REFRESH, "", expiresIn=_one_less),
        departs="LIMIT-016",
    ),
)
