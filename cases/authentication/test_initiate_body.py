"""Initiate: what its body may hold, at the boundaries of each field."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cases.authentication.steps import address_of, nobody
from cases.premises import outcome, refusal_text, unchallenged, unless_paced
from conformance.cases import (
    Json,
    Portal,
    Untestable,
    Verify,
    is_invalid_parameter,
    op,
    requirement,
    sign_ins,
)
from conformance.verdicts.comparisons import may_keep_a_rate

Body = Callable[[Portal], Json]


def body(**changed: Json) -> Body:
    """A body in order but for what is named; None leaves a field out."""

    def build(portal: Portal) -> Json:
        fields = {"email": nobody(portal), "password": portal.wrong_password()} | changed
        return {name: value for name, value in fields.items() if value is not None}

    return build


def with_an_unknown_null(portal: Portal) -> Json:
    """A property that is null is a property."""
    return {"email": nobody(portal), "password": portal.wrong_password(), "suite": None}


REFUSED = [
    pytest.param(body(email=None), id="no-email", marks=requirement("LOGIN-043")),
    pytest.param(body(password=None), id="no-password", marks=requirement("LOGIN-044")),
    pytest.param(body(email=123456789), id="email-is-a-number", marks=requirement("LOGIN-045")),
    pytest.param(body(password=1234567890), id="password-is-a-number", marks=requirement("LOGIN-046")),
    pytest.param(body(password="Sh0rt-!"), id="password-of-7", marks=requirement("LOGIN-047")),
    pytest.param(body(password="L0ng-" + "x" * 124), id="password-of-129", marks=requirement("LOGIN-048")),
    pytest.param(body(email=address_of(256)), id="email-of-256", marks=requirement("LOGIN-051")),
    pytest.param(body(suite="unknown"), id="unknown-property", marks=requirement("LOGIN-053")),
    pytest.param(with_an_unknown_null, id="unknown-null", marks=requirement("LOGIN-082")),
]


@pytest.mark.parametrize("body_of", REFUSED)
@sign_ins(1)
def test_a_body_against_the_rules_begins_no_sign_in(portal: Portal, verify: Verify, body_of: Body) -> None:
    refused = unchallenged(portal.call(op.LOGIN_INITIATE, json=body_of(portal)))
    if refused.status == 403:
        # Of 400 it is asked which code it has; a rate that is kept has none of its own.
        unless_paced(refused)
    if may_keep_a_rate(refused) and outcome(portal.login.initiate(nobody(portal))) == outcome(refused):
        raise Untestable(
            f"a body in order is refused in the same way ({refusal_text(refused)})", "environment"
        )

    verify(verify.declared[0], is_invalid_parameter(refused))
