"""How far a replay is: which exchanges have ended, who the clients are, and which failure caused which."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from conformance.replay.rebuild.own_factors import Client
from conformance.replay.recording.plan import ReplayPlan


@dataclass
class Progress:
    """``ended`` holds 1 for each position that is over; ``on_ended`` is called as soon as one is."""

    plan: ReplayPlan
    on_ended: Callable[[int], None] = lambda position: None
    _clients: dict[int, Client] = field(default_factory=dict)
    _roots: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ended = bytearray(len(self.plan.store))
        for position in self.plan.refused:
            self.ended[position] = self.plan.session_of[position] < 0

    def client(self, position: int) -> Client:
        session = self.plan.session_of[position]
        client = self._clients.get(session)
        if client is None:
            client = self._clients[session] = Client()
        return client

    def is_over(self, position: int) -> bool:
        return bool(self.ended[position])

    def end(self, position: int) -> None:
        self.ended[position] = 1
        session = self.plan.session_of[position]
        (self._clients.get(session) or self.client(position)).last = position
        self.on_ended(position)

    def fail(self, position: int, root: int | None) -> None:
        """Notes that an exchange has no response, for its own reason or for that of ``root``, by number."""
        self._roots[position] = self.plan.number_of(position) if root is None else root

    def root(self, position: int) -> int:
        """The first exchange in a chain of failed ones, by its number."""
        return self._roots.get(position, self.plan.number_of(position))
