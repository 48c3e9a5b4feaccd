"""The judge: what it applies to which exchange, and what it keeps."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.checks import registry
from conformance.checks.registry import Check, successes
from conformance.judging import Judge, Watch, judge_of, watch
from conformance.judging.dispatch import checks_by_sight
from conformance.spec import REQUIREMENTS
from conformance.spec.endpoints import ROLES
from conformance.tests.traffic import answer, envelope, judged, observed, refusal, role
from conformance.traffic.exchange import ABSENT, Exchange, Request, Response
from conformance.verdicts.findings import HELD, Comparison, Ledger, Verdict
from conformance.verdicts.verdicts import NO_VERDICTS

MISNAMED = answer(ROLES, body=envelope(data=[], message=None))


def watched(ledger: Ledger, case: str | None = None) -> Watch:
    return watch(ledger, judge=judge_of(), case=lambda: case)


def test_a_contradiction_is_given_at_once() -> None:
    found = watched(Ledger(REQUIREMENTS))(MISNAMED)
    assert [(finding.requirement, finding.verdict) for finding in found] == [("ENV-006", Verdict.FAIL)]


def test_a_finding_names_the_case_that_acts_and_without_one_the_check() -> None:
    assert watched(Ledger(REQUIREMENTS), "cases/a.py::b")(MISNAMED)[0].case == "cases/a.py::b"
    assert watched(Ledger(REQUIREMENTS))(MISNAMED)[0].case == "check envelope.a_part_has_its_type"


def test_a_requirement_that_holds_names_the_check() -> None:
    results = {result.requirement.id: result for result in judged(answer(ROLES, [role()])).results()}
    assert results["ENV-002"].cases == ("check envelope.a_part_has_its_type",)


def unanswered() -> Exchange:
    request = Request(method="GET", url="http://portal.example.test/web/v1/system/roles")
    return Exchange(n=1, started="2031-05-06T07:08:09Z", request=request, error="reset")


def elsewhere() -> Exchange:
    request = Request(method="GET", url="http://portal.example.test/other")
    return Exchange(n=1, started="2031-05-06T07:08:09Z", request=request, response=Response(status=500))


@pytest.mark.parametrize(
    "exchange",
    [
        unanswered(),
        elsewhere(),
        answer(ROLES, body=ABSENT, form="truncated"),
        answer(ROLES, body=ABSENT, form="omitted"),
    ],
    ids=["no answer", "another path", "cut off", "left out by the source"],
)
def test_what_is_not_known_is_not_judged(exchange: Exchange) -> None:
    ledger = judged(exchange)
    assert ledger.findings == []
    assert not any(tally.satisfied for tally in ledger.tallies.values())


@pytest.mark.parametrize("no_cache", [False, True])
def test_every_exchange_of_the_88_is_counted(no_cache: bool) -> None:
    judge = judge_of(no_cache=no_cache)
    for exchange in (answer(ROLES, []), refusal(ROLES, "4010", 401), elsewhere()):
        judge.judge(exchange)
    assert judge.operations_seen == {ROLES: 2}


def test_a_pending_approval_is_no_success_of_the_stated_shape() -> None:
    initiate = "POST /web/v1/system/auth/login/initiate"
    told = answer(
        initiate, body=envelope("ACCOUNT_PENDING_APPROVAL", data={"isPendingApproval": True}, success=True)
    )
    assert not judged(told).findings


def test_a_place_that_is_not_of_the_stated_shape_is_found_once() -> None:
    found = judged(answer(ROLES, [role(createdAt=5)])).findings
    assert {finding.requirement for finding in found} == {"RESOURCE-002"}


def test_extra_fields_are_observed_and_not_held_against_anybody() -> None:
    exchange = answer(ROLES, [role(colour="green")])
    assert observed("extra-fields", exchange) == ["data[].colour"]
    assert judged(exchange).findings == []


def test_fields_beside_those_of_the_envelope_are_observed_too() -> None:
    good = answer(ROLES, body={**envelope(data=[role()]), "trace": "t-1"})
    bad = answer(ROLES, body={**envelope("4010"), "trace": "t-2", "path": "/roles"}, status=401)
    assert observed("extra-fields", good) == ["trace"]
    assert sorted(observed("extra-fields", good, bad)) == ["path", "trace"]
    assert judged(good, bad).findings == []


@pytest.fixture
def broken_check() -> Iterator[str]:
    """A check with a bug, for as long as the test runs."""

    def raises(exchange: Exchange) -> Iterator[Comparison]:
        raise RuntimeError("a bug of ours")
        yield HELD

    row = Check("ROLE-013", successes(ROLES), raises, False, "roles.broken", ("ROLE-013", "roles.broken"))
    registry.CHECKS.append(row)
    checks_by_sight.cache_clear()
    yield "check roles.broken"
    registry.CHECKS.remove(row)
    checks_by_sight.cache_clear()


def test_a_broken_check_is_the_suites_error_and_never_the_targets(broken_check: str) -> None:
    ledger = Ledger(REQUIREMENTS)
    watched(ledger)(answer(ROLES, [role()]))
    assert ledger.errors == {broken_check: "RuntimeError: a bug of ours (exchange 1)"}
    assert ledger.findings == []
    assert ledger.tallies["ROLE-013"].satisfied == 1


def test_a_judge_says_all_that_it_decides_and_writes_nowhere() -> None:
    verdicts = Judge().judge(answer(ROLES, body=envelope(data=[role(permissionCodes=5)], message=None)))
    leaves = list(verdicts.leaves())

    contradicted = [(name, check) for leaf in leaves for name, check, _ in leaf.contradictions]
    assert contradicted[0][1] == "shape"
    assert ("ENV-006", "envelope.a_part_has_its_type") in contradicted
    assert [place for leaf in leaves for place in leaf.misshapen] == ["data[0].permissionCodes"]
    assert ("ENV-002", "envelope.a_part_has_its_type") in {
        decision for leaf in leaves for decision, _ in leaf.held
    }
    assert ("envelope-version", "present") in {value for leaf in leaves for value in leaf.readings}
    assert not verdicts.is_clean


def test_an_exchange_that_cannot_be_judged_has_no_verdicts() -> None:
    assert list(Judge().judge(elsewhere()).leaves()) == [NO_VERDICTS]


def test_verdicts_on_several_equal_exchanges_are_taken_at_once() -> None:
    ledger, judge = Ledger(REQUIREMENTS), Judge()
    right = judge.judge(answer(ROLES, [role()]))

    assert ledger.take(right, times=3) == []
    assert [finding.times for finding in ledger.take(judge.judge(MISNAMED), times=2)] == [2]

    assert ledger.tallies["ENV-006"].satisfied == 3
    assert ledger.tallies["ENV-002"].satisfied == 5
    assert [one.times for one in ledger.observations if one.topic == "envelope-version"] == [5]
