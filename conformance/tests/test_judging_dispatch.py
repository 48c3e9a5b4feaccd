"""What may speak of an answer is chosen by the operation, the kind of answer, and the way of the request."""

from __future__ import annotations

import pytest

from conformance.checks import registry
from conformance.checks.registry import KINDS, Sight
from conformance.judging.dispatch import CheckSet, RouteKey, checks_by_sight
from conformance.spec.endpoints import CHANNEL_CREATE, ROLES

ALL = tuple(registry.CHECKS)


def names(rows: CheckSet) -> set[str]:
    return {check.name for check in rows.checks}


def everything(by_sight: dict[Sight, CheckSet]) -> set[str]:
    return {name for rows in by_sight.values() for name in names(rows)}


def test_secrets_are_looked_for_where_something_was_sent() -> None:
    name = "envelope.no_secret_is_echoed"
    assert name in everything(
        checks_by_sight(RouteKey(CHANNEL_CREATE, "error", True, True), ALL, steady=True)
    )
    assert name not in everything(
        checks_by_sight(RouteKey(CHANNEL_CREATE, "error", True, False), ALL, steady=True)
    )


def test_what_stands_before_the_portal_is_not_held_to_the_envelope() -> None:
    name = "envelope.body_is_the_envelope"
    assert name in everything(checks_by_sight(RouteKey(ROLES, "bare", True, False), ALL, steady=True))
    assert name not in everything(checks_by_sight(RouteKey(ROLES, "bare", False, False), ALL, steady=True))


def test_what_forgets_sees_every_answer_at_its_moment() -> None:
    name = "enumerations.code_keeps_its_value"
    key = RouteKey(ROLES, "success", True, False)
    steady, unsteady = (checks_by_sight(key, ALL, steady=is_steady) for is_steady in (True, False))
    assert name not in names(steady["moment"])
    assert name in names(unsteady["moment"])


@pytest.mark.parametrize("kind", KINDS)
def test_every_check_of_an_operation_applies_once(kind: registry.Kind) -> None:
    by_sight = checks_by_sight(RouteKey(ROLES, kind, True, True), ALL, steady=True)
    meant = [row for row in registry.CHECKS if ROLES in row.on.keys and kind in row.on.kinds]
    applied = [check for rows in by_sight.values() for check in rows.checks]
    grouped = [check for rows in by_sight.values() for group in rows.groups for check in group.checks]
    assert grouped == applied
    assert sorted(check.decision for check in applied) == sorted(row.decision for row in meant)
