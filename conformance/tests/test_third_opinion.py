"""Schemathesis, which knows only the OpenAPI document, has nothing to object to in the reference portal."""

from __future__ import annotations

import pytest

from conformance.spec import BY_KEY
from conformance.target.bundled import running_portal
from conformance.tests.third_opinion import FREE_OF_BUSINESS, Opinion, opinion_of

PROFILE = "GET /web/v1/system/profile"
LOGOUT = "POST /web/v1/system/auth/logout"

FEW = 4
"""Examples of each operation."""


@pytest.fixture(scope="module")
def opinion() -> Opinion:
    with running_portal(seed=1) as profile:
        return opinion_of(profile, examples=FEW)


def test_schemathesis_finds_nothing_in_the_reference_portal(opinion: Opinion) -> None:
    assert opinion.errors == []
    assert [str(objection) for objection in opinion.objections] == []


def test_it_has_seen_every_endpoint_answer_and_those_that_need_nothing_special_succeed(
    opinion: Opinion,
) -> None:
    assert {endpoint for endpoint, _ in opinion.answered} == BY_KEY.keys()
    assert set(FREE_OF_BUSINESS) <= opinion.served


@pytest.mark.parametrize(
    "fault, endpoint, check",
    [
        ("account-biz-id-number", PROFILE, "response_schema_conformance"),
        ("profile-without-token", PROFILE, "ignored_auth"),
        ("logout-terminated-sessions-missing", LOGOUT, "response_schema_conformance"),
        ("unknown-role-is-a-server-error", "GET /web/v1/system/roles/{roleBizId}", "not_a_server_error"),
    ],
)
def test_it_would_object_to_a_portal_that_contradicts_the_document(
    fault: str, endpoint: str, check: str
) -> None:
    with running_portal(seed=1, faults=[fault]) as profile:
        opinion = opinion_of(profile, operations=[endpoint], examples=1)

    assert check in {objection.check for objection in opinion.objections}
