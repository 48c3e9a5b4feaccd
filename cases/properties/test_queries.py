"""Queries that only read, asked with bodies of any kind."""

from __future__ import annotations

import pytest

from cases.premises import authorized, granted
from cases.properties.answers import ANSWERED, refuses_what_is_no_object
from cases.properties.bodies import Drawn, bodies
from cases.properties.filters import TOGETHER, Chosen, filters_of, holds_of_the_query
from conformance.cases import (
    UNFILTERED,
    Account,
    Portal,
    Search,
    Trial,
    Untestable,
    is_invalid_parameter,
    mark,
    op,
    records,
)


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(op.ACCOUNTS_QUERY, marks=mark.requirement(*ANSWERED, "ERROR-016", "ACCOUNT-041")),
        pytest.param(op.CHANNEL_TYPES_QUERY, marks=mark.requirement(*ANSWERED, "ERROR-016")),
        pytest.param(op.CHANNELS_QUERY, marks=mark.requirement(*ANSWERED, "ERROR-016")),
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


@pytest.mark.parametrize(
    "key", [pytest.param(key, marks=mark.requirement(rule)) for key, rule in TOGETHER.items()]
)
def test_a_record_is_found_by_any_filters_that_it_passes(
    portal: Portal, admin: Account, search: Search, key: str
) -> None:
    """That nothing else is found is judged on the wire."""
    unfiltered = UNFILTERED[key]
    first = granted(portal.call(key, json=unfiltered, token=admin.token))
    listed = [record for _, record in records(first) if isinstance(record.get("bizId"), str)]
    if not listed:
        raise Untestable("the query lists nothing to ask for", "environment")

    def asks(trial: Trial, chosen: Chosen) -> None:
        holds_of_the_query(portal, admin, trial, key, chosen, unfiltered)

    search.over(filters_of(key, listed), asks)
