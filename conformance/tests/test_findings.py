"""From comparisons to verdicts: the ledger of a run."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from conformance.spec import Level, Requirement
from conformance.tests.traffic import answer
from conformance.traffic.exchange import ABSENT, Exchange
from conformance.verdicts.findings import (
    HELD,
    KEPT_OBSERVATIONS,
    Contradiction,
    Ledger,
    Result,
    Verdict,
    finding_of,
    shown,
    worst,
)

ROLES = "GET /web/v1/system/roles"


def requirement(id: str = "TEST-001", level: Level = "must", **other: Any) -> Requirement:
    return Requirement(id=id, section="Tests", level=level, statement="Something holds.", **other)


def ledger(*requirements: Requirement) -> Ledger:
    return Ledger({row.id: row for row in requirements or (requirement(),)})


def exchange(n: int = 1) -> Exchange:
    return answer(ROLES, [{"a": 1}, {"a": 2}], n=n)


def contradiction(n: int = 1, path: str = "data[0].a", **other: Any) -> Contradiction:
    return Contradiction(exchange(n), path, 5, 1, **other)


def result(of: Ledger, id: str = "TEST-001") -> Result:
    return next(one for one in of.results() if one.requirement.id == id)


@pytest.mark.parametrize(
    "level, contradicted, held",
    [
        ("must", Verdict.FAIL, Verdict.PASS),
        ("should", Verdict.WARN, Verdict.PASS),
        ("open", Verdict.OPEN, Verdict.OPEN),
    ],
)
def test_the_level_makes_the_verdict(level: Level, contradicted: Verdict, held: Verdict) -> None:
    wrong, right = ledger(requirement(level=level)), ledger(requirement(level=level))
    wrong.decide("TEST-001", contradiction())
    assert right.decide("TEST-001", HELD) is None
    assert (result(wrong).verdict, result(right).verdict) == (contradicted, held)


def test_what_nothing_decided_is_untested_and_says_so() -> None:
    assert result(ledger()).reason == (
        "nothing that was sent or seen could decide it: `portal-conformance explain ID` says what does"
    )
    assert result(ledger()).verdict is Verdict.UNTESTED


def test_a_reason_counts_only_where_nothing_else_decided() -> None:
    book = ledger()
    book.leave_untested("TEST-001", "no account", "credentials")
    assert (result(book).verdict, result(book).reason) == (Verdict.UNTESTED, "no account")
    assert result(book).fault_class == "credentials"
    book.satisfy("TEST-001")
    assert (result(book).verdict, result(book).reason) == (Verdict.PASS, None)


def test_an_observation_decides_what_is_open() -> None:
    book = ledger(requirement(level="open", reading="the-topic"))
    assert result(book).verdict is Verdict.UNTESTED
    book.observe("the-topic", exchange(), 5)
    assert result(book).verdict is Verdict.OPEN


def test_a_finding_of_the_same_place_is_counted_whatever_its_index() -> None:
    book = ledger()
    for path in ("data[0].a", "data[1].a", "data[0].b"):
        book.decide("TEST-001", contradiction(path=path))
    assert [(one.path, one.times) for one in book.findings] == [("data[0].a", 2), ("data[0].b", 1)]


def test_what_is_not_of_the_stated_shape_is_found_once_and_leaves_the_rest_untested() -> None:
    book = ledger(requirement("TEST-001"), requirement("TEST-002"))
    book.note_misshapen(exchange(), ["data[0]"])
    assert book.decide("TEST-001", contradiction()) is None
    assert result(book).verdict is Verdict.UNTESTED
    assert book.decide("TEST-002", contradiction(path="data[1].a")) is not None
    assert book.decide("TEST-002", contradiction(n=2)) is not None
    book.note_misshapen(exchange(3), ["data[0].a"])
    assert book.decide("TEST-002", contradiction(n=3, path="data[0].ab")) is not None


@pytest.mark.parametrize(
    "seen, message",
    [
        (Contradiction(exchange(), "data.b", "there", ABSENT), 'data.b: expected "there", seen nothing'),
        (Contradiction(exchange(), "data", None, {"ok": True}), 'data: expected null, seen {"ok": true}'),
        (
            Contradiction(exchange(), "", "a JSON object", "plain text"),
            'the answer: expected a JSON object, seen "plain text"',
        ),
        (contradiction(message="it was accepted"), "it was accepted"),
    ],
    ids=["absent", "JSON", "a description in its words", "a message of its own"],
)
def test_a_message_says_what_was_expected_and_seen(seen: Contradiction, message: str) -> None:
    assert finding_of(requirement(), seen).message == message


@pytest.mark.parametrize("path, end", [("data[12].items[3].a", " data[].items[].a"), ("", "")])
def test_a_signature_names_requirement_endpoint_and_place_without_indexes(path: str, end: str) -> None:
    assert finding_of(requirement(), contradiction(path=path)).signature == f"TEST-001 {ROLES}{end}"


def test_equal_observations_are_counted_and_others_kept_apart() -> None:
    book = ledger()
    for value in (1, 1, "1", True, [1], "[1]", None):
        book.observe("topic", exchange(), value)
    counts = [(repr(one.observed), one.times) for one in book.observations]
    others = ["'1'", "True", "[1]", "'[1]'", "None"]
    assert sorted(counts) == sorted([("1", 2), *((value, 1) for value in others)])


def test_of_many_observations_the_first_are_kept() -> None:
    book = ledger()
    for number in range(KEPT_OBSERVATIONS + 5):
        book.observe("topic", exchange(), number)
    assert len(book.observations) == KEPT_OBSERVATIONS


@pytest.mark.parametrize("lighter, graver", [*pairwise(["UNTESTED", "OPEN", "PASS", "WARN", "FAIL"])])
def test_the_gravest_verdict_wins(lighter: str, graver: str) -> None:
    assert worst([]) is Verdict.UNTESTED
    assert worst([Verdict[lighter], Verdict[graver]]) is Verdict[graver]
    assert worst([Verdict[graver], Verdict[lighter], Verdict.UNTESTED]) is Verdict[graver]


def test_a_long_value_is_cut_and_says_how_long_it_was() -> None:
    assert shown("a" * 500) == '"' + "a" * 198 + "… (502 characters)"


def test_of_a_long_list_a_finding_keeps_the_beginning() -> None:
    listed = [{"bizId": str(number)} for number in range(20_000)]
    decided = ledger()

    decided.decide("TEST-001", Contradiction(answer(ROLES, listed), "data", "no list", listed))
    decided.observe("a-topic", exchange(), "x" * 1_000_000)

    assert decided.findings[0].actual == [*listed[:100], "… 19,900 more"]
    assert len(decided.observations[0].observed) < 5_000
