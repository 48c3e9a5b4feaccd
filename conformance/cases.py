"""The vocabulary that ``cases/`` is written in: marks, comparisons, and the table of the 88 endpoints."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from _pytest.mark import ParameterSet

from conformance.checks import CHECKS
from conformance.checks.envelope import ENVELOPE
from conformance.checks.registry import LEFT_TO_CASES, Kind
from conformance.errors import Untestable
from conformance.judging.shapes import Shape
from conformance.spec import BY_KEY, CONSTANT_LISTS, OPERATIONS, Impact, Operation
from conformance.spec import endpoints as op
from conformance.spec.tables import INVALID_PARAMETER, LANGUAGES, LIMITS, TOKEN_REFUSED
from conformance.target.portal import Portal, SignedIn
from conformance.target.portal import ProfileAccount as Account
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.verdicts.comparisons import (
    contradicts,
    equal,
    holds,
    is_error,
    is_error_of_table,
    is_invalid_parameter,
    is_not_invalid_parameter,
    is_refused,
    is_success,
    meets,
    one_of,
    same,
    summary,
)
from conformance.verdicts.findings import HELD, Comparison
from conformance.verdicts.verify import Verify

__all__ = [
    "ABSENT",
    "BY_KEY",
    "CONSTANT_LISTS",
    "HELD",
    "INVALID_PARAMETER",
    "LANGUAGES",
    "LIMITS",
    "OPERATIONS",
    "TOKEN_REFUSED",
    "Account",
    "Comparison",
    "Exchange",
    "Json",
    "Operation",
    "ParameterSet",
    "Portal",
    "SignedIn",
    "Untestable",
    "Verify",
    "contradicts",
    "equal",
    "extra_fields",
    "holds",
    "impact",
    "is_error",
    "is_error_of_table",
    "is_invalid_parameter",
    "is_not_invalid_parameter",
    "is_refused",
    "is_success",
    "judged_in",
    "meets",
    "needs",
    "offered",
    "one_of",
    "op",
    "pauses",
    "requirement",
    "same",
    "sign_ins",
    "summary",
    "waits",
]


def requirement(*ids: str) -> pytest.MarkDecorator:
    """Declares the requirements that a case decides; what it leaves undecided is UNTESTED, by name."""
    return pytest.mark.requirement(*ids)


def needs(*parts: str) -> pytest.MarkDecorator:
    """Names what of the profile a case cannot do without: ``accounts.spare``, ``another_account``,
    ``records.file``, ``inboxes``, ``clock``, ``bot_challenge``, or an operation's key for its body."""
    return pytest.mark.needs(*parts)


def impact(level: Impact) -> pytest.MarkDecorator:
    """The most that a case does to the target; without it a case only signs in and reads."""
    return pytest.mark.impact(level)


def sign_ins(number: int, *, reuses: int = 0, leaves: int = 0) -> pytest.MarkDecorator:
    """How many sign-ins a case begins, so that a run can plan its ten per window.

    ``reuses``: how many of them may be login sessions of ``spare`` that another case has left; ``leaves``:
    how many it leaves itself.
    """
    return pytest.mark.sign_ins(number, reuses=reuses, leaves=leaves)


def waits(seconds: float, *, then: Sequence[str] = ()) -> pytest.MarkDecorator:
    """For a case that is a generator: how long it waits in all. It yields ``(seconds, why)`` where it waits,
    and other cases run meanwhile. ``then``: the requirements that it decides only after the wait."""
    return pytest.mark.waits(seconds, then=tuple(then))


def pauses(seconds: float) -> pytest.MarkDecorator:
    """For a case that is no generator: how long it waits in itself, while no other runs. Where time is short
    it comes later."""
    return pytest.mark.pauses(seconds)


def extra_fields(row: Operation, exchange: Exchange) -> list[str]:
    """The fields of a successful answer that the specification does not show, without indexes."""
    beside = sorted((exchange.envelope or {}).keys() - ENVELOPE)
    return [*beside, *Shape(row).new_extras(exchange)] if row.data else beside


def offered(key: str) -> str:
    """The requirement that an endpoint is offered, for a case that asks it as it is meant to be asked."""
    return BY_KEY[key].requirement


def judged_in(row: Operation, kind: Kind) -> tuple[str, ...]:
    """The requirements that the checks decide by answers of a kind: what asking brings to light."""
    shown = Shape(row).not_shown if row.data and kind == "success" else set()
    checked = {check.requirement for check in CHECKS if row.key in check.on.keys and kind in check.on.kinds}
    checked -= LEFT_TO_CASES
    return tuple(sorted(shown | checked))
