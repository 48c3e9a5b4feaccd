"""A session at the target with the lifetime of its token, and login sessions that nobody completed yet."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import jwt

from conformance.spec.tables import LIMITS
from conformance.target.clock import Clock, as_seconds
from conformance.target.profile.tables import Factor
from conformance.traffic.exchange import Exchange
from conformance.traffic.values import is_number

ASSUMED_LIFETIME = 300.0
"""Seconds that a token is taken to live where neither its answer nor itself says so."""


@dataclass(frozen=True)
class SignedIn:
    """A session at the target. ``expires_at`` is on the target's clock, in epoch seconds."""

    account: str
    token: str
    refresh_token: str | None
    issued_at: float
    expires_at: float
    factor: Factor
    initiated: Exchange
    completed: Exchange

    @property
    def due(self) -> float:
        """The refresh time: a tenth of the lifetime before expiry, at most one minute."""
        return self.expires_at - min(60.0, (self.expires_at - self.issued_at) / 10)


def lifetime(announced: float | None, token: str, now: float) -> float:
    """Seconds that a token lives, as announced; as milliseconds where seconds make no sense.

    Without that, the token's own ``exp``, else five minutes.
    """
    if announced is not None and announced > 0:
        return announced / 1000 if announced >= 1_000_000 else announced
    try:
        claims = jwt.decode(token, options={"verify_signature": False})
        ends = as_seconds(claims["exp"])
    except (jwt.PyJWTError, KeyError, TypeError, ValueError, RecursionError):
        ends = None
    return ASSUMED_LIFETIME if ends is None else max(1.0, ends - now)


YOUNG_SHARE, USABLE_SHARE = 0.25, 0.75
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
        """Takes the newest login session, for callers that still wait before completing it; None if all are
        too old."""
        with self._lock:
            left = self._alive(email)
            return left.pop() if left and self._is_within(left[-1], YOUNG_SHARE) else None

    def oldest(self, email: str) -> Exchange | None:
        """Takes the oldest login session, for immediate completion; None if none is left."""
        with self._lock:
            left = self._alive(email)
            return left.pop(0) if left else None

    def count(self, email: str) -> int:
        """The number of login sessions ready for immediate completion."""
        with self._lock:
            return len(self._alive(email))

    def drop(self, email: str) -> None:
        """Discards the account's login sessions, which may have ended."""
        with self._lock:
            self._begun.pop(email.lower(), None)

    def _alive(self, email: str) -> list[Exchange]:
        left = [begun for begun in self._begun.get(email.lower(), ()) if self._is_within(begun, USABLE_SHARE)]
        self._begun[email.lower()] = left
        return left

    def _is_within(self, begun: Exchange, part: float) -> bool:
        return self._clock.now() < begun.time + part * _lifetime(begun)


def _lifetime(begun: Exchange) -> float:
    seconds = begun.at("data.expiresIn")
    return min(seconds, LIMITS.login_session) if is_number(seconds) else LIMITS.login_session
