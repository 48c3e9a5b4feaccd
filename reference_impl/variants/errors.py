"""Codes and statuses of errors, which of two is given, and what a request must carry (chapter "Errors")."""

from reference_impl import wire
from reference_impl.changes import chosen, refused_with, row, together
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults import operations as op
from reference_impl.faults.fault import erring, renamed
from reference_impl.plan import Plan
from reference_impl.shapes import NOTHING, checked
from reference_impl.variants.passwords import wrong_password_is
from reference_impl.variants.variant import enveloped, grant, may, permitted, refuse
from reference_impl.wrappers import Answer, Seen

INVITATION_QUOTA = 2


def _numeric_codes(plan: Plan) -> None:
    """Invalid bodies are told by 4000."""
    together(*(renamed(name, INVALID, "COMMAND_INVALID") for name in plan.rows))(plan)


def _form_first(plan: Plan) -> None:
    """Of a request without a token, and with a body against its rules, the body is told first."""

    def rewriting(seen: Seen, answer: Answer) -> None:
        asked = plan.rows.get(seen.operation)
        if answer.status != 401 or asked is None or asked.takes is NOTHING or asked.method == "GET":
            return
        try:
            checked(asked.takes, seen.body, limits=seen.portal.limits, strict=False)
        except Refusal:
            refuse(answer, 400, "4000" if asked.name == op.COMMAND else INVALID)

    enveloped(rewriting)(plan)


def _malformed_by_name(seen: Seen, answer: Answer) -> None:
    try:
        wire.decoded(seen.asked.octets or b"{}")
    except wire.Malformed:
        if not answer.body["success"] and answer.status == 400:
            answer.body["code"] = "REQUEST.MALFORMED"


def _statuses_of_other_rows(seen: Seen, answer: Answer) -> None:
    """Codes whose rows speak of other endpoints, or of fields, come with statuses of their own."""
    code = answer.body["code"]
    if seen.operation == op.SEND and code == "AUTH.SESSION_NOT_FOUND":
        answer.status = 400
    elif seen.asked.media_type == "text/plain" and code == INVALID:
        answer.status = 415


def _used_up(seen: Seen, answer: Answer) -> None:
    """Whatever is sent to invite counts, also what is no invitation; then a quota is used up."""
    if answer.status == 401 or answer.body["code"] == "ACCESS.PERMISSION_DENIED":
        return
    seen.memory["sent"] = seen.memory.get("sent", 0) + 1
    if seen.memory["sent"] > INVITATION_QUOTA:
        refuse(answer, 409, "INVITATION.QUOTA_EXCEEDED")


def _for_anybody(seen: Seen, answer: Answer) -> None:
    """Whoever is not named may use the invitation."""
    sent = seen.body if isinstance(seen.body, dict) else {}
    if answer.status == 400 and "inviteeEmail" not in sent and isinstance(sent.get("expirationDays"), int):
        grant(answer, None)


def _all_may_all(plan: Plan) -> None:
    """Only the file read is said to need a permission."""
    together(*(row(name, permission=None) for name in plan.rows if name != op.FILE))(plan)


VARIANTS = permitted(
    "two codes are given",
    may("token-missing-4010", chosen(missing_token_code="4010")),
    may(
        "token-missing-by-name-everywhere",
        chosen(missing_token_code_where_4010_is_stated="ACCESS.TOKEN_MISSING"),
    ),
    may(
        "unknown-channel-as-any-id",
        renamed(op.COMMAND, "RESOURCE.NOT_FOUND", "RESOURCE.NOT_FOUND"),
        departs="CHANNEL-060",
    ),
    "the catalogue of errors is not complete",
    may("token-invalid-by-name", chosen(invalid_token_code="ACCESS.TOKEN_INVALID")),
    "4000 is a validation error too",
    may("invalid-parameter-4000: validation-code", _numeric_codes, departs="INVITE-007 INVITE-008"),
    "the HTTP status is unspecified",
    may("channel-unknown-400", chosen(channel_unknown_status=400)),
    may(
        "unspecified-statuses-are-200: cooldown-status wrong-code-status challenge-status mismatch "
        "channel-unknown-status",
        chosen(
            mfa_cooldown_status=200,
            mfa_code_invalid_status=200,
            bot_refused_status=200,
            channel_unknown_status=200,
            portal_mismatch_status=200,
        ),
    ),
    "a portal mismatch has no stated status or code",
    may("mismatch-401: mismatch", chosen(portal_mismatch_status=401, portal_mismatch_code="PORTAL_MISMATCH")),
    may("mismatch-404: mismatch", chosen(portal_mismatch_status=404, portal_mismatch_code="NOT_HERE")),
    "how large a body may be is not stated",
    may("body-too-large-413", chosen(body_too_large_status=413)),
    "how a wrong method is answered is not described",
    may("wrong-method-404", refused_with("METHOD_NOT_ALLOWED", code="RESOURCE.NOT_FOUND", status=404)),
    "of a body that is no JSON nothing is said",
    may("malformed-json-by-its-own-code: malformed", enveloped(_malformed_by_name)),
    "which of two errors is told first is not stated",
    may("form-before-token: order-of-errors", _form_first, departs="AUTHN-023"),
    "the row of a code names where it is given, and not what status it has elsewhere",
    may(
        "codes-of-other-rows",
        enveloped(_statuses_of_other_rows),
        erring("WRONG_CURRENT_PASSWORD", "AUTH.INVALID_CREDENTIALS", 422),
        wrong_password_is("WRONG_CURRENT_PASSWORD"),
    ),
    "which of two refusals is given, and what quotas there are, is not stated",
    may("invitations-counted-before-they-are-read: invite-quota", enveloped(_used_up, op.INVITE)),
    # What a request must carry.
    "the reference lists it as required",
    may("request-id-required", chosen(request_id_required=True)),
    "the reference lists them as required",
    may("edge-headers-required", chosen(edge_headers_required=True)),
    "stated of initiate only, and as a cause of an error",
    may("unknown-properties-rejected", chosen(unknown_properties="rejected")),
    "inviteeEmail is not marked required",
    may("invitations-for-anybody", enveloped(_for_anybody, op.INVITE), departs="INVITE-004"),
    "only the file read is said to need a permission",
    may("everybody-may-do-everything", _all_may_all),
)
