"""The checks of ``conformance.checks.roles_files``."""

from __future__ import annotations

import pytest

from conformance.spec.endpoints import FILE, ROLE_PERMISSIONS, ROLES
from conformance.tests.proof import Proof
from conformance.tests.traffic import answer, file_record, observed, role
from conformance.traffic.exchange import Json

PROOFS = [
    Proof("ROLE-013", answer(ROLES, [role(), role(bizId="role-2")]), answer(ROLES, [role(), role()])),
    Proof("FILE-026", answer(FILE, file_record(fileSize=0)), answer(FILE, file_record(fileSize=-1))),
    Proof(
        "FILE-027",
        answer(FILE, file_record(contentType="application/vnd.ms-excel; charset=utf-8")),
        answer(FILE, file_record(contentType="pdf")),
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
