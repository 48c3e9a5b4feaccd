"""Facts are computed once for a record, and are no fields of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from conformance.checks.records import records
from conformance.spec.endpoints import ROLES
from conformance.tests.traffic import answer, role
from conformance.traffic.exchange import Exchange
from conformance.traffic.facts import called, fact

computed: list[int] = []


def stored(function: Callable[..., Any], record: object) -> Any:
    """The value of a fact that is called, where it is stored with a record, else None."""
    return vars(record).get(f"{function.__module__}.{function.__qualname__}")


@called
@fact
def length(exchange: Exchange) -> int:
    computed.append(exchange.n)
    return len(exchange.data)


def test_a_fact_is_computed_once_for_a_record() -> None:
    computed.clear()
    exchange = answer(ROLES, [role(), role()])

    assert (length(exchange), length(exchange)) == (2, 2)

    assert computed == [exchange.n]


def test_facts_are_no_fields() -> None:
    exchange = answer(ROLES, [role()])
    line = msgspec.json.encode(exchange)

    assert (len(records(exchange)), exchange.success) == (1, True)

    assert msgspec.json.encode(exchange) == line
    assert exchange == msgspec.json.decode(line, type=Exchange)
    assert stored(records, replace(exchange, n=7)) is None
