"""Recorded values and the live ones that stand for them: one to one, so that a wrong one is seen."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from conformance.replay.recording.values import claims_of, leaves, packed_json, packed_text
from conformance.traffic.exchange import ABSENT, Json

ROOM = 500_000
"""Pairs that are remembered; the oldest are forgotten first."""


@dataclass
class Identities:
    """Learned from answers that correspond to each other. ``used`` are the values that requests send on:
    what is packed into a token or a text is only looked into for those."""

    used: Container[str]
    live: dict[str, str] = field(default_factory=dict)
    recorded: dict[str, str] = field(default_factory=dict)
    ambiguous: dict[str, set[str]] = field(default_factory=dict)
    """Recorded values that two places of the recording share, and live ones do not."""
    journal: list[str] = field(default_factory=list)
    turns: int = 0
    """How often something that was known was replaced or forgotten."""

    def pair(self, recorded: str, live: str) -> bool:
        """Notes that ``live`` stands for ``recorded``; False where either is known to stand for another."""
        known = self.live.get(recorded)
        if known is not None:
            return known == live
        if self.recorded.get(live, recorded) != recorded:
            return False
        self.set(recorded, live)
        return True

    def set(self, recorded: str, live: str) -> None:
        """Notes a pair whatever was known, and what is packed into both."""
        if self.live.get(recorded, live) != live or self.recorded.get(live, recorded) != recorded:
            self.turns += 1
        self.live[recorded] = live
        self.recorded[live] = recorded
        self.journal.append(recorded)
        if len(self.live) > ROOM:
            oldest = next(iter(self.live))
            self.turns += 1
            self.recorded.pop(self.live.pop(oldest), None)
        if len(recorded) >= 16:
            self._look_inside(recorded, live)

    def also(self, recorded: str, live: str) -> None:
        """Notes a pair that a place gives which is no identity. Two that differ make the value ambiguous."""
        known = self.live.setdefault(recorded, live)
        if known != live:
            self.ambiguous.setdefault(recorded, {known}).add(live)

    def forget_since(self, mark: int) -> None:
        """Takes back what was noted since the journal had ``mark`` entries."""
        self.turns += len(self.journal) > mark
        for recorded in self.journal[mark:]:
            live = self.live.pop(recorded, None)
            if live is not None and self.recorded.get(live) == recorded:
                del self.recorded[live]
        del self.journal[mark:]

    def _look_inside(self, recorded: str, live: str) -> None:
        old, new = inside(recorded), inside(live)
        if old is ABSENT or new is ABSENT:
            return
        there = dict(leaves(new, ""))
        for place, value in leaves(old, ""):
            counterpart = there.get(place)
            if counterpart is not None and value in self.used and value not in self.live:
                self.set(value, counterpart)


def inside(value: str) -> Json:
    """What a text holds that can be read: JSON, the claims of a JWT, base64; ABSENT where nothing."""
    packed = packed_json(value)
    if packed is not ABSENT:
        return packed
    claims = claims_of(value)
    if claims is not None:
        return claims
    text = packed_text(value)
    if text is None:
        return ABSENT
    found = packed_json(text)
    return text if found is ABSENT else found
