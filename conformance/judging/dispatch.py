"""Which checks and readings apply to an exchange: chosen by its operation and the kind of its response."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, get_args

import msgspec

from conformance.checks.envelope import ENVELOPE
from conformance.checks.registry import (
    READINGS,
    Check,
    Kind,
    OpenReading,
    Predicate,
    Selection,
    Sight,
    kind_of,
)
from conformance.judging.shapes import Shape
from conformance.spec import Operation
from conformance.spec.operations import UNDESCRIBED
from conformance.traffic.capture.placeholders import block_of
from conformance.traffic.exchange import ABSENT, SECURE_SESSION, UNKNOWN_FORMS, Exchange

INGRESSES_KEPT = 100

PENDING_APPROVAL = "ACCOUNT_PENDING_APPROVAL"
"""A result code that may come with success, and with other data than the operation's."""


@dataclass(frozen=True, eq=False, slots=True)
class CheckGroup:
    """Checks and readings with the same predicates, which are asked once."""

    predicates: tuple[Predicate, ...]
    checks: tuple[Check, ...]
    readings: tuple[OpenReading, ...]
    zeros: tuple[int, ...]
    """As many as there are checks: how often they hold where a predicate does not."""


@dataclass(frozen=True, eq=False, slots=True)
class CheckSet:
    """Checks and readings that are applied together. They equal nothing but themselves."""

    groups: tuple[CheckGroup, ...]
    checks: tuple[Check, ...]
    """Of all groups, in their order."""

    @classmethod
    def of(cls, groups: tuple[CheckGroup, ...]) -> CheckSet:
        return cls(groups, tuple(check for group in groups for check in group.checks))


class RouteKey(NamedTuple):
    """What the choice of checks depends on."""

    operation: str
    """Its key, or UNDESCRIBED."""
    kind: Kind
    ingress: bool
    """Whether the request came through the portal's ingress."""
    body: bool
    pending: bool = False
    """Whether the result is that the account awaits approval."""


class OperationCount(msgspec.Struct, eq=False, gc=False):
    """How many exchanges of an operation were judged."""

    exchanges: int = 0


@dataclass(frozen=True, eq=False, slots=True)
class Route:
    """What judges the exchanges of one route key."""

    operation: OperationCount
    shape: Shape | None
    """Of the data; None where none is stated for this response."""
    checks: CheckSet
    """All of them."""
    metadata: CheckSet
    """Those that read nothing but the metadata."""
    answer: CheckSet
    """Those that read all but the moment."""
    moment: CheckSet
    """Those that read the moment as well."""
    whole: CheckSet
    """Those of the last two."""

    def count(self) -> None:
        self.operation.exchanges += 1
        if self.shape is not None:
            self.shape.responses += 1


class Dispatcher:
    """Finds the route of each exchange. It learns which access codes are of the portal's ingress.

    ``generation`` changes when an exchange may be judged otherwise than an equal one before it: a check has
    forgotten or learned something, or a further ingress is known.
    """

    def __init__(self, checks: tuple[Check, ...]) -> None:
        self.generation = 0
        self._checks = checks
        self._operations: dict[str, OperationCount] = {}
        self._shapes: dict[str, Shape | None] = {}
        self._routes: dict[tuple[str, Kind, bool, bool, bool], Route] = {}
        self.ingresses: dict[str, int] = {}
        """The access codes by which the portal has served, and the number of the exchange that showed it."""
        self._is_steady = True

    @property
    def operations_seen(self) -> Counter[str]:
        """How many exchanges of each operation were judged."""
        return Counter({key: count.exchanges for key, count in self._operations.items()})

    def route(self, exchange: Exchange) -> Route | None:
        """The route of an exchange, which is counted; None where the exchange cannot be judged."""
        request, response = exchange.request, exchange.response
        called, layout = request.operation_key, request.layout
        if called is None or response is None or response.form in UNKNOWN_FORMS:
            return None
        if SECURE_SESSION in layout and exchange.is_sealed:
            return None
        envelope, pending = exchange.envelope, False
        if envelope is not None and envelope.get("success") is True:
            kind: Kind = "success"
            pending = envelope.get("code") == PENDING_APPROVAL
        else:
            kind = kind_of(exchange)
        is_beside = called == UNDESCRIBED or (kind != "success" and request.url.endswith("/"))
        if is_beside and not is_of_an_endpoint(exchange):
            return None
        body = request.body is not ABSENT or exchange.plain is not None
        at = layout.get("x-portal-access-code")
        ingress = at is not None and (
            request.headers[at][1] in self.ingresses
            or self._is_of_ingress(request.headers[at][1], kind, exchange.n)
        )
        key = called, kind, ingress, body, pending
        route = self._routes.get(key) or self._new_route(RouteKey(*key), request.operation)
        route.count()
        return route

    def require_every_exchange(self) -> None:
        """Has all checks that remember see every exchange: one of them has forgotten something."""
        if self._is_steady:
            self._is_steady = False
            self.generation += 1
            self._routes.clear()

    def outdate(self) -> None:
        """Has every exchange judged anew: a check may judge an equal one otherwise than before."""
        self.generation += 1

    def _new_route(self, key: RouteKey, operation: Operation | None) -> Route:
        if key.operation not in self._shapes:
            has_shape = operation is not None and operation.data is not None
            self._shapes[key.operation] = Shape(operation) if operation and has_shape else None
        by_sight = checks_by_sight(key, self._checks, steady=self._is_steady)
        route = self._routes[key] = Route(
            self._operations.setdefault(key.operation, OperationCount()),
            self._shapes[key.operation] if key.kind == "success" and not key.pending else None,
            _together(by_sight.values()),
            by_sight["metadata"],
            by_sight["answer"],
            by_sight["moment"],
            _together((by_sight["answer"], by_sight["moment"])),
        )
        return route

    def _is_of_ingress(self, code: str, kind: Kind, n: int) -> bool:
        """Whether an access code is of the portal's ingress: as far as is known, one by which it has served.

        What turns away a wrong access code may stand before the portal, and answer in its own way. What is
        known of one file says nothing of the placeholders of another.
        """
        if kind == "success" and len(self.ingresses) < INGRESSES_KEPT:
            self.ingresses[code] = n
            self.generation += 1
        if not self.ingresses or code in self.ingresses:
            return True
        block = block_of(code)
        return block is not None and all(block_of(served) not in (None, block) for served in self.ingresses)


