"""What a comparison finds, and what a judge decides about one exchange: values that a ledger takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

import msgspec

from conformance.traffic.exchange import Exchange, Json


@dataclass(frozen=True, slots=True)
class OtherPlace:
    """A field of a record in another answer: the number of its exchange, its endpoint, the record's id."""

    exchange: int
    endpoint: str
    record: str
    field: str


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Expected and actual value at one place of an exchange.

    ``path`` is ``status``, ``headers.NAME`` or a place in the body; ``also`` are the exchanges
    that led here, in order. ``other`` is where another answer shows what was expected. ``about`` is the key
    of the endpoint in question where the request has another address. ``is_of_types``: the two answers show
    values of two types, which weighs only where one of them is not of the stated shape.
    """

    exchange: Exchange
    path: str
    expected: Json
    actual: Json
    message: str = ""
    also: tuple[Exchange, ...] = ()
    other: OtherPlace | None = None
    about: str = ""
    is_of_types: bool = False


class Held(Enum):
    """What was expected was seen."""

    HELD = True


HELD = Held.HELD
Comparison = Held | Contradiction


Decision = tuple[str, str]
"""A requirement, and the check that decides it."""


Contradicted = tuple[str, str, Contradiction]
"""A requirement, the check that decides it, and what contradicts it."""

Bug = tuple[str, str]
"""A check or reading that raised, and what it raised."""

OWN_RULE = "rule "
"""How the name of a bug begins that is one of a rule of the user's own; its id follows."""


class Verdicts(msgspec.Struct, frozen=True, eq=False, gc=False):
    """The decisions on one exchange. Equal to nothing but itself, so that a repeated one is counted.

    ``parts`` are decisions that other exchanges may share; their order is that of the checks.
    """

    endpoint: str = ""
    n: int = 0
    """The number of the exchange on which this was decided first."""
    held: tuple[tuple[Decision, int], ...] = ()
    """The decisions that held, and how often."""
    readings: tuple[tuple[str, Json], ...] = ()
    """Topics that the specification leaves open, with the value that was read."""
    contradictions: tuple[Contradicted, ...] = ()
    misshapen: tuple[str, ...] = ()
    """The places of the data that have not the stated shape."""
    bugs: tuple[Bug, ...] = ()
    parts: tuple[Verdicts, ...] = ()
    is_clean: bool = True
    """Whether nothing is contradicted, and no check raised."""

    def leaves(self) -> Iterator[Verdicts]:
        """Decisions of this verdict and all nested parts, in order."""
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.leaves()


NO_VERDICTS = Verdicts()
"""Nothing was decided."""


def combined(parts: Sequence[Verdicts]) -> Verdicts:
    """Verdicts on several parts of one exchange as one value."""
    if NO_VERDICTS in parts:
        parts = [part for part in parts if part is not NO_VERDICTS]
    if len(parts) < 2:
        return parts[0] if parts else NO_VERDICTS
    return Verdicts(parts=tuple(parts), is_clean=all(part.is_clean for part in parts))


PENDING_KEPT = 1000
"""How many different verdicts wait to be counted at most."""


class PendingVerdicts(dict[Verdicts, int]):
    """Uncounted verdicts with multiplicity; repeats cost one increment."""

    def leaves(self) -> dict[Verdicts, int]:
        """Each part once, in the order of first occurrence, with its times; nothing is pending then."""
        leaves: dict[Verdicts, int] = {}
        for verdicts, times in self.items():
            for leaf in verdicts.leaves():
                leaves[leaf] = leaves.get(leaf, 0) + times
        self.clear()
        return leaves
