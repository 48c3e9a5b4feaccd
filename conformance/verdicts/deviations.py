"""What traffic is compared with beside the specification: descriptions of further endpoints.

What differs from one is a deviation: a finding of an authority of its own, which is no verdict.
"""

from __future__ import annotations

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

MOST_UNKNOWN = 100


@dataclass
class DescribedTraffic:
    """The endpoints of descriptions, each with whether an answer was compared; ``notes`` say what of the
    descriptions could not be used; ``unknown`` are endpoints that answered and that no description has."""

    endpoints: dict[str, bool] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    unknown: dict[str, None] = field(default_factory=dict)
