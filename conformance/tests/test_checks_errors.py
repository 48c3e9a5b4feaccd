"""The checks of ``conformance.checks.errors``, for each row of the error table."""

from __future__ import annotations

from conformance.checks.errors import GIVEN_AT, STATED, UNSTATED
from conformance.spec.endpoints import LOGIN_INITIATE, ROLES, WORKSPACES_CURRENT
from conformance.spec.tables import ERRORS
from conformance.tests.proof import Bound, Proof, Reading
from conformance.tests.traffic import answer, envelope, refusal
from conformance.traffic.exchange import Exchange, Json


def pending(data: Json, **fields: Json) -> Exchange:
    """What initiate answers for an account that awaits approval."""
    return answer(LOGIN_INITIATE, body=envelope("ACCOUNT_PENDING_APPROVAL", data=data, **fields), status=403)


PROOFS = [
    Proof(
        "ERROR-023",
        [
            answer(LOGIN_INITIATE, {"pendingApproval": False}),
            answer(LOGIN_INITIATE, {"pendingApproval": True}),
            pending({"pendingApproval": False, "isPendingApproval": True}),
            pending({"sessionId": "s"}),
            pending(None),
        ],
        pending({"isPendingApproval": False}),
    ),
    Proof("ERROR-023", pending({"pendingApproval": True}), pending({"pendingApproval": False})),
    Proof("ERROR-023", pending(None), pending(None, isPendingApproval=False), silent=True),
    Proof("ERROR-008", refusal(ROLES, "4000", 400), refusal(ROLES, "4000", 500)),
    Proof(
        "ERROR-012",
        [
            refusal(WORKSPACES_CURRENT, "GA2031", 400, message="GA2031"),
            answer(WORKSPACES_CURRENT, body=envelope("GA2031", message=None), status=400),
        ],
        refusal(WORKSPACES_CURRENT, "GA2031", 400, message="No workspace"),
    ),
]

INVALID = ("VALIDATION.INVALID_PARAMETER", "4000")
BOUNDS = [
    Bound(
        "a code without a stated status may have any, and so may one where its row does not have it given",
        "",
        lawful=[refusal(ROLES, row.code, 418) for row in ERRORS if not row.statuses]
        + [refusal(ROLES, code, 418) for code in GIVEN_AT],
    ),
    Bound(
        "a refusal of size or media type is none of a field",
        "",
        lawful=[refusal(ROLES, code, status) for code in INVALID for status in (413, 415)],
    ),
    Bound("a code beyond the table breaks no rule", "", lawful=[refusal(ROLES, "QUOTA.EXCEEDED", 402)]),
]
READ = [
    *(Reading(key, refusal(ROLES, code, 409), [409]) for code, key in UNSTATED.items()),
    *(Reading("invalid-parameter-code", refusal(ROLES, code, 400), [code]) for code in INVALID),
    Reading(
        "further-error-codes",
        refusal(ROLES, "QUOTA.EXCEEDED", 402),
        [{"code": "QUOTA.EXCEEDED", "status": 402}],
    ),
]


def test_every_code_of_the_table_is_either_judged_or_read() -> None:
    assert {row.code for row in ERRORS} == {*STATED, *UNSTATED, "ACCOUNT_PENDING_APPROVAL"}
