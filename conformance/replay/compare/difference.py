"""A difference between a recorded response and the live one: its kind, place and values, and its meaning."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from conformance.traffic.difference_kinds import DifferenceKind
from conformance.traffic.exchange import Json

Kind = DifferenceKind
Steps = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class OtherAnswer:
    """Where an earlier response shows the same otherwise: the number of its exchange, the recorded id of the
    record there, and once they are looked up the endpoint and the path."""

    number: int
    record: str = ""
    endpoint: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where the responses differ. ``place`` is empty for the body as a whole. ``other``: the place
    of another response with which the live one disagrees; either may be wrong."""

    kind: Kind
    place: Steps
    recorded: Json
    replayed: Json
    other: OtherAnswer | None = None

    @property
    def path(self) -> str:
        """As reports write it: ``data.items[0].bizId``, ``status``, ``headers.content-type``."""
        text = ""
        for step in self.place:
            text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
        return text

    def within(self, *steps: str | int) -> Difference:
        return Difference(self.kind, (*steps, *self.place), self.recorded, self.replayed, self.other)


class Meaning(StrEnum):
    """The four kinds of difference, the gravest first."""

    CONTRADICTION = "contradiction"
    """The replayed response contradicts the specification where the recorded one does not."""
    BREAKING = "breaking"
    """The exchange alone contradicts nothing, and a client of the recorded portal may not work any more."""
    PERMITTED = "permitted"
    """The specification leaves it open, and a tolerant client does not care."""
    DRIFT = "drift"
    """State, time or data."""


@dataclass(frozen=True, slots=True)
class MeaningOfDifference:
    """``basis`` is the requirement that is contradicted, or the sentence or gap that permits it."""

    meaning: Meaning
    basis: str
    requirement: str = ""
    """The requirement that states or shows it otherwise."""


def permitted(basis: str) -> MeaningOfDifference:
    return MeaningOfDifference(Meaning.PERMITTED, basis)


def breaking(basis: str) -> MeaningOfDifference:
    return MeaningOfDifference(Meaning.BREAKING, basis)


def drift(basis: str) -> MeaningOfDifference:
    return MeaningOfDifference(Meaning.DRIFT, basis)
