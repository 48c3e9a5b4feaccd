"""The judge: fed one exchange at a time, it applies every check and keeps only what open judgements need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from conformance.checks.registry import Check, Kind, Memory, Reading, kind_of
from conformance.judging.cache import (
    NOTHING,
    PARTS_KEPT,
    Decided,
    Habit,
    Key,
    Known,
    Settled,
    Surface,
    likeness,
    surface,
)
from conformance.judging.dispatch import Duties, Part, Rows, Way, duties_of
from conformance.judging.shapes import CLOSELY, Shape, shape_of
from conformance.spec import Operation
from conformance.traffic.exchange import ABSENT, SECURE_SESSION, UNKNOWN_FORMS, Exchange, Json
from conformance.verdicts.findings import HELD, Comparison, Finding, Ledger, endpoint_of

INGRESSES_KEPT = 100
PENDING = "ACCOUNT_PENDING_APPROVAL"


@dataclass(eq=False, slots=True)
class Desk:
    """What a judge has at hand for the answers of one operation, and how many there were."""

    shape: Shape | None
    habit: Habit
    seen: int = 0

    @staticmethod
    def of(operation: Operation) -> Desk:
        return Desk(None if operation.data is None else shape_of(operation), Habit())


Settlement = tuple[Settled, Desk, Duties, Shape | None]
"""What is kept of an answer that need not be judged again where another says the same."""


class Judge:
    """Applies the checks to traffic of any origin and writes what they decide into a ledger.

    ``case`` names the case that acts at the moment, where there is one. What held is counted here and goes
    into the ledger by ``finish``. Exchanges that are alike are judged once; one that contradicts something is
    judged each time it comes.
    """

    def __init__(self, ledger: Ledger, *, case: Callable[[], str | None] = lambda: None) -> None:
        self.ledger = ledger
        self._case = case
        self._is_steady = True
        self._duties: dict[Way, Duties] = {}
        self._memories: dict[tuple[str, str], Memory] = {}
        self._steady: list[Memory] = []
        self._desks: dict[str, Desk] = {}
        self._held: Counter[tuple[str, str]] = Counter()
        self._surfaces: Known[tuple[Duties, Surface]] = Known(self._count)
        self._parts: Known[tuple[Part, bytes]] = Known(self._count, kept=PARTS_KEPT)
        self._answers: Known[bytes] = Known(self._count)
        self._doubts = 0
        self._ingresses: set[str] = set()
        self.settlement: Settlement | None = None
        """Of the exchange that was fed last; None where it was not settled."""

    @property
    def operations_seen(self) -> Counter[str]:
        """How many exchanges of each operation were judged."""
        return Counter({key: desk.seen for key, desk in self._desks.items()})

    def feed(self, exchange: Exchange) -> list[Finding]:
        """Judges one exchange; gives what it contradicts. One without a readable answer is not."""
        request, response = exchange.request, exchange.response
        self.settlement = None
        operation, layout = request.operation, request.layout
        if operation is None or response is None or response.form in UNKNOWN_FORMS:
            return []
        if SECURE_SESSION in layout and exchange.is_sealed:
            return []
        key = operation.key
        desk = self._desks.get(key) or self._desks.setdefault(key, Desk.of(operation))
        desk.seen += 1
        ingress = False
        kind = "success" if exchange.success else kind_of(exchange)
        at = layout.get("x-portal-access-code")
        if at is not None:
            code = request.headers[at][1]
            ingress = code in self._ingresses or self._has_served(code, kind)
        body = request.body is not ABSENT or exchange.plain is not None
        way = key, kind, ingress, body
        duties = self._duties.get(way) or self._take_up(way)
        shape = desk.shape if kind == "success" and exchange.code != PENDING else None
        closer = False
        if shape is not None:
            shape.answers += 1
            closer = shape.answers <= CLOSELY or shape.answers % 16 == 0
        shown = surface(exchange)
        habit = desk.habit
        alike = known = None
        if habit.paused:
            habit.paused -= 1
        else:
            alike = likeness(exchange, ingress, shown)
            known = None if alike is None else self._answers[alike]
        found: list[Finding] = []
        if known is None:
            doubts = self._doubts
            if shape is not None:
                if not shape.is_exact_in(exchange):
                    self._compare_shape(shape, exchange, found, closer)
                elif closer:
                    self._look_closer(shape, exchange, set(), exact=True)
            parts = self._judge_parts(duties, shown, exchange, found, keep=alike is not None)
            if alike is None:
                self._judge(duties.rest, exchange, found)
            else:
                held, observed = self._judge(duties.answer, exchange, found)
                habit.note_new()
                if self._doubts == doubts:
                    known = Settled(key, tuple(held), tuple(observed), tuple(parts), looked_closer=closer)
                    self._answers.add(alike, known)
            for memory in self._steady:
                if memory.has_forgotten:
                    self._look_again()
                    break
        else:
            habit.new = 0
            self._count_again(known, shape, exchange, closer)
        if alike is not None and duties.moment:
            self._judge(duties.moment, exchange, found)
        if known is not None:
            self.settlement = known, desk, duties, shape
        return found

    def feed_again(self, exchange: Exchange, settlement: Settlement) -> list[Finding] | None:
        """Judges one that says what another said, and went the same way, but for its id and its moment.

        None where that other was forgotten: it is to be fed as any.
        """
        known, desk, duties, shape = settlement
        if known.is_forgotten:
            return None
        desk.seen += 1
        closer = False
        if shape is not None:
            shape.answers += 1
            closer = shape.answers <= CLOSELY or shape.answers % 16 == 0
        self._count_again(known, shape, exchange, closer)
        found: list[Finding] = []
        if duties.moment:
            self._judge(duties.moment, exchange, found)
        return found

    def _count_again(self, known: Settled, shape: Shape | None, exchange: Exchange, closer: bool) -> None:
        """Counts what came again; its fields are gone through where they were not."""
        known.again += 1
        if shape is not None and closer and not known.looked_closer:
            known.looked_closer = True
            self._look_closer(shape, exchange, set())

    def finish(self) -> None:
        """Writes into the ledger what held. May be called more than once."""
        for known in (self._surfaces, self._parts, self._answers):
            for settled in known.settled():
                self._count(settled)
        for (requirement, name), times in self._held.items():
            self.ledger.satisfy(requirement, times, case=f"check {name}")
        self._held.clear()

    def _count(self, settled: Settled) -> None:
        """Counts what came again."""
        if not settled.again:
            return
        for one in (settled, *settled.parts):
            for decision, times in one.held:
                self._held[decision] += times * settled.again
            for topic, value in one.observed:
                self.ledger.observe_again(topic, one.endpoint, value, times=settled.again)
        settled.again = 0

    def _take_up(self, way: Way) -> Duties:
        """Duties with habits of their own."""
        duties = duties_of(way, steady=self._is_steady)
        parts = tuple(replace(part, habit=Habit()) for part in duties.parts)
        self._duties[way] = duties = replace(duties, parts=parts)
        return duties

    def _has_served(self, code: str, kind: Kind) -> bool:
        """Whether an access code is of the portal's ingress: as far as is known, one by which it has served.

        What turns away a wrong access code may stand before the portal, and answer in its own way.
        """
        if kind == "success" and len(self._ingresses) < INGRESSES_KEPT:
            self._ingresses.add(code)
        return not self._ingresses or code in self._ingresses

    def _judge_parts(
        self, duties: Duties, shown: Surface, exchange: Exchange, found: list[Finding], *, keep: bool
    ) -> list[Settled]:
        """Judges by the surface and by the parts; gives what is said of them, all of it only to be kept."""
        settled = self._surfaces[duties, shown]
        if settled is not None:
            settled.again += 1
        else:
            settled = self._judge_once(self._surfaces, (duties, shown), duties.surface, exchange, found)
        parts = [settled]
        for part in duties.parts:
            habit, known, place = part.habit, None, None
            if habit.paused:
                habit.paused -= 1
                if not keep:
                    self._judge(part.rows, exchange, found)
                    continue
            else:
                seen = part.look(exchange)
                if seen is NOTHING:
                    continue
                if seen is not None:
                    place = part, seen
                    known = self._parts[place]
            if known is not None:
                known.again += 1
                habit.new = 0
            else:
                if place is not None:
                    habit.note_new()
                known = self._judge_once(self._parts, place, part.rows, exchange, found)
            parts.append(known)
        return parts

    def _judge_once(
        self, known: Known[Key], place: Key | None, rows: Rows, exchange: Exchange, found: list[Finding]
    ) -> Settled:
        """Judges what was not seen before, and remembers what it says where nothing is contradicted."""
        doubts = self._doubts
        held, observed = self._judge(rows, exchange, found)
        settled = Settled(endpoint_of(exchange), tuple(held), tuple(observed))
        if self._doubts == doubts and place is not None:
            known.add(place, settled)
        return settled

    def _judge(
        self, rows: Rows, exchange: Exchange, found: list[Finding]
    ) -> tuple[list[Decided], list[tuple[str, Json]]]:
        """Applies what looks so far at an exchange; gives what held and what was read."""
        held: list[Decided] = []
        observed: list[tuple[str, Json]] = []
        for predicates, checks, readings in rows:
            selected = True
            try:
                for predicate in predicates:
                    if not predicate(exchange):
                        selected = False
                        break
            except Exception as bug:
                selected = False
                rows_of_bug: tuple[Check | Reading, ...] = (*checks, *readings)
                for row in rows_of_bug:
                    self._note(row, bug, exchange)
            if not selected:
                continue
            for check in checks:
                times = 0
                try:
                    if not check.remembers:
                        comparisons = check.judging(exchange)
                    else:
                        memory = self._memories.get(check.decision)
                        comparisons = check.judging(
                            exchange, self._new_memory(check) if memory is None else memory
                        )
                    for comparison in comparisons:
                        if comparison is HELD:
                            times += 1
                        else:
                            self._contradicted(check, comparison, found)
                except Exception as bug:
                    self._note(check, bug, exchange)
                if times:
                    held.append((check.decision, times))
                    self._held[check.decision] += times
            for reading in readings:
                for value in self._read(reading, exchange):
                    observed.append((reading.key, value))
                    self.ledger.observe(reading.key, exchange, value)
        return held, observed

    def _note(self, row: Check | Reading, bug: Exception, exchange: Exchange) -> None:
        """A bug in a check is the suite's error, and is never held against the target."""
        self._doubts += 1
        kind = "check" if isinstance(row, Check) else "reading"
        self.ledger.errors[f"{kind} {row.name}"] = f"{type(bug).__name__}: {bug} (exchange {exchange.n})"

    def _new_memory(self, row: Check) -> Memory:
        memory = self._memories[row.decision] = Memory()
        if row.remembers == "steadily":
            self._steady.append(memory)
        return memory

    def _look_again(self) -> None:
        """What a check has forgotten it may see otherwise from now on, in answers that were settled too."""
        self._is_steady = False
        self._duties.clear()
        self._answers.forget()
        self._parts.forget()
        self._steady.clear()

    def _contradicted(self, row: Check, comparison: Comparison, found: list[Finding]) -> None:
        self._doubts += 1
        finding = self.ledger.decide(row.requirement, comparison, case=self._case() or f"check {row.name}")
        if finding is not None:
            found.append(finding)

    def _read(self, topic: Reading, exchange: Exchange) -> list[Json]:
        try:
            return list(topic.read(exchange))
        except Exception as bug:
            self._note(topic, bug, exchange)
        return []

    def _compare_shape(self, shape: Shape, exchange: Exchange, found: list[Finding], closer: bool) -> None:
        contradictions = shape.contradictions(exchange)
        for requirement, contradiction in contradictions:
            finding = self.ledger.decide(requirement, contradiction, case=self._case() or "check shape")
            if finding is not None:
                found.append(finding)
        if contradictions:
            self._doubts += 1
            self.ledger.note_misshapen(exchange, (contradiction.path for _, contradiction in contradictions))
        if closer:
            self._look_closer(shape, exchange, {requirement for requirement, _ in contradictions})

    def _look_closer(
        self, shape: Shape, exchange: Exchange, contradicted: set[str], *, exact: bool = False
    ) -> None:
        for requirement in shape.newly_satisfied(exchange, contradicted):
            self.ledger.satisfy(requirement, case="check shape")
        for path in () if exact else shape.new_extras(exchange):
            self.ledger.observe("extra-fields", exchange, path)
        for form in shape.null_fields(exchange):
            self.ledger.observe("null-fields", exchange, form)
