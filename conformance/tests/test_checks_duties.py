"""What may speak of an answer is chosen by the operation, the kind of answer, and the way of the request."""

from __future__ import annotations

import pytest

from conformance.checks import registry
from conformance.checks.registry import KINDS
from conformance.judging.dispatch import Duties, Rows, duties_of
from conformance.spec.endpoints import CHANNEL_CREATE, ROLES


def names(rows: Rows) -> set[str]:
    return {row.name for _, checks, _ in rows for row in checks}


def everything(duties: Duties) -> set[str]:
    return names((*duties.surface, *duties.rest, *(row for part in duties.parts for row in part.rows)))


def test_secrets_are_looked_for_where_something_was_sent() -> None:
    name = "envelope.no_secret_is_echoed"
    assert name in everything(duties_of((CHANNEL_CREATE, "error", True, True), steady=True))
    assert name not in everything(duties_of((CHANNEL_CREATE, "error", True, False), steady=True))


def test_what_stands_before_the_portal_is_not_held_to_the_envelope() -> None:
    name = "envelope.body_is_the_envelope"
    assert name in everything(duties_of((ROLES, "bare", True, False), steady=True))
    assert name not in everything(duties_of((ROLES, "bare", False, False), steady=True))


def test_what_forgets_sees_every_answer_at_its_moment() -> None:
    name = "enumerations.code_keeps_its_value"
    steady, unsteady = (duties_of((ROLES, "success", True, False), steady=one) for one in (True, False))
    assert name not in names(steady.moment)
    assert name in names(unsteady.moment)


@pytest.mark.parametrize("kind", KINDS)
def test_every_check_of_an_operation_is_a_duty_once(kind: registry.Kind) -> None:
    duties = duties_of((ROLES, kind, True, True), steady=True)
    meant = [row for row in registry.CHECKS if ROLES in row.on.keys and kind in row.on.kinds]
    rows = (*duties.surface, *duties.rest, *(row for part in duties.parts for row in part.rows))
    assert sorted(check.decision for _, checks, _ in rows for check in checks) == sorted(
        row.decision for row in meant
    )
