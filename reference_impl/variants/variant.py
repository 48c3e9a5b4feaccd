"""What a variant is, and how several are combined."""

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from reference_impl.changes import Change, rewritten
from reference_impl.wrappers import Answer, Rewriting, Seen


@dataclass(frozen=True, slots=True)
class Variant:
    """A lawful portal. ``gap`` is what permits it; of one ``about`` only one variant holds at a time."""

    name: str
    gap: str
    apply: Change
    about: frozenset[str] = frozenset()

    def goes_with(self, others: Iterable["Variant"]) -> bool:
        """Whether no other is about the same."""
        return not any(self.about & other.about for other in others)


def may(name: str, gap: str, apply: Change, about: str = "") -> Variant:
    """A variant; ``about`` are words with blanks between them, or its own name."""
    return Variant(name, gap, apply, frozenset(about.split() or [name]))


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


def drawn(variants: Iterable[Variant], seed: int) -> list[Variant]:
    """As many of the variants as go together, tried in an order that the seed gives."""
    order = list(variants)
    random.Random(seed).shuffle(order)
    chosen: list[Variant] = []
    for variant in order:
        if variant.goes_with(chosen):
            chosen.append(variant)
    return chosen
