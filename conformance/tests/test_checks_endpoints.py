"""The checks of ``conformance.checks.endpoints``: each of the 88 is offered."""

from __future__ import annotations

import pytest

from conformance.spec import BY_KEY, OPERATIONS
from conformance.spec import endpoints as op
from conformance.tests.traffic import answer, envelope, judged, verdict_on
from conformance.traffic.exchange import Json
from conformance.verdicts.findings import Verdict


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


@pytest.mark.parametrize("status", [405, 501])
def test_what_is_not_offered_is_told_of_the_status(status: int) -> None:
    (finding,) = [
        finding
        for finding in judged(answer(OPERATIONS[0].key, body=envelope("METHOD"), status=status)).findings
        if finding.requirement == "OP-001"
    ]

    assert (finding.path, finding.actual) == ("status", status)


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


def test_a_404_without_the_envelope_speaks_of_no_record() -> None:
    bare = answer(op.ROLE, body={"length": 1}, status=404, form="not-json")

    assert verdict_on(BY_KEY[op.ROLE].requirement, [bare]) is Verdict.FAIL


def test_a_gateway_that_knows_no_ingress_says_nothing_of_the_endpoint() -> None:
    row = OPERATIONS[0]
    bare = answer(
        row.key, body={"length": 1}, status=404, form="not-json", headers={"X-PORTAL-ACCESS-CODE": None}
    )
    assert verdict_on("OP-001", [bare]) is Verdict.UNTESTED
