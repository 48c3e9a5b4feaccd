"""The judge: decides what the specification says of one exchange at a time.

It writes nowhere: its result is all that it says. It keeps only what later exchanges are judged by: the
memories of checks that see across exchanges, the portal's ingress, and which fields were shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from conformance.checks.registry import CHECKS, ROOM, Check, Judging, Memory, OpenReading
from conformance.errors import BrokenRule
from conformance.judging.dispatch import CheckGroup, CheckSet, Dispatcher
from conformance.traffic.exchange import Exchange, Json
from conformance.verdicts.findings import HELD, endpoint_of
from conformance.verdicts.verdicts import NO_VERDICTS, OWN_RULE, Bug, Contradicted, Verdicts, combined

Decided = tuple[list[int], list[tuple[str, Json]], list[Contradicted], list[Bug]]
"""How often each check of the set held, what was read, what is contradicted, and which checks raised."""


Rows = tuple[CheckGroup, tuple[tuple[Check, Judging, Memory | None], ...]]
"""The checks of a group, each with its function and the memory that it is given; None where it has none."""


class Judge:
    """Applies ``checks`` to each exchange. ``room`` is how much each check may remember."""

    def __init__(self, *, checks: Iterable[Check] = CHECKS, room: int = ROOM) -> None:
        chosen = tuple(checks)
        self.dispatcher = Dispatcher(chosen)
        require_every_exchange, outdate = self.dispatcher.require_every_exchange, self.dispatcher.outdate
        self._memories: dict[Check, Memory] = {
            check: Memory(room, on_forget=require_every_exchange, on_outdated=outdate)
            if check.remembers == "steadily"
            else Memory(room)
            for check in chosen
            if check.remembers
        }
        self._rows: dict[CheckSet, tuple[Rows, ...]] = {}

    @property
    def operations_seen(self) -> Counter[str]:
        return self.dispatcher.operations_seen

    def judge(self, exchange: Exchange) -> Verdicts:
        """The verdicts on one exchange; none where it is of no operation, or has no readable response."""
        route = self.dispatcher.route(exchange)
        if route is None:
            return NO_VERDICTS
        shape = NO_VERDICTS if route.shape is None else route.shape.compare(exchange)
        return combined([shape, verdicts_of(self.decide(route.checks, exchange), route.checks, exchange)])

    def forget(self) -> None:
        """Clears the memories of all checks: later exchanges may come from another portal."""
        if any(self._memories.values()):
            for memory in self._memories.values():
                memory.clear()
            self.dispatcher.outdate()

    def decide(self, checks: CheckSet, exchange: Exchange) -> Decided:
        """What some checks and readings decide, before it is made verdicts."""
        held: list[int] = []
        readings: list[tuple[str, Json]] = []
        contradictions: list[Contradicted] = []
        bugs: list[Bug] = []
        for group, rows in self._rows.get(checks) or self._rows_of(checks):
            if group.predicates and not _is_selected(group, exchange, bugs):
                held += group.zeros
                continue
            for check, judging, memory in rows:
                times = 0
                try:
                    for comparison in judging(exchange) if memory is None else judging(exchange, memory):
                        if comparison is HELD:
                            times += 1
                        else:
                            contradictions.append((check.requirement, check.name, comparison))
                except Exception as bug:
                    bugs.append(_described(check, bug, exchange))
                held.append(times)
            for reading in group.readings:
                readings += _values_read(reading, exchange, bugs)
        return held, readings, contradictions, bugs

    def _rows_of(self, checks: CheckSet) -> tuple[Rows, ...]:
        """The groups of some checks, each with what applies its checks. They are made once."""
        rows = tuple(
            (group, tuple((check, check.judging, self._memories.get(check)) for check in group.checks))
            for group in checks.groups
        )
        return self._rows.setdefault(checks, rows)


def _is_selected(group: CheckGroup, exchange: Exchange, bugs: list[Bug]) -> bool:
    """Whether the predicates of a group hold; one that raises is a bug of all its checks and readings."""
    try:
        for predicate in group.predicates:
            if not predicate(exchange):
                return False
    except Exception as bug:
        bugs += [_described(check, bug, exchange) for check in group.checks]
        bugs += [_described(reading, bug, exchange) for reading in group.readings]
        return False
    return True


def verdicts_of(decided: Decided, checks: CheckSet, exchange: Exchange) -> Verdicts:
    held, readings, contradictions, bugs = decided
    if not (any(held) or readings or contradictions or bugs):
        return NO_VERDICTS
    return Verdicts(
        endpoint_of(exchange),
        exchange.n,
        tuple((check.decision, times) for check, times in zip(checks.checks, held, strict=True) if times),
        tuple(readings),
        tuple(contradictions),
        (),
        tuple(bugs),
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
    if isinstance(row, Check) and isinstance(bug, BrokenRule):
        return f"{OWN_RULE}{row.requirement}", f"{bug} (exchange {exchange.n})"
    kind = "check" if isinstance(row, Check) else "reading"
    return f"{kind} {row.name}", f"{type(bug).__name__}: {bug} (exchange {exchange.n})"
