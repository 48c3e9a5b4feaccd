"""A portal that leaves out fields of the envelope, as it may: the reasons of what is untested say so."""

from __future__ import annotations

import pytest

from conformance.judging import watch
from conformance.report.finish import NEEDED, results_of
from conformance.spec import REQUIREMENTS
from conformance.spec.endpoints import SECURE_SESSION, SESSIONS
from conformance.tests.traffic import answer, at, envelope, session
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.verdicts.findings import Ledger
from conformance.verdicts.selection import RuleSelection, select_rules

SESSION = session(loginTime=at(minutes=5), lastActivityTime=at(minutes=1), isCurrent=True)
LASTING = "half an hour has to pass"


def reasons(*exchanges: Exchange, selection: RuleSelection | None = None) -> dict[str, str | None]:
    """By rule the reason after these exchanges; SESSION-043 has one of its case before."""
    ledger = Ledger(REQUIREMENTS, selection=selection)
    judge = watch(ledger)
    ledger.leave_untested("SESSION-043", LASTING)
    for exchange in exchanges:
        judge(exchange)
    return {row.requirement.id: row.reason for row in results_of(ledger)}


def sessions(**fields: Json) -> Exchange:
    return answer(SESSIONS, body=envelope(data=[SESSION], **fields))


@pytest.mark.parametrize("field", ["version", "timestamp"])
def test_what_a_left_out_field_leaves_untested_says_so(field: str) -> None:
    named = f"no answer that could decide it has a {field}"

    seen = reasons(sessions(**{field: ABSENT}))

    of_all = {"ENV-009", "ENV-010", "ENV-011", "VERSION-001", "SESSION-043"}
    assert {rule for rule, reason in seen.items() if reason == named} == {
        rule for rule in of_all if NEEDED[rule] == field
    }


def test_a_success_that_never_came_is_not_blamed_on_its_fields() -> None:
    refused = answer(SECURE_SESSION, body=envelope(code="4000", version=ABSENT), status=400)

    assert "version" not in (reasons(refused)["VERSION-002"] or "")


def test_a_rule_that_is_left_out_keeps_its_reason() -> None:
    only = select_rules(["SESSION-043"], [])

    seen = reasons(sessions(timestamp=ABSENT), selection=only)

    assert seen["SESSION-043"] == "no answer that could decide it has a timestamp"
    assert (seen["ENV-010"] or "").startswith("not selected by")
