"""Queries that only read, asked with bodies of any kind."""

from __future__ import annotations

import pytest

from cases.premises import authorized
from cases.properties.answers import ANSWERED, refuses_what_is_no_object
from cases.properties.bodies import Drawn, bodies
from conformance.cases import Account, Portal, is_invalid_parameter, requirement
from conformance.run.search import Search, Trial
from conformance.spec.endpoints import ACCOUNTS_QUERY, CHANNEL_TYPES_QUERY, CHANNELS_QUERY
from conformance.spec.requests import UNFILTERED


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(ACCOUNTS_QUERY, marks=requirement(*ANSWERED, "ERROR-016", "ACCOUNT-041")),
        pytest.param(CHANNEL_TYPES_QUERY, marks=requirement(*ANSWERED, "ERROR-016")),
        pytest.param(CHANNELS_QUERY, marks=requirement(*ANSWERED, "ERROR-016")),
    ],
)
def test_a_query_answers_any_body_in_its_envelope(
    portal: Portal, admin: Account, search: Search, key: str
) -> None:
    def asks(trial: Trial, drawn: Drawn) -> None:
        answer = authorized(portal.call(key, json=drawn.body, token=admin.token))
        refuses_what_is_no_object(trial, drawn, answer)
        if drawn.is_usual and drawn.has("type", "page", "size"):
            trial.verify("ACCOUNT-041", is_invalid_parameter(answer))

    search.over(bodies(key, UNFILTERED[key], most=3), asks)
