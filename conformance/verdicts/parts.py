"""What a ledger holds of a part of some traffic, as a value: parts merge to what the whole gives.

A merge is associative and commutative: times are added, and of two findings or observations that are alike
the one that came first in the traffic is kept. Positions are numbers of exchanges in the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from conformance.errors import FaultClass
from conformance.spec import Requirement
from conformance.verdicts.findings import Finding, Ledger, Observation, Topic
from conformance.verdicts.selection import RuleSelection

Position = tuple[int, int, int]
"""Where something came first: the number of its exchange, the rank of the judge that decided it, and what
came before it in the same ledger."""

Key = TypeVar("Key")
Value = TypeVar("Value")

ROOM_OF_A_PART = 2_000
"""How many different observations of a topic a part keeps for an endpoint: the whole keeps the first few of
them, and counts these in every part."""

ONCE = frozenset({"extra-fields", "null-fields"})
"""Topics of which a judge tells each value once, however often it comes."""


def _is_told_once(observation: Observation) -> bool:
    """Whether its times are no count; fields beside those of the envelope are counted as other readings."""
    observed = observation.observed
    is_of_the_envelope = observation.topic == "extra-fields" and not str(observed).startswith("data")
    return observation.topic in ONCE and not is_of_the_envelope


@dataclass(frozen=True, slots=True)
class LedgerPart:
    """The decisions on a part. Each mapping is by what makes two rows alike."""

    held: Mapping[str, int] = field(default_factory=dict)
    """How often a requirement held."""
    cases: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The checks and cases that decided a requirement."""
    findings: Mapping[str, tuple[Position, Finding]] = field(default_factory=dict)
    observations: Mapping[Topic, tuple[Position, Observation]] = field(default_factory=dict)
    reasons: Mapping[tuple[str, str], tuple[Position, FaultClass]] = field(default_factory=dict)
    """Why a requirement could not be decided."""
    errors: Mapping[str, tuple[Position, str]] = field(default_factory=dict)
    """Bugs of the suite; of several of one check the last is kept, as in a ledger."""

    def merged(self, other: LedgerPart) -> LedgerPart:
        """What both hold together."""
        return LedgerPart(
            _united(self.held, other.held, int.__add__),
            _united(self.cases, other.cases, frozenset.union),
            _united(self.findings, other.findings, _one_finding),
            _united(self.observations, other.observations, _one_observation),
            _united(self.reasons, other.reasons, min),
            _united(self.errors, other.errors, max),
        )


def moved(part: LedgerPart, shift: int) -> LedgerPart:
    """The same with ``shift`` added to all numbers of exchanges: where a part stands in the whole."""
    if not shift:
        return part
    return LedgerPart(
        part.held,
        part.cases,
        {key: (_later(place, shift), _moved(row, shift)) for key, (place, row) in part.findings.items()},
        {
            key: (_later(place, shift), _moved_observation(row, shift))
            for key, (place, row) in part.observations.items()
        },
        {key: (_later(place, shift), row) for key, (place, row) in part.reasons.items()},
        {key: (_later(place, shift), row) for key, (place, row) in part.errors.items()},
    )


def _later(position: Position, shift: int) -> Position:
    return position[0] + shift, *position[1:]


def part_of(ledger: Ledger, *, first: int = 1, rank: int = 0) -> LedgerPart:
    """What a ledger holds. ``first`` is the number of the first exchange: reasons and bugs name none, and
    stand where the part does; ``rank`` orders the ledgers of several judges of the same exchanges."""
    tallies = ledger.tallies
    return LedgerPart(
        {name: tally.satisfied for name, tally in tallies.items()},
        {name: frozenset(tally.cases) for name, tally in tallies.items()},
        {row.signature: ((row.exchanges[-1], rank, at), row) for at, row in enumerate(ledger.all_findings)},
        {
            key: ((row.exchanges[0], rank, at), row)
            for at, (key, row) in enumerate(ledger.all_observations.items())
        },
        {
            (name, reason): ((first, rank, at), fault_class)
            for name, tally in tallies.items()
            for at, (reason, fault_class) in enumerate(tally.reasons.items())
        },
        {name: ((first, rank, at), text) for at, (name, text) in enumerate(ledger.errors.items())},
    )


def ledger_of(
    part: LedgerPart, requirements: Mapping[str, Requirement], *, selection: RuleSelection | None = None
) -> Ledger:
    """The ledger of the whole, as one judge would have left it."""
    ledger = Ledger(requirements, selection=selection)
    for name, times in part.held.items():
        ledger.satisfy(name, times)
    for name, cases in part.cases.items():
        for case in sorted(cases):
            ledger.touch(name, case)
    for (name, reason), (_, fault_class) in sorted(part.reasons.items(), key=lambda row: row[1]):
        ledger.leave_untested(name, reason, fault_class)
    ledger.restore(
        (finding for _, finding in _in_order(part.findings)),
        ((key, row) for key, (_, row) in sorted(part.observations.items(), key=lambda row: row[1][0])),
    )
    for name, (_, text) in sorted(part.errors.items(), key=lambda row: row[1][0]):
        ledger.errors[name] = text
    return ledger


def _in_order(rows: Mapping[str, tuple[Position, Value]]) -> list[tuple[Position, Value]]:
    return sorted(rows.values(), key=lambda row: row[0])


def _united(
    one: Mapping[Key, Value], other: Mapping[Key, Value], both: Callable[[Value, Value], Value]
) -> dict[Key, Value]:
    united = dict(one)
    for key, value in other.items():
        united[key] = both(united[key], value) if key in united else value
    return united


def _one_finding(one: tuple[Position, Finding], other: tuple[Position, Finding]) -> tuple[Position, Finding]:
    (position, first), (_, later) = (one, other) if one[0] <= other[0] else (other, one)
    return position, replace(first, times=first.times + later.times)


def _one_observation(
    one: tuple[Position, Observation], other: tuple[Position, Observation]
) -> tuple[Position, Observation]:
    (position, first), (_, later) = (one, other) if one[0] <= other[0] else (other, one)
    times = first.times if _is_told_once(first) else first.times + later.times
    return position, replace(first, times=times)


def _moved(finding: Finding, shift: int) -> Finding:
    other = finding.other
    return replace(
        finding,
        exchanges=tuple(number + shift for number in finding.exchanges),
        other=None if other is None else replace(other, exchange=other.exchange + shift),
    )


def _moved_observation(row: Observation, shift: int) -> Observation:
    return replace(row, exchanges=tuple(number + shift for number in row.exchanges))
