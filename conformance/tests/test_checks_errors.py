"""The checks of ``conformance.checks.errors``, for each row of the error table."""

from __future__ import annotations

import pytest

from conformance.checks.errors import GIVEN_AT, STATED, UNSTATED
from conformance.spec.endpoints import LOGIN_INITIATE, ROLES, WORKSPACES_CURRENT
from conformance.spec.tables import ERROR_BY_CODE, ERRORS
from conformance.tests.proof import Proof
from conformance.tests.traffic import answer, contradicted_by, envelope, observed, refusal
from conformance.traffic.exchange import Exchange, Json


def pending(data: Json, **fields: Json) -> Exchange:
    """What initiate answers for an account that awaits approval."""
    return answer(LOGIN_INITIATE, body=envelope("ACCOUNT_PENDING_APPROVAL", data=data, **fields), status=403)


PROOFS = [
    *(
        Proof(
            requirement,
            [
                refusal(GIVEN_AT.get(code, (ROLES,))[-1], code, status)
                for status in ERROR_BY_CODE[code].statuses
            ],
            refusal(GIVEN_AT.get(code, (ROLES,))[-1], code, 418),
        )
        for code, requirement in STATED.items()
    ),
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
    Proof(
        "ERROR-012",
        [
            refusal(WORKSPACES_CURRENT, "GA2031", 400, message="GA2031"),
            answer(WORKSPACES_CURRENT, body=envelope("GA2031", message=None), status=400),
        ],
        refusal(WORKSPACES_CURRENT, "GA2031", 400, message="No workspace"),
    ),
]


@pytest.mark.parametrize("code", [row.code for row in ERRORS if not row.statuses])
def test_a_code_without_a_stated_status_may_have_any(code: str) -> None:
    assert not contradicted_by(refusal(ROLES, code, 418))


@pytest.mark.parametrize("code, key", UNSTATED.items())
def test_an_open_status_is_read(code: str, key: str) -> None:
    assert observed(key, refusal(ROLES, code, 409)) == [409]


@pytest.mark.parametrize("code", GIVEN_AT)
def test_a_code_may_have_any_status_where_its_row_does_not_have_it_given(code: str) -> None:
    assert not contradicted_by(refusal(ROLES, code, 418))


@pytest.mark.parametrize("code", ["VALIDATION.INVALID_PARAMETER", "4000"])
@pytest.mark.parametrize("status", [413, 415])
def test_a_refusal_of_size_or_media_type_is_none_of_a_field(code: str, status: int) -> None:
    assert not contradicted_by(refusal(ROLES, code, status))


def test_every_code_of_the_table_is_either_judged_or_read() -> None:
    assert {row.code for row in ERRORS} == {*STATED, *UNSTATED, "ACCOUNT_PENDING_APPROVAL"}


def test_a_code_beyond_the_table_is_read() -> None:
    refused = refusal(ROLES, "QUOTA.EXCEEDED", 402)
    assert observed("further-error-codes", refused) == [{"code": "QUOTA.EXCEEDED", "status": 402}]
    assert not contradicted_by(refused)


@pytest.mark.parametrize("code", ["VALIDATION.INVALID_PARAMETER", "4000"])
def test_which_code_an_invalid_parameter_has_is_read(code: str) -> None:
    assert observed("invalid-parameter-code", refusal(ROLES, code, 400)) == [code]
