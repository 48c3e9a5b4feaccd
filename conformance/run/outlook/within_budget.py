"""Which cases a time budget leaves time for: the order of a run, gone through with what each case costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isinf

from conformance.run.catalogue import CaseRow
from conformance.run.outlook.precedence import Durations, priorities
from conformance.run.planning import SHARING
from conformance.run.schedule import Agenda, Due, Planned
from conformance.spec.tables import LIMITS


@dataclass(frozen=True, slots=True)
class Late:
    """Cases by their ids: ``begun`` are those that begin, and whose wait ends after the budget; ``unbegun``
    those that never begin."""

    begun: frozenset[str] = frozenset()
    unbegun: frozenset[str] = frozenset()

    def decides(self, row: CaseRow, rule: str) -> bool:
        """Whether a case decides one of its rules in time."""
        return row.id not in self.unbegun and not (row.id in self.begun and rule in row.after_waits)


@dataclass
class Forecast:
    """A run without its requests: ``now`` is the seconds since it began, ``kept`` what of the budget is kept
    for restoring, by the cases that wait with something changed, ``left`` the login sessions that cases have
    left to others."""

    durations: Durations
    kept: dict[str, float] = field(default_factory=dict)
    now: float = 0.0
    left: int = 0
    begun: set[str] = field(default_factory=set)
    unbegun: set[str] = field(default_factory=set)
    _sign_ins: list[float] = field(default_factory=list)

    def opens(self, number: int) -> float:
        """The moment from which so many sign-ins may begin at once."""
        window = self.durations.window
        recent = [moment for moment in self._sign_ins if moment > self.now - window]
        over = len(recent) + min(number, LIMITS.login_initiations) - LIMITS.login_initiations
        return recent[over - 1] + window if over > 0 else self.now

    def run(self, cases: Sequence[Planned[CaseRow]]) -> Late:
        """Goes through the cases in the order of a run."""
        agenda, planned = Agenda(cases), {case.item.id: case for case in cases}
        while (chosen := agenda.next(self.now, self.opens, self.left, end=self._end())) is not None:
            row, moment = (chosen.item, chosen.moment) if isinstance(chosen, Due) else (chosen, self.now)
            moment = max(self.now, moment)
            if row.id in self.begun:  # its wait is over
                is_in_time = moment < self._end()
                self.kept.pop(row.id)
                if is_in_time:
                    self.begun.discard(row.id)
                    self.now = moment
            elif not self._has_time(row, moment):
                self.unbegun.add(row.id)
            else:
                self.now = moment
                self._sign_in(planned[row.id])
                self.now += self.durations.requests(row) + row.pauses * (self.durations.window > 0)
                if row.waits:
                    self.begun.add(row.id)
                    # One whose wait is left out ends with the run, and waits with nothing changed.
                    is_left_out = row.waits >= self.durations.budget
                    self.kept[row.id] = 0.0 if is_left_out else self.durations.restoring(row)
                    agenda.suspend(row, self.now + row.waits, "")
        return Late(frozenset(self.begun), frozenset(self.unbegun))

    def _has_time(self, row: CaseRow, moment: float) -> bool:
        """Whether a case can begin, and what it changes be restored."""
        return moment < self._end(self.durations.restoring(row))

    def _end(self, least: float = 0.0) -> float:
        """When the budget ends but for what is kept for restoring, which is ``least`` at the least."""
        return self.durations.budget - max(least, *self.kept.values(), 0.0)

    def _sign_in(self, case: Planned[CaseRow]) -> None:
        needed = case.needs(self.left)
        self._sign_ins += [self.now] * needed
        self.left += case.leaves - (case.sign_ins - needed)


def late_cases(rows: Sequence[CaseRow], durations: Durations) -> Late:
    """The cases that a run has no time for."""
    if isinf(durations.budget):
        return Late()
    first = priorities(rows, durations)
    return Forecast(durations).run(list(_planned(rows, first, is_waiting=durations.window > 0)))


def _planned(
    rows: Sequence[CaseRow], priority: Mapping[str, int], *, is_waiting: bool
) -> Iterator[Planned[CaseRow]]:
    """The cases with their sign-ins, as a run plans them. Where nothing waits, none is waited for."""
    unused = set(SHARING)
    for row in sorted(rows, key=lambda row: (-priority.get(row.id, 0), -row.waits)):
        begun = unused.intersection(row.shares)
        unused -= begun
        if not is_waiting:
            yield Planned(row, priority=priority.get(row.id, 0))
            continue
        yield Planned(
            row,
            row.sign_ins + len(begun),
            reuses=row.reuses,
            leaves=row.leaves,
            waits=bool(row.waits),
            first=bool(begun),
            priority=priority.get(row.id, 0),
        )
