"""The checks of ``conformance.checks.orders``."""

from __future__ import annotations

from conformance.tests.proof import Bound, Proof
from conformance.tests.traffic import at, order, orders

NEW, OLD = order(bizId="order-2", createdAt=at(days=1)), order(createdAt=at(days=3), completedAt=at(days=2))

NEAR = order(createdAt="2031-05-04T19:08:09", completedAt=None, status=1, statusName="PROCESSING")

PROOFS = [
    Proof(
        "ORDER-021",
        [
            orders(order(createdAt="2031-05-05T07:08:09Z"), query={"startTime": "2031-05-05T07:08:09.500Z"}),
            orders(OLD, query={"startTime": at(days=2.5)}),
        ],
        orders(OLD, query={"startTime": at(days=1.5)}),
    ),
    Proof("ORDER-027", orders(order()), orders(order(completedAt=None))),
    Proof("ORDER-023", orders(NEW, NEW, OLD, query={"sort": "createdAt,desc"}), []),
]

BOUNDS = [
    Bound(
        "a range that may be understood in two ways is not judged: no zone, one lost to a plus sign, no time",
        "",
        lawful=[
            orders(OLD, query={"startTime": "2031-05-05T09:08:09"}),
            orders(OLD, query="startTime=2031-05-05T09:08:09+00:00"),
            orders(OLD, query={"startTime": "last week"}),
            orders(OLD, query={"startTime": ""}),
        ],
    ),
    Bound(
        "an order without a zone may be of any",
        "",
        lawful=[orders(NEAR, query={"startTime": "2031-05-05T07:08:09Z"})],
    ),
    Bound(
        "another sort is not judged",
        "",
        lawful=[
            orders(OLD, NEW, query={"sort": sort}) for sort in ("createdAt", "createdAt,DESC", "amount,desc")
        ],
    ),
]
