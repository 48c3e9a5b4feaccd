"""Queries that only read, asked with bodies of any kind."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import strategies as st

from cases.premises import authorized, granted, with_ids
from cases.profile.values import is_shown_whole
from cases.properties.bodies import ANSWERED, Drawn, bodies, refuses_what_is_no_object
from conformance.cases import (
    UNFILTERED,
    Account,
    Exchange,
    Json,
    Portal,
    Search,
    Trial,
    Untestable,
    holds,
    is_invalid_parameter,
    mark,
    op,
    records,
)

Record = Mapping[str, Json]

SHOWN_AS: Mapping[str, Mapping[str, str]] = {
    op.ACCOUNTS_QUERY: {
        "institutionBizId": "institutionBizId",
        "email": "accountEmail",
        "name": "accountName",
    },
    op.CHANNEL_TYPES_QUERY: {"bizId": "bizId", "typeCode": "typeCode"},
    op.CHANNELS_QUERY: {"bizId": "bizId", "institutionBizId": "institutionBizId"},
}
"""By query the filters that take a text, each with the field that it is of."""

TOGETHER = {
    op.ACCOUNTS_QUERY: "ACCOUNT-050",
    op.CHANNEL_TYPES_QUERY: "CHANNELTYPE-035",
    op.CHANNELS_QUERY: "CHANNEL-065",
}
"""That filters together leave no record out that passes them all."""


@dataclass(frozen=True)
class Chosen:
    """Filters that the record passes, and the requested page size, if the query takes a size."""

    id: str
    filters: Mapping[str, Json]
    size: int | None

    def __str__(self) -> str:
        return json.dumps({**self.filters, **({"size": self.size} if self.size else {})}, ensure_ascii=False)


def passed_by(key: str, record: Record) -> dict[str, Json]:
    """Every filter that a record surely passes."""
    passed: dict[str, Json] = {
        name: value
        for name, field in SHOWN_AS[key].items()
        if isinstance(value := record.get(field), str) and value == value.strip() and is_shown_whole(value)
    }
    if record.get("enabled") is True:
        passed["enabledOnly"] = True
    if record.get("channelStatus") == "ACTIVE":
        passed["activeOnly"] = True
    return {name: value for name, value in passed.items() if value != ""}


@st.composite
def filters_of(draw: st.DrawFn, key: str, listed: Sequence[Record]) -> Chosen:
    record = draw(st.sampled_from(listed))
    passed = passed_by(key, record)
    names = draw(st.sets(st.sampled_from(sorted(passed)), min_size=1)) if passed else set()
    size = draw(st.sampled_from([None, 1, 3])) if key == op.ACCOUNTS_QUERY else None
    return Chosen(str(record["bizId"]), {name: passed[name] for name in sorted(names)}, size)


def holds_of_the_query(
    portal: Portal, caller: Account, trial: Trial, key: str, chosen: Chosen, unfiltered: Mapping[str, Json]
) -> None:
    """Verifies that the only result page contains the record, while the portal lists it at all."""
    page = {"page": 0, "size": chosen.size} if chosen.size else {}
    body = {**unfiltered, **page, **chosen.filters}
    answer = authorized(portal.call(key, json=body, token=caller.token))
    shown = [record.get("bizId") for _, record in records(answer)] if answer.success else []
    total = answer.at("data.totalElements" if key == op.ACCOUNTS_QUERY else "data.pagination.totalRecords")
    if answer.success and total == len(shown) and chosen.id not in shown:
        is_odd = _finds(portal, caller, key, body, chosen.id)  # the same filters find it a moment later
        if not is_odd and _is_there_still(portal, caller, key, chosen, unfiltered):
            expected = f"{chosen.id}, which passes each filter"
            trial.verify(TOGETHER[key], holds(answer, "data", False, expected, actual=shown))
    elif answer.success and chosen.id in shown:
        trial.verify(TOGETHER[key], holds(answer, "data", True, chosen.id))


def _is_there_still(
    portal: Portal, caller: Account, key: str, chosen: Chosen, unfiltered: Mapping[str, Json]
) -> bool:
    """Whether each filter alone finds the record: others may have changed it, and what a filter matches is
    not stated."""
    return all(
        _finds(portal, caller, key, {**unfiltered, name: value}, chosen.id)
        for name, value in chosen.filters.items()
    )


def _finds(portal: Portal, caller: Account, key: str, body: Mapping[str, Json], id: str) -> bool:
    answer: Exchange = authorized(portal.call(key, json=body, token=caller.token))
    return answer.success and any(record.get("bizId") == id for _, record in records(answer))


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
    listed = with_ids([record for _, record in records(first)])
    if not listed:
        raise Untestable("the query lists nothing to ask for", "environment")

    def asks(trial: Trial, chosen: Chosen) -> None:
        holds_of_the_query(portal, admin, trial, key, chosen, unfiltered)

    search.over(filters_of(key, listed), asks)
