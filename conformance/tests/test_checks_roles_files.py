"""The checks of ``conformance.checks.roles_files``."""

from __future__ import annotations

from conformance.spec.endpoints import FILE, ROLE_PERMISSIONS
from conformance.tests.proof import Proof, Reading
from conformance.tests.traffic import answer, file_record, refusal
from conformance.traffic.exchange import Exchange, Json

API_KEY = {"Authorization": None, "X-API-Key": "[token-5]"}


def with_key(**other: Json) -> Exchange:
    return answer(FILE, file_record(), **{"headers": API_KEY, **other})


def file(**fields: Json) -> Exchange:
    return answer(FILE, file_record(**fields))


PROOFS = [
    Proof("FILE-027", file(contentType="application/vnd.ms-excel; charset=utf-8"), file(contentType="pdf")),
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
    Proof("FILE-027", file(contentType=""), file(contentType="application/"), silent=True),
]

READ = [
    Reading("role-permissions", answer(ROLE_PERMISSIONS, []), ["empty"]),
    Reading("role-permissions", answer(ROLE_PERMISSIONS, ["file:read"]), ["str"]),
    Reading("role-permissions", answer(ROLE_PERMISSIONS, [{"code": "a", "bizId": "1"}]), [["bizId", "code"]]),
]
