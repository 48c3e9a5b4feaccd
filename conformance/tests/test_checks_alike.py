"""Exchanges that are alike are judged once: nothing that is decided may depend on that."""

from __future__ import annotations

import copy
import random
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance import record
from conformance.checks import registry
from conformance.checks.registry import Check, Memory, kind_of, through_the_ingress
from conformance.judging import Judge
from conformance.judging.cache import (
    IN_A_ROW,
    NOTHING,
    PARTS,
    PAUSE,
    Habit,
    Known,
    Settled,
    likeness,
    surface,
)
from conformance.judging.shapes import _extras, _shows, shape_of
from conformance.spec import REQUIREMENTS
from conformance.spec.endpoints import ROLES
from conformance.tests.scripted_client import walk
from conformance.tests.test_checks_quick import takes
from conformance.tests.traffic import answer as answered
from conformance.tests.traffic import envelope
from conformance.traffic import capture
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.verdicts.findings import HELD, Ledger
from reference_impl import serve
from reference_impl.limits import Limits

SPOILT: tuple[Json, ...] = (
    None,
    ABSENT,
    "",
    "x",
    0,
    -1,
    1.5,
    True,
    [],
    {},
    "1999-01-01T00:00:00Z",
    {"code": "X", "value": 1},
)


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


def spoilt(exchange: Exchange, dice: random.Random) -> Exchange:
    """The exchange with one value of its envelope or of the request's body made another."""
    assert exchange.response is not None
    request, response = exchange.request, exchange.response
    if isinstance(request.body, dict) and request.body and dice.random() < 0.2:
        return replace(exchange, request=replace(request, body=_spoilt(request.body, dice)))
    return replace(exchange, response=replace(response, body=_spoilt(response.body, dice)))


def _spoilt(body: Json, dice: random.Random) -> Json:
    changed = copy.deepcopy(body)
    places = list(_places(changed))
    if places:
        holder, key = dice.choice(places)
        value = dice.choice(SPOILT)
        if value is ABSENT:
            del holder[key]
        else:
            holder[key] = value
    return changed


