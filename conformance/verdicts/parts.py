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


def ledger_of(
    part: LedgerPart, requirements: Mapping[str, Requirement], *, selection: RuleSelection | None = None
) -> Ledger:
    """Merges the parts into one ledger, equal to that of a single judge."""
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
    first: Mapping[Key, Value], other: Mapping[Key, Value], both: Callable[[Value, Value], Value]
) -> dict[Key, Value]:
    united = dict(first)
    for key, value in other.items():
        united[key] = both(united[key], value) if key in united else value
    return united


def _one_finding(row: tuple[Position, Finding], other: tuple[Position, Finding]) -> tuple[Position, Finding]:
    (position, first), (_, later) = (row, other) if row[0] <= other[0] else (other, row)
    return position, replace(first, times=first.times + later.times)


def _one_observation(
    row: tuple[Position, Observation], other: tuple[Position, Observation]
) -> tuple[Position, Observation]:
    (position, first), (_, later) = (row, other) if row[0] <= other[0] else (other, row)
    times = first.times if _is_told_once(first) else first.times + later.times
    return position, replace(first, times=times)
