"""The judge: fed one exchange at a time, it applies every check and keeps only what open judgements need."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

import conformance.checks as chapter_files
from conformance.checks import registry
from conformance.checks.alike import Known, Place, Settled, answer, surface
from conformance.checks.registry import (
    KINDS,
    Check,
    Kind,
    Memory,
    Reading,
    Selection,
    Sight,
    kind_of,
    through_the_ingress,
)
from conformance.checks.shape import Shape, shape_of
from conformance.exchange import Exchange, Json
from conformance.findings import HELD, Comparison, Finding, Ledger, endpoint_of
from conformance.spec import BY_KEY, Operation

for _module in pkgutil.iter_modules(chapter_files.__path__):
    if _module.name not in ("alike", "judge", "registry"):
        importlib.import_module(f"conformance.checks.{_module.name}")

Rows = tuple[tuple[Check, ...], tuple[Reading, ...]]

INGRESSES_KEPT = 100
PENDING = "ACCOUNT_PENDING_APPROVAL"


@lru_cache(maxsize=2)
def _table(*, steady: bool = True) -> dict[tuple[str, Kind, bool], dict[Sight, Rows]]:
    """What judges each operation, kind of answer, and way in, by how much it sees of an exchange.

    ``steady``: checks that remember steadily need not see an answer again.
    """
    return {
        (key, kind, ingress): _row(key, kind, ingress=ingress, steady=steady)
        for key in BY_KEY
        for kind in KINDS
        for ingress in (True, False)
    }


def _row(key: str, kind: Kind, *, ingress: bool, steady: bool) -> dict[Sight, Rows]:
    def meant(on: Selection) -> bool:
        return key in on.keys and kind in on.kinds and (ingress or not on.ingress)

    def sight(row: Check) -> Sight:
        return row.on.sight if not row.remembers or (steady and row.remembers == "steadily") else "moment"

    checks = [row for row in registry.CHECKS if meant(row.on)]
    readings = [row for row in registry.READINGS if meant(row.on)]
    sights: tuple[Sight, ...] = ("surface", "answer", "moment")
    return {
        wanted: (
            tuple(row for row in checks if sight(row) == wanted),
            tuple(row for row in readings if row.on.sight == wanted),
        )
        for wanted in sights
    }


class Judge:
    """Applies the checks to traffic of any origin and writes what they decide into a ledger.

    ``case`` names the case that acts at the moment, where there is one. What held is counted here and goes
    into the ledger by ``finish``. Exchanges that are alike are judged once; one that contradicts something is
    judged each time it comes.
    """

    def __init__(self, ledger: Ledger, *, case: Callable[[], str | None] = lambda: None) -> None:
        self.ledger = ledger
        self._case = case
        self._table = _table()
        self._memories: dict[tuple[str, str], Memory] = {}
        self._steady: list[Memory] = []
        self._shapes: dict[str, Shape] = {}
        self._held: Counter[tuple[str, str]] = Counter()
        self._surfaces: Known[Place] = Known(self._count)
        self._answers: Known[tuple[int, bytes]] = Known(self._count)
        self._doubts = self._settled = 0
        self._ingresses: set[str] = set()
        self.operations_seen: Counter[str] = Counter()

    def feed(self, exchange: Exchange) -> list[Finding]:
        """Judges one exchange; gives what it contradicts. One without a readable answer is not."""
        operation = exchange.request.operation
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
        rows = self._table[operation.key, kind, ingress]
        shown = kind == "success" and operation.data is not None and exchange.code != PENDING
        shape = self._shape_of(operation) if shown else None
        place = (operation.key, ingress, surface(exchange))
        seen = self._surfaces.get(place)
        alike = None if seen is None else answer(exchange, seen)
        known = None if alike is None else self._answers.get(alike)
        found: list[Finding] = []
        is_sound = shape is None or known is not None or self._has_its_shape(shape, exchange, found)
        if seen is None:
            seen = self._judge(rows["surface"], exchange, found)
            if seen is not None:
                self._surfaces.add(place, seen)
        else:
            seen.again += 1
        if known is None:
            known = self._judge(rows["answer"], exchange, found)
            if alike is not None and known is not None and is_sound:
                self._answers.add(alike, known)
        else:
            known.again += 1
            if shape is not None and shape.looks_closer():
                self._look_closer(shape, exchange, set())
        self._judge(rows["moment"], exchange, found)
        if self._steady and any(memory.has_forgotten for memory in self._steady):
            self._look_again()
        return found

    def finish(self) -> None:
        """Writes into the ledger what held. May be called more than once."""
        for settled in (*self._surfaces, *self._answers):
            self._count(settled)
        for (requirement, name), times in self._held.items():
            self.ledger.satisfy(requirement, times, case=f"check {name}")
        self._held.clear()

    def _count(self, settled: Settled) -> None:
        """Counts what came again."""
        if not settled.again:
            return
        for decision, times in settled.held:
            self._held[decision] += times * settled.again
        for topic, value in settled.observed:
            self.ledger.observe_again(topic, settled.endpoint, value, times=settled.again)
        settled.again = 0

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

    def _judge(self, rows: Rows, exchange: Exchange, found: list[Finding]) -> Settled | None:
        """Applies what looks so far at an exchange; gives what it said, unless something is contradicted."""
        doubts = self._doubts
        checks, readings = rows
        held = []
        for check in checks:
            times = self._apply(check, exchange, found)
            if times:
                held.append((check.decision, times))
                self._held[check.decision] += times
        observed = []
        for reading in readings:
            for value in self._read(reading, exchange):
                observed.append((reading.key, value))
                self.ledger.observe(reading.key, exchange, value)
        if self._doubts != doubts:
            return None
        self._settled += 1
        return Settled(self._settled, endpoint_of(exchange), tuple(held), tuple(observed))

    def _apply(self, row: Check, exchange: Exchange, found: list[Finding]) -> int:
        """Writes down what is contradicted; gives how many comparisons held."""
        held = 0
        try:
            for predicate in row.on.predicates:
                if not predicate(exchange):
                    return held
            comparisons = (
                row.judging(exchange, self._memory_of(row)) if row.remembers else row.judging(exchange)
            )
            for comparison in comparisons:
                if comparison is HELD:
                    held += 1
                else:
                    self._doubts += 1
                    self._contradicted(row, comparison, found)
        except Exception as bug:
            self._doubts += 1
            self.ledger.errors[f"check {row.name}"] = f"{type(bug).__name__}: {bug} (exchange {exchange.n})"
        return held

    def _memory_of(self, row: Check) -> Memory:
        memory = self._memories.get(row.decision)
        if memory is None:
            memory = self._memories[row.decision] = Memory()
            if row.remembers == "steadily":
                self._steady.append(memory)
        return memory

    def _look_again(self) -> None:
        """What a check has forgotten it may see otherwise from now on, in answers that were settled too."""
        self._table = _table(steady=False)
        self._answers.clear()
        self._steady.clear()

    def _contradicted(self, row: Check, comparison: Comparison, found: list[Finding]) -> None:
        finding = self.ledger.decide(row.requirement, comparison, case=self._case() or f"check {row.name}")
        if finding is not None:
            found.append(finding)

    def _read(self, topic: Reading, exchange: Exchange) -> list[Json]:
        try:
            if all(predicate(exchange) for predicate in topic.on.predicates):
                return list(topic.read(exchange))
        except Exception as bug:
            self._doubts += 1
            where = f"reading {topic.name}"
            self.ledger.errors[where] = f"{type(bug).__name__}: {bug} (exchange {exchange.n})"
        return []

    def _shape_of(self, operation: Operation) -> Shape:
        shape = self._shapes.get(operation.key)
        if shape is None:
            shape = self._shapes[operation.key] = shape_of(operation)
        return shape

    def _has_its_shape(self, shape: Shape, exchange: Exchange, found: list[Finding]) -> bool:
        contradictions = shape.contradictions(exchange)
        for requirement, contradiction in contradictions:
            finding = self.ledger.decide(requirement, contradiction, case=self._case() or "check shape")
            if finding is not None:
                found.append(finding)
        if contradictions:
            self.ledger.note_misshapen(exchange, (contradiction.path for _, contradiction in contradictions))
        if shape.looks_closer():
            self._look_closer(shape, exchange, {requirement for requirement, _ in contradictions})
        return not contradictions

    def _look_closer(self, shape: Shape, exchange: Exchange, contradicted: set[str]) -> None:
        for requirement in shape.newly_satisfied(exchange, contradicted):
            self.ledger.satisfy(requirement, case="check shape")
        for path in shape.new_extras(exchange):
            self.ledger.observe("extra-fields", exchange, path)
        for form in shape.null_fields(exchange):
            self.ledger.observe("null-fields", exchange, form)
