"""Repeated exchanges are judged once: nothing that is decided may depend on that."""

from __future__ import annotations

import contextlib
import gc
import random
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance import record
from conformance.checks import registry
from conformance.checks.registry import kind_of, through_the_ingress
from conformance.judging import AnyJudge, Judge
from conformance.judging.cache import CachingJudge, cache_key, metadata
from conformance.judging.fields import extra_fields, shows
from conformance.judging.shapes import Shape
from conformance.spec import REQUIREMENTS
from conformance.spec.endpoints import LOGIN_INITIATE, PROFILE, ROLES, TIMEZONES
from conformance.tests.reduced import another_moment, decided, overreaching
from conformance.tests.scripted_client import walk
from conformance.tests.spoiling import spoilt
from conformance.tests.test_checks_envelope import OVERLOADED
from conformance.tests.test_judging_structs import takes
from conformance.tests.traffic import account, coded, envelope, refusal
from conformance.tests.traffic import answer as answered
from conformance.traffic import capture
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.verdicts.findings import Ledger
from conformance.verdicts.verdicts import Verdicts
from reference_impl import serve
from reference_impl.faults import FAULTS
from reference_impl.limits import Limits
from reference_impl.variants import VARIANTS


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> list[Exchange]:
    """What the recorder wrote of one visit."""
    out = tmp_path_factory.mktemp("visit") / "visit.jsonl"
    with (
        serve.start(limits=Limits(login_initiations=1000)) as portal,
        record.serve(portal.url, out) as recorder,
    ):
        walk(recorder.url, portal.profile())
    return list(capture.read(Path(out)))


@pytest.fixture(scope="module")
def traffic(visit: list[Exchange]) -> list[Exchange]:
    """Three visits, then spoilt exchanges, each of which comes three times among others."""
    dice = random.Random(20_260_101)
    wrong = [spoilt(dice.choice(visit), dice) for _ in range(600)]
    numbers = count(1)
    return [
        replace(exchange, n=next(numbers)) for exchange in (*visit * 3, *wrong, *visit, *wrong[::-1], *wrong)
    ]


def everything(judge: AnyJudge, traffic: list[Exchange]) -> Json:
    """All that a ledger holds once a judge has judged some traffic, and the findings of each exchange."""
    ledger = Ledger(REQUIREMENTS)
    findings = [
        sorted(finding.signature for finding in ledger.take(judge.judge(exchange))) for exchange in traffic
    ]
    tallies = {
        name: (tally.satisfied, set(tally.cases), tally.reasons) for name, tally in ledger.tallies.items()
    }
    return findings, tallies, ledger.findings, ledger.observations, ledger.errors, judge.operations_seen


def afresh(traffic: list[Exchange]) -> list[Exchange]:
    """The same exchanges, with no fact stored in them."""
    return [
        replace(one, request=replace(one.request), response=one.response and replace(one.response))
        for one in traffic
    ]


def test_with_and_without_the_cache_everything_is_decided_the_same(traffic: list[Exchange]) -> None:
    cached = everything(CachingJudge(Judge()), afresh(traffic))
    assert cached == everything(Judge(), afresh(traffic))
    assert cached[2]
    assert cached[3]


@pytest.fixture(scope="module", params=[*list(FAULTS)[::100], *list(VARIANTS)[::40]])
def unusual_visit(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Exchange]:
    """What the recorder wrote of a visit, as far as it came, to a portal with a fault or a variant."""
    out = tmp_path_factory.mktemp("unusual") / "visit.jsonl"
    name: str = request.param
    faults, variants = ([name], []) if name in FAULTS else ([], [name])
    with (
        serve.start(limits=Limits(login_initiations=1000), faults=faults, variants=variants) as portal,
        record.serve(portal.url, out) as recorder,
        contextlib.suppress(Exception),  # a fault may end the visit
    ):
        walk(recorder.url, portal.profile())
    return list(capture.read(Path(out)))


def test_at_faulty_portals_and_variants_everything_is_decided_the_same(unusual_visit: list[Exchange]) -> None:
    numbers = count(1)
    traffic = [replace(exchange, n=next(numbers)) for exchange in unusual_visit * 3]
    cached = everything(CachingJudge(Judge()), afresh(traffic))
    assert cached == everything(Judge(), afresh(traffic))
    assert cached[5]


