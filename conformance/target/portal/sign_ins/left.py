"""Login sessions that were begun and not gone on with: whoever needs one next may take it."""

from __future__ import annotations

import threading

from conformance.spec.tables import LIMITS
from conformance.target.clock import Clock
from conformance.traffic.exchange import Exchange
from conformance.traffic.values import is_number

YOUNG, ALIVE = 0.25, 0.75
"""Up to what part of its lifetime a login session is given to who will still wait, and to who will not."""


class LeftSessions:
    """Kept only where time cannot be moved: elsewhere sign-ins are not scarce. Safe to use from threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._begun: dict[str, list[Exchange]] = {}

    def put(self, email: str, begun: Exchange) -> None:
        """Leaves the session that this answer began to the next who needs one."""
        if begun.success and not self._clock.is_simulated:
            with self._lock:
                self._begun.setdefault(email.lower(), []).append(begun)

    def young(self, email: str) -> Exchange | None:
        """The newest, for who will still wait before it is gone on with; None where all are too old."""
        with self._lock:
            left = self._alive(email)
            return left.pop() if left and self._is_within(left[-1], YOUNG) else None

    def oldest(self, email: str) -> Exchange | None:
        """One that is gone on with at once; None where there is none."""
        with self._lock:
            left = self._alive(email)
            return left.pop(0) if left else None

    def count(self, email: str) -> int:
        """How many could be gone on with at once."""
        with self._lock:
            return len(self._alive(email))

    def drop(self, email: str) -> None:
        """Nobody gets those of the account any more: something may have ended them."""
        with self._lock:
            self._begun.pop(email.lower(), None)

    def _alive(self, email: str) -> list[Exchange]:
        left = [begun for begun in self._begun.get(email.lower(), ()) if self._is_within(begun, ALIVE)]
        self._begun[email.lower()] = left
        return left

    def _is_within(self, begun: Exchange, part: float) -> bool:
        return self._clock.now() < begun.time + part * _lifetime(begun)


def _lifetime(begun: Exchange) -> float:
    seconds = begun.at("data.expiresIn")
    return min(seconds, LIMITS.login_session) if is_number(seconds) else LIMITS.login_session
