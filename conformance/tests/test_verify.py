"""What a case says with ``verify``."""

from __future__ import annotations

import pytest

from conformance.spec import Requirement
from conformance.tests.traffic import answer
from conformance.verdicts.comparisons import equal
from conformance.verdicts.findings import HELD, Ledger, Verdict
from conformance.verdicts.verify import Verify

CASE = "cases/a.py::b"
EXCHANGE = answer("GET /web/v1/system/roles", [])
MUST = Requirement(id="TEST-001", section="Tests", level="must", statement="Something holds.")
SHOULD = Requirement(id="TEST-002", section="Tests", level="should", statement="Something is usual.")
OPEN = Requirement(
    id="TEST-003", section="Tests", level="open", statement="Something is open.", reading="topic"
)


def verifying(*declared: str) -> Verify:
    rows = {row.id: row for row in (MUST, SHOULD, OPEN)}
    return Verify(Ledger(rows), CASE, declared or tuple(rows))


def verdicts(verify: Verify) -> dict[str, Verdict]:
    return {result.requirement.id: result.verdict for result in verify.ledger.results()}


def test_a_contradiction_does_not_stop_the_case() -> None:
    verify = verifying()
    assert verify("TEST-001", equal(EXCHANGE, "status", 404)) is False
    assert verify("TEST-002", equal(EXCHANGE, "status", 200)) is True
    assert verdicts(verify) == {
        "TEST-001": Verdict.FAIL,
        "TEST-002": Verdict.PASS,
        "TEST-003": Verdict.UNTESTED,
    }


def test_all_comparisons_must_hold() -> None:
    verify = verifying()
    assert verify("TEST-001", HELD, equal(EXCHANGE, "status", 404)) is False
    assert [finding.case for finding in verify.findings] == [CASE]


@pytest.mark.parametrize(
    ("others", "is_aside"), [(("TEST-002",), True), (("TEST-001", "TEST-002"), False), ((), True)]
)
def test_what_a_check_sees_in_a_case_that_declares_other_rules_is_aside(
    others: tuple[str, ...], is_aside: bool
) -> None:
    ledger = verifying("TEST-001" if others else "TEST-003").ledger
    Verify(ledger, "cases/c.py::d", others)
    ledger.decide("TEST-001", equal(EXCHANGE, "status", 404), case="cases/c.py::d")

    assert [finding.is_aside for finding in ledger.findings] == [is_aside]


def test_deciding_what_was_not_declared_is_the_suites_error() -> None:
    with pytest.raises(ValueError, match="TEST-002 without declaring it"):
        verifying("TEST-001")("TEST-002", HELD)


def test_an_observation_decides_the_open_requirement_of_its_reading() -> None:
    verify = verifying()
    verify.observe("topic", EXCHANGE, EXCHANGE.status)
    assert verify.decided == {"TEST-003"}
    assert [observation.observed for observation in verify.ledger.observations] == [200]
    assert verdicts(verify)["TEST-003"] is Verdict.OPEN


def test_what_is_not_there_is_observed_as_null() -> None:
    verify = verifying()
    verify.observe("topic", EXCHANGE, EXCHANGE.at("data.missing"))
    assert [observation.observed for observation in verify.ledger.observations] == [None]


def test_what_could_not_be_tried_says_why() -> None:
    verify = verifying()
    verify.untested("TEST-001", "no such account", "credentials")
    results = {result.requirement.id: result for result in verify.ledger.results()}
    assert (results["TEST-001"].reason, results["TEST-001"].fault_class) == ("no such account", "credentials")


def test_leaving_touches_only_what_is_undecided() -> None:
    verify = verifying()
    verify("TEST-001", HELD)
    verify.leave_unbegun("the profile has no [clock]")
    verify.leave("the target went away", "environment")
    reasons = {result.requirement.id: (result.reason, result.cases) for result in verify.ledger.results()}
    assert reasons["TEST-001"] == (None, (CASE,))
    assert reasons["TEST-002"] == ("the target went away", (CASE,))
