"""Findings of one cause share a card, and the gravest stand first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conformance.report.formats.write import write_all
from conformance.report.model.groups import grouped
from conformance.report.model.run import Run
from conformance.report.model.severity import RANK, SEVERITIES, severity_of
from conformance.tests.sample_run import (
    ACCOUNTS,
    CHANGE,
    COMPLETE,
    PROFILE,
    ROLES,
    conformant,
    envelope,
    exchange,
    finding,
    sample,
)

NONE: frozenset[str] = frozenset()


def test_one_rule_contradicted_alike_at_several_endpoints_is_one_group() -> None:
    findings = [finding(endpoint=endpoint, signature=endpoint) for endpoint in (PROFILE, ROLES, ACCOUNTS)]

    (group,) = grouped(findings, NONE)

    assert group.lead.endpoint == PROFILE
    assert [each.endpoint for each in group.elsewhere] == [ROLES, ACCOUNTS]


@pytest.mark.parametrize(
    "other",
    [
        {"path": "data.more"},
        {"expected": 7},
        {"actual": "text"},
        {"requirement": "ENV-001"},
        {"verdict": "warn"},
    ],
)
def test_another_contradiction_is_another_group(other: dict[str, Any]) -> None:
    assert len(grouped([finding(), finding(**{"endpoint": ROLES, **other})], NONE)) == 2


def test_items_of_a_list_are_one_group() -> None:
    rows = [finding(path=f"data[{at}].bizId") for at in range(4)]

    assert len(grouped(rows, NONE)) == 1


def test_rules_that_one_wrong_answer_contradicts_as_a_whole_are_one_group() -> None:
    body = finding(requirement="ENV-001", path="", exchanges=[129])
    status = finding(requirement="OP-065", path="status", exchanges=[12, 129])
    field = finding(requirement="ENV-011", path="timestamp", exchanges=[129])
    elsewhere = finding(requirement="ERROR-001", path="status", exchanges=[130])

    groups = grouped([body, status, field, elsewhere], NONE)

    assert [[each.requirement for each in group.findings] for group in groups] == [
        ["ENV-001", "OP-065"],
        ["ENV-011"],
        ["ERROR-001"],
    ]


def test_what_the_baseline_lists_shares_no_group_with_what_is_new() -> None:
    listed, new = finding(signature="listed"), finding(endpoint=ROLES, signature="new")

    assert len(grouped([listed, new], frozenset({"listed"}))) == 2


@pytest.mark.parametrize(
    "changes, severity",
    [
        (
            {
                "requirement": "TOKEN-015",
                "endpoint": COMPLETE,
                "path": "success",
                "expected": False,
                "actual": True,
            },
            "access",
        ),
        (
            {
                "requirement": "HEADER-001",
                "path": "status",
                "expected": {"one of": [400, 401, 403]},
                "actual": 200,
            },
            "access",
        ),
        (
            {
                "requirement": "HEADER-001",
                "path": "status",
                "expected": {"one of": [400, 401]},
                "actual": 500,
            },
            "client",
        ),
        (
            {"requirement": "SECURE-007", "path": "data.key", "expected": "no AES key", "actual": "x"},
            "access",
        ),
        ({"requirement": "ENV-008", "path": "data", "expected": None, "actual": {}}, "client"),
        (
            {
                "requirement": "ENV-008",
                "endpoint": CHANGE,
                "path": "data.name",
                "expected": "a",
                "actual": "b",
            },
            "data",
        ),
        (
            {
                "requirement": "ENV-008",
                "endpoint": PROFILE,
                "path": "data.name",
                "expected": "a",
                "actual": "b",
            },
            "client",
        ),
        ({"requirement": "ENV-008", "endpoint": CHANGE, "path": "data.name", "case": "check x"}, "client"),
        (
            {
                "requirement": "ACCOUNT-020",
                "verdict": "warn",
                "path": "status",
                "expected": 403,
                "actual": 200,
            },
            "differs",
        ),
    ],
)
def test_the_severity_follows_from_the_requirement_and_from_what_was_seen(
    changes: dict[str, Any], severity: str
) -> None:
    assert severity_of(finding(**changes)) == severity


def test_the_report_shows_and_sorts_by_severity_and_results_name_it(tmp_path: Path) -> None:
    made = sample()
    run = write_all(made.run(), tmp_path, exchanges=made.write(tmp_path / "exchanges.jsonl"))
    html = (tmp_path / "report.html").read_text(encoding="utf-8")

    assert {each.requirement: each.severity for each in Run.read(tmp_path).findings} == {
        each.requirement: severity_of(each) for each in run.findings
    }
    assert html.index('id="finding-SECURE-007"') < html.index('id="finding-ENV-008"')
    assert SEVERITIES["access"] in html
    assert list(RANK) == ["access", "data", "client", "differs"]


def test_a_finding_in_the_card_of_another_keeps_its_anchor(tmp_path: Path) -> None:
    made = conformant()
    for number, endpoint in ((40, PROFILE), (41, ROLES), (42, ACCOUNTS)):
        answer = exchange(number, endpoint, answer=envelope(timestamp=1795254787))
        made.add(answer)
        made.contradict("ENV-011", answer, path="timestamp", expected="epoch milliseconds")
    write_all(made.run(), tmp_path, exchanges=made.write(tmp_path / "exchanges.jsonl"))
    html = (tmp_path / "report.html").read_text(encoding="utf-8")

    assert html.count("<article") == 1
    assert "Also in 2 more places" in html
    for name in ("finding-ENV-011", "finding-ENV-011-2", "finding-ENV-011-3"):
        assert html.count(f'id="{name}"') == 1
        assert f'href="#{name}"' in html
    assert "3 FAIL of 1 rule" in html