WITH_A_BODY = frozenset({200, 201})
METHODS_WITH_A_BODY = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE"})
"""The methods whose successful answer has a body by HTTP."""
UNLABELLED = frozenset({"", "text/plain"})
"""Content types that say nothing of a body: others that are no JSON are those of pages and files."""


def is_of_an_endpoint(exchange: Exchange) -> bool:
    """Whether an endpoint of the portal surely gave the answer, at a path that the specification does not
    describe, or that has a slash behind it.

    Without an envelope, a refusal, a page or an object of other fields may come from a gateway, or from a
    portal that answers at any path; a file is what a download returns.
    """
    envelope, status = exchange.envelope, exchange.status
    if envelope is not None:
        is_alike = status in WITH_A_BODY and len(ENVELOPE & envelope.keys()) > 1
        return "success" in envelope or is_alike
    label = "" if exchange.response is None else (exchange.response.header("content-type") or "").lower()
    is_text = "json" in label or label.partition(";")[0].strip() in UNLABELLED
    return status in WITH_A_BODY and exchange.request.method in METHODS_WITH_A_BODY and is_text


@lru_cache(maxsize=4096)
def checks_by_sight(key: RouteKey, checks: tuple[Check, ...], *, steady: bool) -> dict[Sight, CheckSet]:
    """The checks and readings of a route key, by what they read of an exchange.

    ``steady``: checks that remember steadily need not see an equal exchange again.
    """

    def applies(on: Selection) -> bool:
        is_sent_so = (key.ingress or not on.ingress) and (key.body or not on.body)
        return is_sent_so and key.operation in on.keys and key.kind in on.kinds

    def sight(row: Check) -> Sight:
        return row.on.sight if not row.remembers or (steady and row.remembers == "steadily") else "moment"

    applied = [row for row in checks if applies(row.on)]
    chosen = [row for row in READINGS if applies(row.on)]
    return {
        wanted: CheckSet.of(
            _groups(
                [row for row in applied if sight(row) == wanted],
                [row for row in chosen if row.on.sight == wanted],
            )
        )
        for wanted in get_args(Sight)
    }


def _together(several: Iterable[CheckSet]) -> CheckSet:
    return CheckSet.of(tuple(group for each in several for group in each.groups))


def _groups(checks: Iterable[Check], readings: Iterable[OpenReading]) -> tuple[CheckGroup, ...]:
    grouped: dict[tuple[Predicate, ...], tuple[list[Check], list[OpenReading]]] = {}
    for check in checks:
        grouped.setdefault(check.on.predicates, ([], []))[0].append(check)
    for reading in readings:
        grouped.setdefault(reading.on.predicates, ([], []))[1].append(reading)
    return tuple(
        CheckGroup(predicates, tuple(some), tuple(others), (0,) * len(some))
        for predicates, (some, others) in grouped.items()
    )
