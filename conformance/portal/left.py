"""Login sessions that were begun and not gone on with: whoever needs one next may take it."""

from __future__ import annotations

import threading

from conformance.clock import Clock
from conformance.exchange import Exchange
from conformance.spec.tables import LIMITS

YOUNG = 0.25
"""Up to what part of its lifetime a login session is given away: who takes it may still have to wait."""


class LeftSessions:
    """Kept only where time cannot be moved: elsewhere sign-ins are not scarce. Safe to use from threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._begun: dict[str, list[Exchange]] = {}

    def put(self, email: str, begun: Exchange) -> None:
        """Leaves the session that this answer began to the next who needs one."""
        if begun.success and not self._clock.movable:
            with self._lock:
                self._begun.setdefault(email.lower(), []).append(begun)

    def take(self, email: str) -> Exchange | None:
        """The newest that is young enough; None where there is none."""
        with self._lock:
            young = self._young(email)
            return young.pop() if young else None

    def count(self, email: str) -> int:
        """How many could be taken now."""
        with self._lock:
            return len(self._young(email))

    def drop(self, email: str) -> None:
        """Nobody gets those of the account any more: something may have ended them."""
        with self._lock:
            self._begun.pop(email.lower(), None)

    def _young(self, email: str) -> list[Exchange]:
        now = self._clock.now()
        young = [begun for begun in self._begun.get(email.lower(), ()) if now < begun.time + _lasts(begun)]
        self._begun[email.lower()] = young
        return young


def _lasts(begun: Exchange) -> float:
    told = begun.at("data.expiresIn")
    is_number = isinstance(told, int | float) and not isinstance(told, bool)
    return YOUNG * (min(told, LIMITS.login_session) if is_number else LIMITS.login_session)
