"""Place, reader and time of each record read, as comparisons of several answers need them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import msgspec

from conformance.checks.envelope import MILLISECONDS, is_mask
from conformance.spec import OPERATIONS
from conformance.spec import endpoints as op
from conformance.traffic.exchange import ABSENT, NO_ENVELOPE, Exchange, Json, Request
from conformance.traffic.facts import called, fact

CHANGES_NO_RECORD = frozenset(
    {
        op.ACCOUNTS_QUERY,
        op.CHANNEL_TYPES_QUERY,
        op.CHANNELS_QUERY,
        op.PUBLIC_KEY,
        op.SECURE_SESSION,
        op.SECURE_SESSION_CLOSE,
        op.TOKEN_REFRESH,
    }
)
"""Requests by POST that ask for records, or concern the channel or the token only."""

WRITES = tuple(row.key for row in OPERATIONS if row.method != "GET" and row.key not in CHANGES_NO_RECORD)
"""Whatever may change a record, also where it is refused."""

OF_SESSIONS = tuple(
    key for key in WRITES if any(part in key for part in ("/auth/login/", "/auth/logout", "/security/"))
)
"""Those that concern sessions and factors: of the records they change none but the account's times."""


class Visit(NamedTuple):
    """One answer in which records were read; its data is not kept."""

    n: int
    started: str
    began: float
    ended: float
    portal_time: float
    method: str
    url: str

    def exchange(self) -> Exchange:
        """The exchange without what is not kept: enough to name it."""
        return Exchange(n=self.n, started=self.started, request=Request(method=self.method, url=self.url))


def visit_of(exchange: Exchange) -> Visit:
    request, began = exchange.request, exchange.time
    ended = began + exchange.elapsed_ms / 1000
    stamp = (exchange.envelope or NO_ENVELOPE).get("timestamp")
    shown = stamp / 1000 if type(stamp) is int and stamp in MILLISECONDS else began
    return Visit(exchange.n, exchange.started, began, ended, shown, request.method, request.url)


def place_of(exchange: Exchange) -> tuple[str, int]:
    """Where records are read: another query, body of a query or workspace is another place."""
    request = exchange.request
    asked = 0 if request.body is ABSENT and exchange.plain is None else _hash_of(exchange.sent)
    workspace = request.header("x-workspace-id")
    return request.url if workspace is None else f"{request.url} {workspace}", asked


def _hash_of(sent: Json) -> int:
    return 0 if sent is ABSENT else hash(msgspec.json.encode(sent))


@called
@fact
def viewer_of(exchange: Exchange) -> str | None:
    """Whose view of the portal an answer shows: by its host, token and language. None where it is not known:
    a token that was put out of sight may stand for several."""
    request = exchange.request
    token = request.bearer
    if token is None:
        return None
    return _viewer(request.parts.netloc, token, request.header("accept-language"), request.header("x-locale"))


@lru_cache(maxsize=512)
def _viewer(host: str, token: str, language: str | None, locale: str | None) -> str | None:
    if is_mask(token) or "redacted" in token.lower():
        return None
    return f"{host} {token} {language} {locale}"
