"""Sign-ins of one account, one at a time: two at once would take each other's codes."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from conformance.replay.rebuild.actions import Await, Reply


@dataclass
class SignInOrder:
    """Who may ask an inbox or an authenticator. ``ended`` says of every position whether it is over."""

    ended: Sequence[int]
    _holders: dict[str, int] = field(default_factory=dict)

    def take(self, what: str, position: int) -> Generator[Await, Reply, None]:
        """Waits until it is free; it is free again when the exchange at ``position`` has ended."""
        while (holder := self._holders.get(what, position)) != position and not self.ended[holder]:
            yield Await(holder)
        self._holders[what] = position
