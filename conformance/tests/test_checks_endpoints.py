"""The checks of ``conformance.checks.endpoints``: each of the 88 is offered."""

from __future__ import annotations

import pytest

from conformance.spec import BY_KEY, OPERATIONS
from conformance.spec import endpoints as op
from conformance.tests.proof import Bound
from conformance.tests.traffic import answer, envelope, verdict_on
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.findings import Verdict


def page_in_place(key: str, **other: Json) -> Exchange:
    return answer(key, body={"length": 1}, status=404, form="not-json", **other)


def test_a_record_that_is_not_found_is_no_missing_endpoint() -> None:
    refused = {row: answer(row.key, body=envelope("RESOURCE.NOT_FOUND"), status=404) for row in OPERATIONS}
    verdicts = {row.key: verdict_on(row.requirement, [response]) for row, response in refused.items()}

    assert [key for key, verdict in verdicts.items() if verdict is Verdict.FAIL] == []


@pytest.mark.parametrize("data", [None, {}, [1], "done"])
def test_an_endpoint_whose_answer_is_not_shown_may_answer_anything_in_the_envelope(data: Json) -> None:
    verdicts = {
        row.key: verdict_on(row.requirement, [answer(row.key, data)])
        for row in OPERATIONS
        if row.data is None
    }

    assert set(verdicts.values()) == {Verdict.PASS}, verdicts


BOUNDS = [
    Bound(
        "what is not offered is told of the status",
        "OP-001",
        wrong=[answer(OPERATIONS[0].key, body=envelope("METHOD"), status=status) for status in (405, 501)],
        at=["status"],
    ),
    Bound(
        "a gateway that knows no ingress says nothing of the endpoint",
        "OP-001",
        lawful=[page_in_place(OPERATIONS[0].key, headers={"X-PORTAL-ACCESS-CODE": None})],
    ),
    Bound(
        "a 404 without the envelope speaks of no record",
        BY_KEY[op.ROLE].requirement,
        wrong=[page_in_place(op.ROLE)],
    ),
]


@pytest.mark.parametrize(
    ("key", "verdict"),
    [
        (op.PUBLIC_KEY, Verdict.FAIL),
        (op.COUNTRIES, Verdict.FAIL),
        (op.SESSIONS_CONFIG, Verdict.UNTESTED),
        (op.WORKSPACES_CURRENT, Verdict.UNTESTED),
        (op.ROLES, Verdict.UNTESTED),
        (op.ROLE, Verdict.UNTESTED),
        (op.ACCOUNTS_QUERY, Verdict.UNTESTED),
    ],
)
def test_a_404_of_another_code_may_speak_of_a_record_or_of_a_workspace_that_nobody_has(
    key: str, verdict: Verdict
) -> None:
    refused = answer(key, body=envelope("NOTHING_HERE"), status=404)

    assert verdict_on(BY_KEY[key].requirement, [refused]) is verdict
