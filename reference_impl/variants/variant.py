"""What a variant is, and how several are combined."""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from reference_impl.changes import Apply, Change, rewritten
from reference_impl.wrappers import Answer, Rewriting, Seen


@dataclass(frozen=True, slots=True)
class Variant:
    """A lawful portal. ``gap`` is what permits it; of one ``about`` only one variant holds at a time.

    ``is_alone``: it lets so few requests through that what other variants do would not be seen.
    """

    name: str
    gap: str
    apply: Apply
    about: frozenset[str] = frozenset()
    is_alone: bool = False

    def goes_with(self, others: Iterable["Variant"]) -> bool:
        """Whether no other is about the same, and none stands alone."""
        return not any(self.is_alone or other.is_alone or self.about & other.about for other in others)


def may(name: str, gap: str, apply: Apply, about: str = "", *, is_alone: bool = False) -> Variant:
    """A variant; ``about`` are words with blanks between them, or its own name."""
    return Variant(name, gap, apply, frozenset(about.split() or [name]), is_alone)


def enveloped(rewriting: Rewriting) -> Rewriting:
    """Only envelopes are rewritten: an encrypted answer passes as it is."""

    def plain(seen: Seen, answer: Answer) -> None:
        if isinstance(answer.body, dict) and "success" in answer.body:
            rewriting(seen, answer)

    return plain


def everywhere(turn: Callable[[Any], Any]) -> Change:
    """Every value in the data of every answer passes through a function, the innermost first."""

    def rewriting(seen: Seen, answer: Answer) -> None:
        answer.body["data"] = deep(answer.body["data"], turn)

    return rewritten(enveloped(rewriting))


def deep(value: Any, turn: Callable[[Any], Any]) -> Any:
    """A value with everything in it turned, the innermost first."""
    if isinstance(value, dict):
        return turn({name: deep(inner, turn) for name, inner in value.items()})
    if isinstance(value, list):
        return turn([deep(inner, turn) for inner in value])
    return turn(value)


def day_of(moment: str) -> str:
    """The day of an ISO 8601 time of the basic or the extended format, as ``YYYY-MM-DD``."""
    digits = "".join(filter(str.isdigit, moment))
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}"


def drawn(variants: Iterable[Variant], seed: int) -> list[Variant]:
    """As many of the variants as go together, tried in an order that the seed gives."""
    order = [variant for variant in variants if not variant.is_alone]
    random.Random(seed).shuffle(order)
    chosen: list[Variant] = []
    for variant in order:
        if variant.goes_with(chosen):
            chosen.append(variant)
    return chosen


def grouped(variants: Iterable[Variant], most: int) -> list[list[Variant]]:
    """All of the variants in groups that go together, of so many at the most."""
    groups: list[list[Variant]] = []
    for variant in variants:
        group = next((each for each in groups if len(each) < most and variant.goes_with(each)), None)
        if group is None:
            groups.append([variant])
        else:
            group.append(variant)
    return groups
