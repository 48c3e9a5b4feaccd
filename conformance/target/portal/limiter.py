"""Recognises a rate limit whose status and code are not described, by what it answers to another request."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from conformance.traffic.exchange import Exchange
from conformance.verdicts.comparisons import KNOWN_CODES, is_held_back

CONTROLS = 3
"""Controls that are served in spite of a refusal, after which the refusal is one of its requests."""

Refusal = tuple[int | None, str, str]
"""Status, code, and message without its numbers."""


@dataclass
class Limiter:
    """Compares refusals by codes of the portal's own with the answer to a control: a read that was served,
    and has nothing in common with what was refused. What both are answered is a limiter's."""

    _recognised: set[Refusal] = field(default_factory=set)
    _others: Counter[Refusal] = field(default_factory=Counter)

    def gave(self, answer: Exchange) -> bool:
        """Whether an answer is the refusal by which a limiter was recognised."""
        return refusal_of(answer) in self._recognised

    def may_have_given(self, answer: Exchange) -> bool:
        """Whether a control tells more of an answer."""
        refusal = refusal_of(answer)
        return refusal is not None and not self.gave(answer) and self._others[refusal] < CONTROLS

    def compare(self, answer: Exchange, control: Exchange) -> None:
        """Takes the answer to a control that was sent right after another request was refused."""
        refusal = refusal_of(answer)
        if refusal is not None and refusal == refusal_of(control):
            self._recognised.add(refusal)
        elif refusal is not None and not is_held_back(control):
            self._others[refusal] += 1


def refusal_of(answer: Exchange) -> Refusal | None:
    """A refusal that may be a limiter's: its code is none that the specification lists."""
    code = answer.code
    if answer.success or code is None or code in KNOWN_CODES or answer.status == 401:
        return None
    return answer.status, code, re.sub(r"[0-9]+", "", str(answer.at("message")))
