"""Requests that do not come through the portal's ingress (chapter "Authentication", 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from cases.premises import answered, granted, outcome
from cases.reading import READABLE, body_of, read
from conformance.cases import (
    BY_KEY,
    OPERATIONS,
    RECORD_UNKNOWN,
    TOKEN_REFUSED,
    Account,
    Comparison,
    Exchange,
    Operation,
    Portal,
    Untestable,
    Verify,
    holds,
    mark,
    op,
    summary,
)

ACCESS_CODE = "X-PORTAL-ACCESS-CODE"


def foreign_codes(portal: Portal, key: str) -> Iterator[tuple[str, str | None]]:
    """By rule what no request comes through the SYSTEM ingress with: no access code, a made-up one, and that
    of another portal. Endpoints outside of ``/web/v1/system/`` may be those of the other portal as well."""
    yield "HEADER-001", None
    yield "HEADER-002", "not-the-access-code"
    other = portal.profile.portal.other_access_code
    if other is not None and "/web/v1/system/" in key:
        yield "HEADER-002", other


@mark.requirement("HEADER-001", "HEADER-002", "HEADER-003")
@pytest.mark.parametrize("row", [pytest.param(row, id=row.key) for row in READABLE])
def test_another_ingress_is_rejected(portal: Portal, verify: Verify, admin: Account, row: Operation) -> None:
    token = None if row.is_prelogin else admin.token
    accepted = granted(read(portal, row, token=token))

    for requirement_id, code in foreign_codes(portal, row.key):
        rejected = answered(read(portal, row, token=token, headers={ACCESS_CODE: code}))
        verify(requirement_id, is_rejected(rejected, accepted))
        verify.observe("portal-mismatch", rejected, outcome(rejected))


@mark.requirement("HEADER-022")
@pytest.mark.parametrize(
    "change, by",
    [
        (str.swapcase, "letters in the other case"),
        (lambda code: code + "0", "a zero behind it"),
        (lambda code: code[:-1], "without its last letter"),
    ],
    ids=["case", "longer", "shorter"],
)
def test_what_is_nearly_the_access_code_is_rejected(
    portal: Portal, verify: Verify, admin: Account, change: Callable[[str], str], by: str
) -> None:
    right = portal.profile.portal.access_code
    near = change(right)
    if near == right or len(right) < LONG_ENOUGH:
        raise Untestable("the access code is short, or has no letters of two cases")
    portal.secrets.altered(near, "access-code", of=right, by=by)
    rejected = answered(read(portal, BY_KEY[op.PROFILE], token=admin.token, headers={ACCESS_CODE: near}))
    verify("HEADER-022", is_rejected(rejected))


LONG_ENOUGH = 8
"""Letters of an access code of which one that is nearly the same can be kept secret."""

CHANGES = tuple(row for row in OPERATIONS if row.method == "POST" and row not in READABLE)


@mark.requirement("HEADER-001", "HEADER-023")
@pytest.mark.parametrize(
    "level", [pytest.param(level, marks=mark.impact(level)) for level in ("mutating", "disruptive")]
)
def test_no_change_from_another_ingress_is_looked_at(portal: Portal, verify: Verify, level: str) -> None:
    """Without a token as well, so that nothing comes of it where the ingress is forgotten: then it is the
    token that is asked for, and the record that is looked for."""
    nowhere: dict[str, str | None] = {ACCESS_CODE: None}
    usual = answered(read(portal, BY_KEY[op.PROFILE], headers=nowhere))
    if usual.code in TOKEN_REFUSED:
        raise Untestable("a token is asked for before the ingress is looked at", "target")
    for row in CHANGES:
        if row.impact == level and not row.is_prelogin:
            rejected = answered(portal.call(row.key, json=body_of(row), headers=nowhere))
            is_let_in = rejected.success or rejected.code in (*TOKEN_REFUSED, *RECORD_UNKNOWN)
            as_usual = not is_let_in or outcome(rejected) == outcome(usual)
            message = "a request from another ingress was looked at"
            verify("HEADER-001", is_rejected(rejected))
            if rejected.success:
                portal.changes.leave(row.key, f"{row.key} was served without an access code")
            verify("HEADER-023", holds(rejected, "code", as_usual, outcome(usual), usual, message=message))


def is_rejected(rejected: Exchange, *accepted: Exchange) -> Comparison:
    """An ingress may turn a request away with any body of its own: only the portal's success is none."""
    return holds(
        rejected, "success", not rejected.success, "a rejection", *accepted,
        actual=summary(rejected), message="a request from another ingress was served",
    )  # fmt: skip
