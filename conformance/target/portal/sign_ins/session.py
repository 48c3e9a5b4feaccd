"""A session at the target, and how long its token lives."""

from __future__ import annotations

from dataclasses import dataclass

import jwt

from conformance.target.clock import as_seconds
from conformance.target.profile.tables import Factor
from conformance.traffic.exchange import Exchange

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
        """When to refresh: a tenth of the lifetime before its end, and a minute at most."""
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
