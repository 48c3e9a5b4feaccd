"""The judge: fed one exchange at a time, it applies every check and keeps only what open judgements need."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache

import conformance.checks as chapter_files
from conformance.checks import registry
from conformance.checks.registry import (
    KINDS,
    Check,
    Kind,
    Memory,
    Reading,
    Selection,
    kind_of,
    surface,
    through_the_ingress,
)
from conformance.checks.shape import Shape, shape_of
from conformance.exchange import Exchange, Json
from conformance.findings import HELD, Comparison, Finding, Ledger
from conformance.spec import BY_KEY, Operation, operation_of

for _module in pkgutil.iter_modules(chapter_files.__path__):
    if _module.name not in ("judge", "registry"):
        importlib.import_module(f"conformance.checks.{_module.name}")


@dataclass(frozen=True)
class Row:
    """What judges one kind of answer of one operation."""

    by_surface: tuple[Check, ...]
    in_depth: tuple[Check, ...]
    readings_by_surface: tuple[Reading, ...]
    readings_in_depth: tuple[Reading, ...]


@dataclass
class Settled:
    """What the checks said of one surface, and how often it came again."""

    held: list[tuple[str, str]] = field(default_factory=list)
    observed: list[tuple[str, Json]] = field(default_factory=list)
    again: int = 0


SURFACES_KEPT = 20_000
INGRESSES_KEPT = 100


@lru_cache(maxsize=1)
def _table() -> dict[tuple[str, Kind, bool], Row]:
    """The checks and readings for each operation, kind of answer, and way in."""
    return {
        (key, kind, ingress): _row(key, kind, ingress)
        for key in BY_KEY
        for kind in KINDS
        for ingress in (True, False)
    }


def _row(key: str, kind: Kind, ingress: bool) -> Row:
    def meant(on: Selection) -> bool:
        return key in on.keys and kind in on.kinds and (ingress or not on.ingress)

    checks = [row for row in registry.CHECKS if meant(row.on)]
    readings = [row for row in registry.READINGS if meant(row.on)]
    return Row(
        tuple(row for row in checks if row.on.surface),
        tuple(row for row in checks if not row.on.surface),
        tuple(row for row in readings if row.on.surface),
        tuple(row for row in readings if not row.on.surface),
    )


class Judge:
    """Applies the checks to traffic of any origin and writes what they decide into a ledger.

    ``case`` names the case that acts at the moment, where there is one. What held is counted here and goes
    into the ledger by ``finish``.
    """

    def __init__(self, ledger: Ledger, *, case: Callable[[], str | None] = lambda: None) -> None:
        self.ledger = ledger
        self._case = case
        self._rows = _table()
        self._memories: dict[tuple[str, str], Memory] = {}
        self._shapes: dict[str, Shape] = {}
        self._held: Counter[tuple[str, str]] = Counter()
        self._settled: dict[tuple[str, bool, tuple[Json, ...]], Settled] = {}
        self._ingresses: set[str] = set()
        self.operations_seen: Counter[str] = Counter()

    def feed(self, exchange: Exchange) -> list[Finding]:
        """Judges one exchange; gives what it contradicts. One without a readable answer is not."""
        operation = operation_of(exchange.request.method, exchange.request.path)
        if (
            operation is None
            or exchange.response is None
            or exchange.response.is_unknown
            or exchange.is_sealed
        ):
            return []
        self.operations_seen[operation.key] += 1
        kind = kind_of(exchange)
        ingress = self._through_the_ingress(exchange)
        row = self._rows[operation.key, kind, ingress]
        found = self._shape(operation, exchange) if kind == "success" and operation.data is not None else []
        self._judge_surface((operation.key, ingress, surface(exchange)), row, exchange, found)
        for check in row.in_depth:
            for decision in self._apply(check, exchange, found):
                self._held[decision] += 1
        for reading in row.readings_in_depth:
            for value in self._read(reading, exchange):
                self.ledger.observe(reading.key, exchange, value)
        return found

    def finish(self) -> None:
        """Writes into the ledger what held. May be called more than once."""
        for (key, _, _), settled in self._settled.items():
            for decision in settled.held:
                self._held[decision] += settled.again
            for topic, value in settled.observed:
                self.ledger.observe_again(topic, key, value, times=settled.again)
            settled.again = 0
        for (requirement, name), times in self._held.items():
            self.ledger.satisfy(requirement, times, case=f"check {name}")
        self._held.clear()

    def _through_the_ingress(self, exchange: Exchange) -> bool:
        """Whether a request names the portal's ingress: as far as is known, one through which it has served.

        What turns away a wrong access code may stand before the portal, and answer in its own way.
        """
        if not through_the_ingress(exchange):
            return False
        code = exchange.request.header("x-portal-access-code") or ""
        if exchange.success and len(self._ingresses) < INGRESSES_KEPT:
            self._ingresses.add(code)
        return not self._ingresses or code in self._ingresses

    def _judge_surface(
        self, place: tuple[str, bool, tuple[Json, ...]], row: Row, exchange: Exchange, found: list[Finding]
    ) -> None:
        """Equal surfaces are judged once; one that contradicts something is judged each time it comes."""
        settled = self._settled.get(place)
        if settled is not None:
            settled.again += 1
            return
        contradicted = len(found)
        settled = Settled()
        for check in row.by_surface:
            settled.held.extend(self._apply(check, exchange, found))
        for reading in row.readings_by_surface:
            settled.observed.extend((reading.key, value) for value in self._read(reading, exchange))
        for decision in settled.held:
            self._held[decision] += 1
        for topic, value in settled.observed:
            self.ledger.observe(topic, exchange, value)
        if len(found) == contradicted and len(self._settled) < SURFACES_KEPT:
            self._settled[place] = settled

    def _apply(self, row: Check, exchange: Exchange, found: list[Finding]) -> list[tuple[str, str]]:
        """Writes down what is contradicted; gives, for each comparison that held, what it decided."""
        held: list[tuple[str, str]] = []
        try:
            for predicate in row.on.predicates:
                if not predicate(exchange):
                    return held
            if row.remembers:
                comparisons = row.judging(exchange, self._memories.setdefault(row.decision, Memory()))
            else:
                comparisons = row.judging(exchange)
            for comparison in comparisons:
                if comparison is HELD:
                    held.append(row.decision)
                else:
                    self._contradicted(row, comparison, found)
        except Exception as bug:
            self.ledger.errors[f"check {row.name}"] = f"{type(bug).__name__}: {bug} (exchange {exchange.n})"
        return held

    def _contradicted(self, row: Check, comparison: Comparison, found: list[Finding]) -> None:
        finding = self.ledger.decide(row.requirement, comparison, case=self._case() or f"check {row.name}")
        if finding is not None:
            found.append(finding)

    def _read(self, topic: Reading, exchange: Exchange) -> list[Json]:
        try:
            if all(predicate(exchange) for predicate in topic.on.predicates):
                return list(topic.read(exchange))
        except Exception as bug:
            where = f"reading {topic.name}"
            self.ledger.errors[where] = f"{type(bug).__name__}: {bug} (exchange {exchange.n})"
        return []

    def _shape(self, operation: Operation, exchange: Exchange) -> list[Finding]:
        if exchange.code == "ACCOUNT_PENDING_APPROVAL":
            return []
        shape = self._shapes.get(operation.key)
        if shape is None:
            shape = self._shapes[operation.key] = shape_of(operation)
        contradictions = shape.contradictions(exchange)
        found = [
            finding
            for requirement, contradiction in contradictions
            if (finding := self.ledger.decide(requirement, contradiction, case=self._case() or "check shape"))
        ]
        if contradictions:
            self.ledger.note_misshapen(exchange, (contradiction.path for _, contradiction in contradictions))
        if shape.looks_closer():
            self._look_closer(shape, exchange, {requirement for requirement, _ in contradictions})
        return found

    def _look_closer(self, shape: Shape, exchange: Exchange, contradicted: set[str]) -> None:
        for requirement in shape.newly_satisfied(exchange, contradicted):
            self.ledger.satisfy(requirement, case="check shape")
        for path in shape.new_extras(exchange):
            self.ledger.observe("extra-fields", exchange, path)
        for form in shape.null_fields(exchange):
            self.ledger.observe("null-fields", exchange, form)
