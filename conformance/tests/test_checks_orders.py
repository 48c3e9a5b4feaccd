"""The checks of ``conformance.checks.orders``."""

from __future__ import annotations

import pytest

from conformance.spec.endpoints import TRANSFER_ORDERS
from conformance.tests.proof import Proof
from conformance.tests.traffic import answer, at, contradicted_by, order, order_page
from conformance.traffic.exchange import Exchange, Json

NEW, OLD = order(bizId="order-2", createdAt=at(days=1)), order(createdAt=at(days=3), completedAt=at(days=2))


def orders(*listed: Json, query: dict[str, str] | str = "") -> Exchange:
    return answer(TRANSFER_ORDERS, order_page(*listed), query=query)


PROOFS = [
    Proof(
        "STATE-007",
        orders(order(), order(status=3, statusName="FAILED")),
        orders(order(status=2, statusName="FAILED")),
    ),
    Proof(
        "ORDER-025",
        orders(order(amount=0.1, feeAmount=0.2, totalAmount=0.30000000000000004)),
        orders(order(amount=100, feeAmount=1, totalAmount=100)),
    ),
    Proof(
        "ORDER-026",
        orders(order(completedAt=None), order(createdAt=at(days=2), completedAt=at(days=2))),
        orders(order(createdAt=at(days=1), completedAt=at(days=2))),
    ),
    Proof(
        "ORDER-027",
        orders(order(), order(status=1, statusName="PROCESSING", completedAt=None)),
        orders(order(completedAt=None)),
    ),
    Proof(
        "ORDER-034",
        orders(order(), order(status=3, statusName="FAILED", failureReason="No funds")),
        orders(order(failureReason="No funds")),
    ),
    Proof(
        "ORDER-020",
        orders(order(createdAt=at(days=30.5)), order(createdAt=at(hours=-1)), order(createdAt=at(days=40))),
        orders(order(createdAt=at(days=32), completedAt=None)),
    ),
    Proof(
        "ORDER-021",
        [
            orders(order(createdAt="2031-05-05T07:08:09Z"), query={"startTime": "2031-05-05T07:08:09.500Z"}),
            orders(OLD, query={"startTime": at(days=2.5)}),
        ],
        orders(OLD, query={"startTime": at(days=1.5)}),
    ),
    Proof(
        "ORDER-022",
        orders(OLD, query="endTime=2031-05-03T07%3A08%3A09.000%2B00%3A00"),
        orders(NEW, query={"endTime": at(days=2)}),
    ),
    Proof(
        "ORDER-023",
        orders(NEW, NEW, OLD, query={"sort": "createdAt,desc"}),
        orders(OLD, NEW, query={"sort": "createdAt,desc"}),
    ),
    Proof(
        "ORDER-024",
        orders(OLD, NEW, query="sort=createdAt%2Casc"),
        orders(NEW, OLD, query={"sort": "createdAt,asc"}),
    ),
]


@pytest.mark.parametrize(
    "query",
    [
        {"startTime": "2031-05-05T09:08:09"},
        "startTime=2031-05-05T09:08:09+00:00",
        {"startTime": "last week"},
        {"startTime": ""},
    ],
    ids=["a time without a zone", "a zone lost to a plus sign", "no time", "nothing"],
)
def test_a_range_that_may_be_understood_in_two_ways_is_not_judged(query: dict[str, str] | str) -> None:
    assert not contradicted_by(orders(OLD, query=query))


def test_an_order_without_a_zone_may_be_of_any() -> None:
    near = order(createdAt="2031-05-04T19:08:09", completedAt=None, status=1, statusName="PROCESSING")
    assert not contradicted_by(orders(near, query={"startTime": "2031-05-05T07:08:09Z"}))


@pytest.mark.parametrize("sort", ["createdAt", "createdAt,DESC", "amount,desc"])
def test_another_sort_is_not_judged(sort: str) -> None:
    assert not contradicted_by(orders(OLD, NEW, query={"sort": sort}))
