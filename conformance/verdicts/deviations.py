"""Differences between traffic and a description of the user's own: beside the verdicts, and never one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from conformance.traffic.exchange import Json

DeviationRule = Literal["DESCRIBED-STATUS", "DESCRIBED-BODY", "DESCRIBED-REQUIRED", "DESCRIBED-TOKEN"]

STATEMENTS: dict[DeviationRule, str] = {
    "DESCRIBED-STATUS": "An answer has a status that its description lists.",
    "DESCRIBED-BODY": "The body of an answer is of the type and the schema that its description shows.",
    "DESCRIBED-REQUIRED": "A request that lacks what its description requires is refused.",
    "DESCRIBED-TOKEN": "An endpoint asks for a token where its description has a security requirement.",
}
"""What traffic is compared with, by the name that rows of a baseline call it."""

MOST_NAMED = 3
MOST_DEVIATIONS = 1_000
"""Deviations that are kept one by one."""


@dataclass(frozen=True, slots=True)
class Deviation:
    """A place where an answer differs from a description. ``source`` is the place in the description;
    ``is_hypothesis``: the description was learned, and nobody has accepted it."""

    rule: DeviationRule
    endpoint: str
    path: str
    expected: Json
    actual: Json
    source: str
    is_hypothesis: bool = False
    exchanges: tuple[int, ...] = ()
    times: int = 1

    @property
    def signature(self) -> str:
        return signature_of(self.rule, self.endpoint, self.path)


class Deviations(dict[str, Deviation]):
    """Deviations by their signature. Repeated ones are counted; of each the first is kept. ``described`` says
    of each endpoint of the descriptions whether an answer was compared; ``notes`` what could not be used."""

    def __init__(self) -> None:
        super().__init__()
        self.described: dict[str, bool] = {}
        self.notes: tuple[str, ...] = ()

    def expect(self, endpoints: Iterable[str], *, notes: tuple[str, ...] = ()) -> None:
        """Notes which endpoints are described, before any traffic is compared."""
        self.described, self.notes = dict.fromkeys(endpoints, False), notes

    def sentences(self) -> Iterator[str]:
        """What was compared, and what of the descriptions could not be used."""
        silent = [endpoint for endpoint, is_compared in self.described.items() if not is_compared]
        if self.described:
            count = f"{len(self.described) - len(silent):,} of {len(self.described):,}"
            more = len(silent) - MOST_NAMED
            names = ", ".join(silent[:MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
            yield f"{count} described endpoints answered{f', and not {names}' if names else ''}."
        yield from self.notes

    def note(self, deviations: Iterable[Deviation]) -> None:
        for deviation in deviations:
            signature = deviation.signature
            earlier = self.get(signature)
            if earlier is not None:
                self[signature] = replace(earlier, times=earlier.times + deviation.times)
            elif len(self) < MOST_DEVIATIONS:
                self[signature] = deviation


def signature_of(rule: str, endpoint: str, path: str) -> str:
    """What stays the same from run to run: the rule, the endpoint, and the place without indexes."""
    parts = path.replace("]", "[").split("[")
    place = "".join("[]" if part.isdigit() else part for part in parts)
    return f"{rule} {endpoint} {place}".strip()