def test_a_check_reads_no_more_than_it_says(traffic: list[Exchange]) -> None:
    for exchange in traffic[len(traffic) // 3 :]:
        assert overreaching(exchange) == []


def test_an_exchange_at_another_moment_has_the_same_cache_key(traffic: list[Exchange]) -> None:
    for exchange in traffic[len(traffic) // 3 :]:
        other = through_the_ingress_of(exchange, another_moment(exchange))
        assert metadata(other) == metadata(exchange)
        assert cache_key(other) == cache_key(exchange)


def through_the_ingress_of(exchange: Exchange, other: Exchange) -> Exchange:
    """The other exchange with the access code of the first: the checks of both depend on it."""
    headers = [
        sent if sent[0] == "x-portal-access-code" else changed
        for sent, changed in zip(exchange.request.headers, other.request.headers, strict=True)
    ]
    return replace(other, request=replace(other.request, headers=headers))


def test_checks_of_the_metadata_decide_the_same_where_these_are_the_same(traffic: list[Exchange]) -> None:
    decisions: dict[Json, Json] = {}
    for exchange in traffic:
        operation, key = exchange.request.operation, metadata(exchange)
        if operation is None or key is None or kind_of(exchange) != "success":
            continue
        rows = [row for row in registry.CHECKS if row.on.sight == "metadata" and operation.key in row.on.keys]
        held = {row.name: decided(row, exchange) for row in rows}
        assert decisions.setdefault((key, through_the_ingress(exchange)), held) == held
    assert len(decisions) > 20


def test_exact_data_has_enumeration_objects_where_they_are_stated_and_no_further_fields(
    traffic: list[Exchange],
) -> None:
    exact: set[str] = set()
    for exchange in traffic:
        operation = exchange.request.operation
        if operation is not None and operation.data and Shape(operation).is_exact_in(exchange):
            assert exchange.coded == replace(exchange).coded
            assert list(extra_fields(Shape(operation).node, exchange.data, "data")) == []
            if takes(Shape(operation).whole, exchange.data):
                assert not shows("left out", Shape(operation).node, exchange.data)
            exact.add(operation.key)
    assert len(exact) > 20


@pytest.mark.parametrize("wrapped", [True, False], ids=["cache", "judge"])
def test_a_check_that_forgets_sees_every_exchange(wrapped: bool) -> None:

    def of(code: str, value: int) -> Exchange:
        role_type = {"code": code, "value": value, "label": code}
        return answered(ROLES, body=envelope(data=[{"roleType": role_type}]))

    exchanges = [of("A", 1), of("A", 1), of("A", 1), of("B", 2), of("C", 3), of("A", 9), of("A", 1)]
    ledger, bare = Ledger(REQUIREMENTS), Judge(room=2)
    judge = CachingJudge(bare) if wrapped else bare
    generation = bare.dispatcher.generation

    found = [
        {finding.requirement for finding in ledger.take(judge.judge(exchange))} for exchange in exchanges
    ]

    assert "ENUM-009" not in found[5]
    assert "ENUM-009" in found[6]
    assert bare.dispatcher.generation > generation


@pytest.mark.parametrize("wrapped", [True, False], ids=["cache", "judge"])
def test_what_a_check_has_learned_counts_for_repeated_exchanges(wrapped: bool) -> None:
    timezones = answered(TIMEZONES, data=[coded("UTC", 95010101, zoneIdCode="UTC", utcOffset="+00:00")])
    profile = answered(PROFILE, data=account(defaultTimezone="MARS_OLYMPUS"))
    ledger, bare = Ledger(REQUIREMENTS), Judge()
    judge = CachingJudge(bare) if wrapped else bare

    early, listing, late = (
        {finding.requirement for finding in ledger.take(judge.judge(exchange))}
        for exchange in afresh([profile, timezones, profile])
    )

    assert "RESOURCE-008" not in early | listing
    assert "RESOURCE-008" in late


def test_answers_of_which_the_same_holds_and_is_read_share_their_verdicts() -> None:
    judge = CachingJudge(Judge())

    def verdicts(**other: Json) -> list[Verdicts]:
        exchange = answered(ROLES, body=envelope(data=None, success=False, code="4030", **other))
        return [leaf for leaf in judge.judge(exchange).leaves() if leaf.readings]

    first, repeated, other = verdicts(message="first"), verdicts(message="second"), verdicts(timestamp=ABSENT)

    assert first
    assert all(earlier is later for earlier, later in zip(first, repeated, strict=True))
    assert not set(first) & set(other)


def test_exchanges_that_contradict_something_are_not_kept() -> None:
    judge, endpoint = CachingJudge(Judge()), f"/number/{id(object())}"
    for number in range(1, 31):
        exchange = answered(ROLES, data=[{"bizId": number}] * 3)
        verdicts = judge.judge(replace(exchange, n=number, client=endpoint))
        assert not verdicts.is_clean
    del exchange, verdicts
    gc.collect()

    kept = [one for one in gc.get_objects() if type(one) is Exchange and one.client == endpoint]

    assert kept == []


def test_the_cache_takes_no_outage_for_the_rate_limit_before_it() -> None:
    judge = CachingJudge(Judge())
    outage = refusal(LOGIN_INITIATE, "E-17", 503)

    for exchange, is_contradicted in ((OVERLOADED, False), (outage, True), (OVERLOADED, False)) * 2:
        contradicted = {rule for leaf in judge.judge(exchange).leaves() for rule, *_ in leaf.contradictions}
        assert ("ENV-018" in contradicted) is is_contradicted
