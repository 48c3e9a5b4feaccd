"""The judge: decides what the specification says of one exchange at a time.

It writes nowhere: its result is all that it says. It keeps only what open judgements need: the memories of
checks that see across exchanges, the portal's ingress, and which fields were shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from conformance.checks.registry import CHECKS, ROOM, Check, Memory, OpenReading
from conformance.judging.dispatch import Dispatcher, Rows
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.findings import HELD, endpoint_of
from conformance.verdicts.verdicts import NO_VERDICTS, Bug, Contradicted, Decision, Verdicts, combined

Decided = tuple[list[tuple[Decision, int]], list[tuple[str, Json]], list[Contradicted], list[Bug]]
"""What held and how often, what was read, what is contradicted, and which checks raised."""


class Judge:
    """Applies ``checks`` to each exchange. ``room`` is how much each check may remember."""

    def __init__(self, *, checks: Iterable[Check] = CHECKS, room: int = ROOM) -> None:
        chosen = tuple(checks)
        self.dispatcher = Dispatcher(chosen)
        self._memories: dict[Decision, Memory] = {
            check.decision: Memory(room, self.dispatcher.distrust)
            if check.remembers == "steadily"
            else Memory(room)
            for check in chosen
            if check.remembers
        }

    @property
    def operations_seen(self) -> Counter[str]:
        """How many exchanges of each operation were judged."""
        return self.dispatcher.operations_seen

    def judge(self, exchange: Exchange) -> Verdicts:
        """The verdicts on one exchange; none where it is of no operation, or has no readable response."""
        route = self.dispatcher.route(exchange)
        if route is None:
            return NO_VERDICTS
        shape = NO_VERDICTS if route.shape is None else route.shape.compare(exchange)
        return combined([shape, self.apply(route.rows, exchange, is_momentary=bool(route.moment))])

    def apply(self, rows: Rows, exchange: Exchange, *, is_momentary: bool = False) -> Verdicts:
        """The verdicts of some checks and readings."""
        return verdicts_of(self.decide(rows, exchange), exchange, is_momentary=is_momentary)

    def decide(self, rows: Rows, exchange: Exchange) -> Decided:
        """What some checks and readings decide, before it is made verdicts."""
        held: list[tuple[Decision, int]] = []
        readings: list[tuple[str, Json]] = []
        contradictions: list[Contradicted] = []
        bugs: list[Bug] = []
        for row in rows:
            try:
                for predicate in row.predicates:
                    if not predicate(exchange):
                        break
                else:
                    self._decide(row.checks, exchange, held, contradictions, bugs)
                    for reading in row.readings:
                        readings += _values_read(reading, exchange, bugs)
            except Exception as bug:
                bugs += [_described(check, bug, exchange) for check in row.checks]
                bugs += [_described(reading, bug, exchange) for reading in row.readings]
        return held, readings, contradictions, bugs

    def _decide(
        self,
        checks: tuple[Check, ...],
        exchange: Exchange,
        held: list[tuple[Decision, int]],
        contradictions: list[Contradicted],
        bugs: list[Bug],
    ) -> None:
        for check in checks:
            times = 0
            try:
                if check.remembers:
                    comparisons = check.judging(exchange, self._memories[check.decision])
                else:
                    comparisons = check.judging(exchange)
                for comparison in comparisons:
                    if comparison is HELD:
                        times += 1
                    else:
                        contradictions.append((check.requirement, check.name, comparison))
            except Exception as bug:
                bugs.append(_described(check, bug, exchange))
            if times:
                held.append((check.decision, times))


def verdicts_of(decided: Decided, exchange: Exchange, *, is_momentary: bool) -> Verdicts:
    """What was decided on an exchange, as a value."""
    held, readings, contradictions, bugs = decided
    if not (held or readings or contradictions or bugs):
        return NO_VERDICTS
    return Verdicts(
        endpoint_of(exchange),
        exchange.n,
        tuple(held),
        tuple(readings),
        tuple(contradictions),
        (),
        tuple(bugs),
        is_momentary,
        (),
        not contradictions and not bugs,
    )


def _values_read(reading: OpenReading, exchange: Exchange, bugs: list[Bug]) -> list[tuple[str, Json]]:
    try:
        return [(reading.key, value) for value in reading.read(exchange)]
    except Exception as bug:
        bugs.append(_described(reading, bug, exchange))
    return []


def _described(row: Check | OpenReading, bug: Exception, exchange: Exchange) -> Bug:
    """A bug in a check is the suite's error, and is never held against the target."""
    kind = "check" if isinstance(row, Check) else "reading"
    return f"{kind} {row.name}", f"{type(bug).__name__}: {bug} (exchange {exchange.n})"
