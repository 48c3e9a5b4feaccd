"""Sign-ins of one account, one at a time: two at once would take each other's codes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from conformance.replay.engine.actions import Await, Reply


@dataclass
class Turns:
    """Who may ask an inbox or an authenticator. ``ended`` tells of every position whether it has."""

    ended: Sequence[int]
    _taken: dict[str, int] = field(default_factory=dict)

    def take(self, what: str, position: int) -> Generator[Await, Reply, None]:
        """Waits until nobody else has it; it is free again when the exchange at ``position`` has ended."""
        while (holder := self._taken.get(what, position)) != position and not self.ended[holder]:
            yield Await(holder)
        self._taken[what] = position
