"""Requests that do not come through the portal's ingress (chapter "Authentication", 1)."""

from __future__ import annotations

import pytest

from cases.premises import answered, granted, outcome
from cases.reading import READABLE, read
from conformance.cases import (
    Account,
    Comparison,
    Exchange,
    Operation,
    Portal,
    Verify,
    holds,
    requirement,
    summary,
)

ACCESS_CODE = "X-PORTAL-ACCESS-CODE"
FOREIGN = {"HEADER-001": None, "HEADER-002": "not-the-access-code"}


@requirement("HEADER-001", "HEADER-002", "HEADER-003")
@pytest.mark.parametrize("row", [pytest.param(row, id=row.key) for row in READABLE])
def test_another_ingress_is_rejected(portal: Portal, verify: Verify, admin: Account, row: Operation) -> None:
    token = None if row.is_prelogin else admin.token
    accepted = granted(read(portal, row, token=token))

    for requirement_id, code in FOREIGN.items():
        rejected = answered(read(portal, row, token=token, headers={ACCESS_CODE: code}))
        verify(requirement_id, is_rejected(rejected, accepted))
        verify.observe("portal-mismatch", rejected, outcome(rejected))


def is_rejected(rejected: Exchange, *accepted: Exchange) -> Comparison:
    """An ingress may turn a request away with any body of its own: only the portal's success is none."""
    return holds(
        rejected, "success", not rejected.success, "a rejection", *accepted,
        actual=summary(rejected), message="a request from another ingress was served",
    )  # fmt: skip
