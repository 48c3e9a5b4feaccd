"""Where a record was read, by whom and when: what a comparison of several answers needs to know of each."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from conformance.checks.envelope import is_mask
from conformance.checks.records import portal_time
from conformance.spec import OPERATIONS
from conformance.spec.endpoints import (
    ACCOUNTS_QUERY,
    CHANNEL_TYPES_QUERY,
    CHANNELS_QUERY,
    PUBLIC_KEY,
    SECURE_SESSION,
    SECURE_SESSION_CLOSE,
    TOKEN_REFRESH,
)
from conformance.traffic.exchange import ABSENT, Exchange, Request

CHANGES_NO_RECORD = frozenset(
    {
        ACCOUNTS_QUERY,
        CHANNEL_TYPES_QUERY,
        CHANNELS_QUERY,
        PUBLIC_KEY,
        SECURE_SESSION,
        SECURE_SESSION_CLOSE,
        TOKEN_REFRESH,
    }
)
"""Requests by POST that ask for records, or concern the channel or the token only."""

WRITES = tuple(row.key for row in OPERATIONS if row.method != "GET" and row.key not in CHANGES_NO_RECORD)
"""Whatever may change a record, also where it is refused."""

OF_SESSIONS = tuple(
    key for key in WRITES if any(part in key for part in ("/auth/login/", "/auth/logout", "/security/"))
)
"""Those that concern sessions and factors: of the records they change none but the account's times."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One answer in which records were read; its data is not kept."""

    n: int
    started: str
    began: float
    ended: float
    portal_time: float
    key: str
    method: str
    url: str
    body: int
    """A hash of the request's body: another body of a query is another place."""

    def is_of_the_same_place(self, other: Visit) -> bool:
        return self.url == other.url and self.body == other.body

    def exchange(self) -> Exchange:
        """The exchange without what is not kept: enough to name it."""
        return Exchange(n=self.n, started=self.started, request=Request(method=self.method, url=self.url))


def visit_of(exchange: Exchange, key: str) -> Visit:
    request = exchange.request
    return Visit(
        exchange.n,
        exchange.started,
        exchange.time,
        exchange.time + exchange.elapsed_ms / 1000,
        portal_time(exchange).timestamp(),
        key,
        request.method,
        request.url,
        0 if exchange.sent is ABSENT else hash(msgspec.json.encode(exchange.sent)),
    )


def viewer_of(exchange: Exchange) -> str | None:
    """Whose view of the portal an answer shows: by its host, token and language. None where it is not known:
    a token that was put out of sight may stand for several."""
    request = exchange.request
    token = request.bearer
    if token is None or is_mask(token) or "redacted" in token.lower():
        return None
    language, locale = request.header("accept-language"), request.header("x-locale")
    return f"{request.parts.netloc} {token} {language} {locale}"
