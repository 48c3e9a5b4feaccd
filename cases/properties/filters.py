"""Filters drawn from the records that a query lists: any of those that one of them passes, in company."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from cases.premises import authorized
from cases.profile.values import is_shown_whole
from conformance.cases import Account, Exchange, Json, Portal, Trial, holds, op, records

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
        if _is_there_still(portal, caller, key, chosen, unfiltered):
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
