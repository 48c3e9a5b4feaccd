"""Errors: codes, statuses and bodies that are refused (chapter "Errors")."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.types import Scope

from reference_impl import wire
from reference_impl.changes import Change, chosen, refused_with, rewritten, together
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import Call, asked, erring, fielded, renamed, ruled, served
from reference_impl.faults.requests import rebodied
from reference_impl.faults.verbs import null_for_unknown
from reference_impl.portal import Portal
from reference_impl.shapes import Body, Rule, anything, text
from reference_impl.wrappers import Answer, Seen


def _is_json(octets: bytes) -> bool:
    try:
        wire.decoded(octets or b"{}")
    except wire.Malformed:
        return False
    return True


def _crashed_by_no_json(seen: Seen, answer: Answer) -> None:
    if not _is_json(seen.asked.octets or b""):
        answer.status = 500
        answer.body |= {"code": "INTERNAL", "message": "Something went wrong."}


def _object_for_a_list(scope: Scope, octets: bytes) -> bytes:
    return b"{}" if _is_json(octets) and not octets.lstrip().startswith(b"{") else octets


def _message_of_ga2031(seen: Seen, answer: Answer) -> None:
    if answer.body["code"] == "GA2031":
        answer.body["message"] = "No workspace is chosen."


def _null_is_a_value(operation: str, name: str) -> Change:
    """A null stands for a value; a field that is left out does not."""

    def valued(body: Body) -> Body:
        if name not in body:
            raise Refusal(INVALID)
        return body | {name: "nothing"} if body[name] is None else body

    lax = fielded(operation, name, lambda field: replace(field, required=False, nullable=True))
    return together(lax, asked(operation, valued))


def _empty_is_done(operation: str, name: str, data: Callable[[Portal], Any], rule: Rule = anything) -> Change:
    """Answers an empty text as a completed action."""

    def answering(call: Call) -> Any:
        return data(call.portal) if call.body[name] == "" else call.run()

    return together(ruled(operation, name, rule), served(operation, answering))


def _anybody(portal: Portal) -> Any:
    methods = [portal.enumeration("user-mfa-methods", "EMAIL")]
    state = {"expiresIn": 300, "accountStatus": None, "pendingApproval": False}
    return {"sessionId": portal.new_id("login session"), "mfaMethods": methods, **state}


def _denied_beside_the_code(seen: Seen, answer: Answer) -> None:
    """The code says that the approval is pending, and the flag says that it is not."""
    if answer.body["code"] == "ACCOUNT_PENDING_APPROVAL":
        answer.body["data"]["isPendingApproval"] = False


ROWS = {
    "ERROR-007 no-workspace-is-404": refused_with("GA2031", status=404).at(op.CURRENT_WORKSPACE),
    "ERROR-012 ga2031-says-more-than-its-code": rewritten(_message_of_ga2031, op.CURRENT_WORKSPACE),
    "ERROR-015 broken-json-is-a-server-error": rewritten(_crashed_by_no_json, op.INITIATE),
    "ERROR-016 list-for-an-object-is-taken": rebodied(op.ACCOUNTS_QUERY, _object_for_a_list),
    "ERROR-003 invalid-parameter-is-422": refused_with(INVALID, status=422),
    "ERROR-020 a-null-refresh-token-is-not-found": _null_is_a_value(op.REFRESH, "refreshToken"),
    "ERROR-020 a-null-password-is-wrong": _null_is_a_value(op.INITIATE, "password"),
    "ERROR-021 an-empty-account-is-updated": _empty_is_done(
        op.ACCOUNT_UPDATE, "userBizId", lambda portal: {}
    ),
    "ERROR-021 an-empty-email-begins-a-sign-in": _empty_is_done(
        op.INITIATE, "email", _anybody, text(most=255)
    ),
    "ERROR-021 an-empty-key-opens-a-session": _empty_is_done(
        op.SECURE_SESSION,
        "encRespKey",
        lambda portal: {
            "sessionId": portal.new_id("secure session"),
            "expiresAt": int((portal.now() + 600) * 1000),
        },
    ),
    "ERROR-005 permission-denied-is-401": refused_with("ACCESS.PERMISSION_DENIED", status=401),
    "ERROR-006 not-found-is-400": refused_with("RESOURCE.NOT_FOUND", status=400),
    "ERROR-008 code-4000-is-422": refused_with("4000", status=422).at(op.SECURE_SESSION),
    "ERROR-001 invalid-credentials-are-403": refused_with("AUTH.INVALID_CREDENTIALS", status=403).at(
        op.INITIATE
    ),
    "ERROR-023 pending-code-with-a-flag-that-denies-it": together(
        chosen(pending_at_initiate="code"), rewritten(_denied_beside_the_code, op.INITIATE)
    ),
    "ERROR-002 session-not-found-is-401": refused_with("AUTH.SESSION_NOT_FOUND", status=401).at(op.COMPLETE),
    "ERROR-004 token-missing-is-403": together(
        renamed(op.ACCOUNTS_QUERY, "ACCESS.TOKEN_MISSING", "TOKEN_MISSING_403"),
        erring("TOKEN_MISSING_403", "ACCESS.TOKEN_MISSING", 403),
    ),
    "ERROR-009 token-invalid-403": refused_with("TOKEN_INVALID", status=403),
    "ERROR-022 a-grant-of-nobody-is-revoked": null_for_unknown(op.REVOKE, "currency grant", "bizId"),
    "ERROR-022 a-session-of-nobody-is-terminated": served(
        op.TERMINATE, lambda call: call.run() if call.body["sessionId"] in call.portal.sessions else None
    ),
}
