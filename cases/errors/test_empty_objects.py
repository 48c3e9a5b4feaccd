"""An empty object where the fields of a body are not shown: the only sample there is (gap N1)."""

from __future__ import annotations

import pytest

from cases.premises import answered, outcome
from conformance.cases import OPERATIONS, Account, Operation, Portal, Verify

OPEN_BODIES = tuple(row for row in OPERATIONS if "N1" in row.gaps)
OF_THE_CALLER = "/web/v1/system/security/"
"""What acts on the caller is asked for by the account whose sessions and factors may be changed."""


def rows() -> list[object]:
    return [pytest.param(row, id=row.key, marks=_marks(row)) for row in OPEN_BODIES]


def _marks(row: Operation) -> list[pytest.MarkDecorator]:
    marks = [pytest.mark.requirement("ERROR-019", row.requirement), pytest.mark.impact(_impact(row))]
    return [*marks, pytest.mark.needs("accounts.spare")] if row.path.startswith(OF_THE_CALLER) else marks


def _impact(row: Operation) -> str:
    """An empty object that is taken for a new record could not be restored: its id need not be told."""
    return "disruptive" if row.path.endswith(("/create", "/currency-grants")) else row.impact


@pytest.mark.parametrize("row", rows())
def test_an_empty_object_is_answered_somehow(portal: Portal, verify: Verify, row: Operation) -> None:
    caller: Account = portal.account("spare" if row.path.startswith(OF_THE_CALLER) else "admin")
    exchange = answered(portal.call(row.key, json={}, token=caller.token))
    verify.observe("empty-object", exchange, outcome(exchange))