def _places(value: Json) -> Iterator[tuple[Json, Json]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield value, key
        yield from _places(inner)


@pytest.fixture(scope="module")
def traffic(visit: list[Exchange]) -> list[Exchange]:
    """Three visits, then spoilt exchanges, each of which comes three times among others."""
    dice = random.Random(20_260_101)
    wrong = [spoilt(dice.choice(visit), dice) for _ in range(600)]
    numbers = count(1)
    return [
        replace(exchange, n=next(numbers)) for exchange in (*visit * 3, *wrong, *visit, *wrong[::-1], *wrong)
    ]


def verdict_of(traffic: list[Exchange]) -> Json:
    ledger = Ledger(REQUIREMENTS)
    judge = Judge(ledger)
    found = [sorted(finding.signature for finding in judge.feed(exchange)) for exchange in traffic]
    judge.finish()
    tallies = {
        name: (tally.satisfied, set(tally.cases), tally.reasons) for name, tally in ledger.tallies.items()
    }
    return found, tallies, ledger.findings, ledger.observations, ledger.errors


def test_what_is_alike_is_decided_as_if_each_were_judged(
    traffic: list[Exchange], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = verdict_of(traffic)
    monkeypatch.setattr(Known, "__getitem__", lambda self, key: None)
    assert known == verdict_of(traffic)


def test_little_room_changes_nothing(traffic: list[Exchange], monkeypatch: pytest.MonkeyPatch) -> None:
    known = verdict_of(traffic)
    monkeypatch.setattr(Known.__init__, "__kwdefaults__", {"kept": 7})
    assert known == verdict_of(traffic)


def another_moment(exchange: Exchange) -> Exchange:
    """The same at another time, of another client: all that no check by the answer may look at is another."""
    assert exchange.response is not None
    body = exchange.response.body
    if isinstance(body, dict) and type(body.get("timestamp")) is int and body["timestamp"] > 10**12:
        body = {**body, "timestamp": body["timestamp"] + 86_400_000 * 3650}
    kept = {"accept-language", "x-locale", "content-type"}
    headers, told = (
        [(name, value if name.lower() in kept else f"another {value}") for name, value in message.headers]
        for message in (exchange.request, exchange.response)
    )
    return replace(
        exchange,
        n=exchange.n + 1000,
        started="2045-02-03T04:05:06Z",
        elapsed_ms=exchange.elapsed_ms + 5000,
        client="198.51.100.1",
        request=replace(exchange.request, headers=headers),
        response=replace(exchange.response, headers=told, body=body),
    )


def held_by(check: Check, exchange: Exchange) -> Json:
    if not check.on.takes(exchange):
        return "not selected"
    return Counter(one is HELD for one in check(exchange, Memory()))


def test_checks_look_at_no_more_than_they_say(traffic: list[Exchange]) -> None:
    once = [
        row for row in registry.CHECKS if row.on.sight != "moment" and row.remembers in (False, "steadily")
    ]
    for exchange in traffic[len(traffic) // 3 :]:
        operation = exchange.request.operation
        assert operation is not None
        other = another_moment(exchange)
        assert surface(other) == surface(exchange)
        assert likeness(other, True, surface(other)) == likeness(exchange, True, surface(exchange))
        differing = [
            row.name
            for row in once
            if operation.key in row.on.keys
            and kind_of(exchange) in row.on.kinds
            and held_by(row, exchange) != held_by(row, other)
        ]
        assert differing == []


def test_checks_of_a_part_look_at_nothing_else(traffic: list[Exchange]) -> None:
    known: dict[tuple[str, str, bytes | None, bool], Json] = {}
    for exchange in traffic:
        operation, ingress = exchange.request.operation, through_the_ingress(exchange)
        assert operation is not None
        for sight, look in PARTS.items():
            rows = [row for row in registry.CHECKS if row.on.sight == sight and operation.key in row.on.keys]
            if rows and kind_of(exchange) == "success":
                held = {row.name: held_by(row, exchange) for row in rows}
                place = (sight, operation.key, look(exchange), ingress)
                assert known.setdefault(place, held) == held
    assert {sight for sight, *_ in known} == set(PARTS)


def test_nothing_to_see_holds_and_contradicts_nothing(traffic: list[Exchange]) -> None:
    for exchange in traffic:
        for sight, look in PARTS.items():
            if look(exchange) is NOTHING:
                rows = [row for row in registry.CHECKS if row.on.sight == sight]
                assert [row.name for row in rows if held_by(row, exchange) not in ("not selected", {})] == []


def test_exact_data_has_enumeration_objects_where_they_are_stated_and_no_further_fields(
    traffic: list[Exchange],
) -> None:
    exact: set[str] = set()
    for exchange in traffic:
        operation = exchange.request.operation
        if operation is not None and operation.data and shape_of(operation).is_exact_in(exchange):
            assert exchange.coded == replace(exchange).coded
            assert list(_extras(shape_of(operation).node, exchange.data, "data")) == []
            if takes(shape_of(operation).whole, exchange.data):
                assert not _shows("left out", shape_of(operation).node, exchange.data)
            exact.add(operation.key)
    assert len(exact) > 20


def test_looking_for_what_never_comes_again_is_paused() -> None:
    habit = Habit()
    for _ in range(IN_A_ROW):
        assert not habit.paused
        habit.note_new()
    assert (habit.new, habit.paused) == (0, PAUSE)


def test_pauses_change_nothing(traffic: list[Exchange], monkeypatch: pytest.MonkeyPatch) -> None:
    known = verdict_of(traffic)
    monkeypatch.setattr("conformance.judging.cache.IN_A_ROW", 1)
    monkeypatch.setattr("conformance.judging.cache.PAUSE", 3)
    assert known == verdict_of(traffic)


def test_a_check_that_forgets_looks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "ROOM", 2)
    listing = ROLES

    def of(code: str, value: int) -> Exchange:
        coded = {"code": code, "value": value, "label": code}
        return answered(listing, body=envelope(data=[{"roleType": coded}]))

    exchanges = [of("A", 1), of("A", 1), of("A", 1), of("B", 2), of("C", 3), of("A", 9), of("A", 1)]
    ledger = Ledger(REQUIREMENTS)
    judge = Judge(ledger)
    found = [{finding.requirement for finding in judge.feed(exchange)} for exchange in exchanges]
    assert "ENUM-009" not in found[5]
    assert "ENUM-009" in found[6]


def test_what_is_forgotten_has_been_counted() -> None:
    dropped: list[Settled] = []
    known: Known[int] = Known(dropped.append, kept=2)
    for number in range(6):
        known.add(number, Settled(f"number {number}"))
    assert [one.endpoint for one in dropped] == ["number 0", "number 1", "number 2", "number 3"]
    assert [known[number] is not None for number in range(6)] == [False] * 4 + [True] * 2


def test_judging_again_counts_as_judging_does(visit: list[Exchange]) -> None:
    def tallies(*, again: bool) -> object:
        ledger = Ledger(REQUIREMENTS)
        judge = Judge(ledger)
        for number, exchange in enumerate(visit, 1):
            judge.feed(replace(exchange, n=number))
            settlement = judge.settlement
            for _ in range(3):
                same = replace(exchange, n=number)
                if not again or settlement is None or judge.feed_again(same, settlement) is None:
                    judge.feed(same)
        judge.finish()
        counted = {name: (one.satisfied, set(one.cases)) for name, one in ledger.tallies.items()}
        return counted, ledger.observations, judge.operations_seen

    assert tallies(again=True) == tallies(again=False)


def test_what_was_forgotten_is_judged_as_any(visit: list[Exchange]) -> None:
    judge = Judge(Ledger(REQUIREMENTS))
    settled = [(judge.feed(one), judge.settlement) for one in visit]
    exchange, settlement = next(
        (one, kept) for one, (_, kept) in zip(visit, settled, strict=True) if kept is not None
    )

    judge._answers.forget()

    assert judge.feed_again(exchange, settlement) is None
