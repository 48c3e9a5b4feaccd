"""What traffic is compared with beside the specification: descriptions of further endpoints.

What differs from one is a deviation: a finding of an authority of its own, which is no verdict.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

YOURS, LEARNED = "DESCRIBED", "LEARNED"
"""What the ids of deviations begin with: from a description of the user's own, and from one that was learned
and that nobody has accepted."""

PARTS = {
    "STATUS": "An answer has a status that its description lists.",
    "BODY": "The body of an answer is of the type and the schema that its description shows.",
    "REQUIRED": "A request that lacks what its description requires is refused.",
    "TOKEN": "An endpoint asks for a token where its description has a security requirement.",
}
STATEMENTS = {f"{authority}-{part}": text for authority in (YOURS, LEARNED) for part, text in PARTS.items()}
"""What is compared, by the id that rows of a baseline call it."""

MOST_DEVIATIONS = 1_000
"""Deviations that are kept one by one."""

MOST_NAMED, MOST_NOTES, MOST_UNKNOWN = 3, 50, 100


@dataclass
class DescribedTraffic:
    """The endpoints of descriptions, each with whether an answer was compared; ``notes`` say what of the
    descriptions could not be used; ``unknown`` are endpoints that answered and that no description has."""

    endpoints: dict[str, bool] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    unknown: dict[str, None] = field(default_factory=dict)

    def sentences(self) -> Iterator[str]:
        silent = [endpoint for endpoint, is_compared in self.endpoints.items() if not is_compared]
        if self.endpoints:
            count = f"{len(self.endpoints) - len(silent):,} of {len(self.endpoints):,}"
            more = f" and {len(silent) - MOST_NAMED:,} more" if len(silent) > MOST_NAMED else ""
            names = f", and not {', '.join(silent[:MOST_NAMED])}{more}" if silent else ""
            yield f"{count} described endpoints answered{names}."
        if self.unknown:
            are = "1 endpoint is" if len(self.unknown) == 1 else f"{len(self.unknown):,} endpoints are"
            yield f"{are} in no description and answered: {', '.join(self.unknown)}."
        yield from self.notes[:MOST_NOTES]
        if len(self.notes) > MOST_NOTES:
            yield f"{len(self.notes) - MOST_NOTES:,} more notes on descriptions are left out."
