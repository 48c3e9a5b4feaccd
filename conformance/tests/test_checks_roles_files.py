"""The checks of ``conformance.checks.roles_files``."""

from __future__ import annotations

import pytest

from conformance.spec.endpoints import FILE, ROLE_PERMISSIONS, ROLES
from conformance.tests.proof import Proof
from conformance.tests.traffic import answer, file_record, observed, refusal, role
from conformance.traffic.exchange import Exchange, Json

API_KEY = {"Authorization": None, "X-API-Key": "[token-5]"}


def with_key(**other: Json) -> Exchange:
    return answer(FILE, file_record(), **{"headers": API_KEY, **other})


PROOFS = [
    Proof("ROLE-013", answer(ROLES, [role(), role(bizId="role-2")]), answer(ROLES, [role(), role()])),
    Proof("FILE-026", answer(FILE, file_record(fileSize=0)), answer(FILE, file_record(fileSize=-1))),
    Proof(
        "FILE-027",
        answer(FILE, file_record(contentType="application/vnd.ms-excel; charset=utf-8")),
        answer(FILE, file_record(contentType="pdf")),
    ),
    Proof("FILE-022", refusal(FILE, "ACCESS.TOKEN_MISSING", 401, headers=API_KEY), with_key()),
    Proof(
        "FILE-022",
        [
            answer(FILE, file_record(), headers={"X-API-Key": "[token-5]"}),
            with_key(lacks=("authorization",)),
            with_key(headers={**API_KEY, "Cookie": "session=1"}),
            refusal(FILE, "RATE_LIMITED", 429, headers=API_KEY),
            refusal(FILE, "ACCESS.PORTAL_MISMATCH", 403, headers=API_KEY),
        ],
        with_key(headers={"Authorization": None, "Api-Key": "[token-5]"}),
        silent=True,
    ),
    Proof(
        "FILE-027",
        answer(FILE, file_record(contentType="")),
        answer(FILE, file_record(contentType="application/")),
        silent=True,
    ),
]


@pytest.mark.parametrize(
    "items, form",
    [([], "empty"), (["file:read"], "str"), ([{"code": "file:read", "bizId": "1"}], ["bizId", "code"])],
)
def test_the_form_of_permissions_is_read(items: Json, form: Json) -> None:
    assert observed("role-permissions", answer(ROLE_PERMISSIONS, items)) == [form]
