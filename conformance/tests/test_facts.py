"""Facts are computed once for a record, are no fields of it, and are copied to those that share them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from conformance.checks.orders import created
from conformance.checks.records import records
from conformance.spec.endpoints import ROLES
from conformance.tests.traffic import answer, role
from conformance.traffic.exchange import Exchange, Request
from conformance.traffic.facts import called, copy_data_facts, copy_request_facts, data_fact, data_facts, fact

computed: list[int] = []


def stored(function: Callable[..., Any], record: object) -> Any:
    """The value of a fact that is called, where it is stored with a record, else None."""
    return vars(record).get(f"{function.__module__}.{function.__qualname__}")


@called
@data_fact
def length(exchange: Exchange) -> int:
    computed.append(exchange.n)
    return len(exchange.data)


@called
@fact
def size_of_url(request: Request) -> int:
    return len(request.url)


def test_a_fact_is_computed_once_for_a_record() -> None:
    computed.clear()
    exchange = answer(ROLES, [role(), role()])

    assert (length(exchange), length(exchange)) == (2, 2)

    assert computed == [exchange.n]


def test_an_attribute_is_stored_where_python_finds_it_without_a_call() -> None:
    exchange = answer(ROLES, [role()])

    assert exchange.data is exchange.data
    assert vars(exchange)["data"] is exchange.data


def test_a_fact_is_known_where_it_was_computed_or_stored_only() -> None:
    exchange = answer(ROLES, [role()])

    assert Exchange.coded.stored(exchange) is None
    Exchange.coded.store(exchange, [])

    assert Exchange.coded.stored(exchange) == []
    assert exchange.coded == []


def test_facts_are_no_fields() -> None:
    exchange = answer(ROLES, [role()])
    line = msgspec.json.encode(exchange)

    assert (len(records(exchange)), exchange.success) == (1, True)

    assert msgspec.json.encode(exchange) == line
    assert exchange == msgspec.json.decode(line, type=Exchange)
    assert stored(records, replace(exchange, n=7)) is None


def test_data_facts_are_copied_and_others_are_not() -> None:
    first = answer(ROLES, [role()])
    assert (records(first), created(first), first.data, first.time) is not None
    repeated = replace(first, n=first.n + 1, started="2026-01-02T00:00:00Z")

    copy_data_facts(first, repeated)

    assert stored(records, repeated) is records(first)
    assert stored(created, repeated) is created(first)
    assert Exchange.data.stored(repeated) is first.data
    assert Exchange.time.stored(repeated) is None
    assert Exchange.envelope.stored(repeated) is None


def test_data_facts_are_copied_to_any_number() -> None:
    first = answer(ROLES, [role()])
    assert records(first)
    facts = data_facts(first)

    for number in (2, 3):
        repeated = replace(first, n=number)
        facts.copy_to(repeated)
        assert stored(records, repeated) is records(first)
        assert stored(length, repeated) is None


def test_the_facts_of_a_request_are_copied_to_a_repeated_one() -> None:
    first = answer(ROLES, [role()]).request
    assert size_of_url(first) == len(first.url)
    assert first.layout is not None
    repeated = replace(first)

    copy_request_facts(first, repeated)

    assert stored(size_of_url, repeated) == len(first.url)
    assert Request.layout.stored(repeated) is first.layout
