"""What stands before a portal: caches, firewalls, and rates of all requests."""

import json
import sys
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reference_impl.asked import read_body
from reference_impl.changes import Change, together, wrapped
from reference_impl.faults import operations as op
from reference_impl.faults.fault import erring
from reference_impl.portal import Portal
from reference_impl.variants.variant import at_most, may, permitted
from reference_impl.wrappers import BeforeEach, Headers, Reply, collected, replayed, reply

HEADERS_OF_A_KEY = frozenset(
    b"authorization x-portal-access-code x-workspace-id x-turnstile-token x-client-hash accept-language "
    b"cf-connecting-ip".split()
)
"""Headers that an answer depends on."""


@dataclass
class ReadsKept:
    """What was read is given again for a second, to the same caller, whatever has changed since."""

    app: ASGIApp
    kept: dict[Any, tuple[float, Message, bytes]] = field(default_factory=dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reads = scope["type"] == "http" and (scope["method"] == "GET" or scope["path"].endswith("/query"))
        if not reads or not scope["path"].startswith("/web/"):
            await self.app(scope, receive, send)
            return
        octets = await read_body(receive, sys.maxsize) or b""
        headers = tuple(sorted(pair for pair in scope["headers"] if pair[0] in HEADERS_OF_A_KEY))
        key = (scope["method"], scope["path"], scope["query_string"], octets, headers)
        now = scope["app"].state.portal.now()
        moment, start, body = self.kept.get(key, (0.0, None, b""))
        if start is None or now - moment >= 1:
            start, body = await collected(self.app, scope, replayed(octets))
            if start["status"] == 200:
                self.kept[key] = now, start, body
        await reply(send, start["status"], [*start["headers"]], body)


@dataclass
class ConstantsKept:
    """The edge keeps constants for an hour, timestamp and all, and gives them to who may read them."""

    app: ASGIApp
    kept: dict[Any, tuple[float, Message, bytes]] = field(default_factory=dict)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or "/constants/" not in scope["path"]:
            await self.app(scope, receive, send)
            return
        start, body = await collected(self.app, scope, receive)
        if start["status"] == 200 and _is_success(body):
            key = (scope["path"], dict(scope["headers"]).get(b"accept-language"))
            now = scope["app"].state.portal.now()
            if key not in self.kept or now - self.kept[key][0] > 3600:
                self.kept[key] = now, start, body
            _, start, body = self.kept[key]
        await reply(send, start["status"], [*start["headers"]], body)


def _is_success(body: bytes) -> bool:
    """Whether a body is a successful envelope: a portal may refuse with status 200 as well."""
    try:
        envelope = json.loads(body)
    except ValueError:
        return False
    return isinstance(envelope, dict) and envelope.get("success") is True


BLOCKED = b"<html><head><title>Request Rejected</title></head><body>Support ID: 1</body></html>"
BUSY = b'{"success":false,"code":"RATE_LIMIT.EXCEEDED","message":"Too many requests","data":null}'
JSON, HTML = b"application/json", b"text/html; charset=utf-8"


def _headers(label: bytes, wait: int = 1) -> Headers:
    return [(b"content-type", label), (b"retry-after", b"%d" % wait)]


@dataclass
class NowAndThenRefused:
    """One request of so many is turned away before the portal has seen it."""

    every: int
    sent: Reply
    count: int = 0

    def __call__(self, scope: Scope, portal: Portal) -> Reply | None:
        self.count += 1
        return self.sent if self.count % self.every == 0 else None


def _firewall(status: int) -> Change:
    sent = (status, _headers(HTML), BLOCKED)
    return wrapped(lambda app: BeforeEach(app, NowAndThenRefused(41, sent)))


def _json_alone(scope: Scope, portal: Portal) -> Reply | None:
    """The edge lets bodies of one media type pass."""
    label = dict(scope["headers"]).get(b"content-type", JSON)
    return None if label.startswith(JSON) else (415, _headers(HTML), BLOCKED)


@dataclass
class Throttle:
    """So many requests within some seconds reach the portal."""

    most: int
    within: int
    sent: Reply
    times: list[float] = field(default_factory=list)

    def __call__(self, scope: Scope, portal: Portal) -> Reply | None:
        now = portal.now()
        self.times = [each for each in self.times if each > now - self.within]
        if len(self.times) >= self.most:
            return self.sent
        self.times.append(now)
        return None


def _limited(most: int, within: int, *sent: Reply) -> Change:
    """Requests of all kinds have a rate, whoever sends them."""
    answer = sent[0] if sent else (429, _headers(JSON, within), BUSY)
    return wrapped(lambda app: BeforeEach(app, Throttle(most, within, answer)))


OWN_REFUSAL = 429, [(b"content-type", JSON)], BUSY.replace(b"RATE_LIMIT.EXCEEDED", b"TRAFFIC.E1007")
"""A refusal by a code of its own, which does not say how soon the next request is let through."""


def _queries_have_a_rate(status: int) -> Change:
    """So many in ten minutes, whatever they are."""
    queries = (op.ACCOUNTS_QUERY, op.TYPES_QUERY, op.CHANNELS_QUERY)
    return together(
        erring("TOO_FAST", "TRAFFIC.TOO_FAST", status),
        *(at_most(12, operation, within=600, refusal="TOO_FAST") for operation in queries),
    )


VARIANTS = permitted(
    "when a change shows is not stated",
    may("reads-kept-for-a-second: consistency", wrapped(ReadsKept)),
    "how long an answer is kept is HTTP's",
    may("constants-kept-at-the-edge", wrapped(ConstantsKept)),
    "what a firewall before the portal answers is not the portal's, and not described",
    may("firewall-406: interrupted", _firewall(406)),
    may("firewall-200: interrupted", _firewall(200)),
    "what an edge before the portal refuses is not the portal's answer",
    may("other-media-types-stop-at-the-edge: media-type", wrapped(lambda app: BeforeEach(app, _json_alone))),
    "rate limits of other endpoints are not shown",
    may(
        "now-and-then-too-many: interrupted",
        wrapped(lambda app: BeforeEach(app, NowAndThenRefused(37, (429, _headers(JSON), BUSY)))),
    ),
    "limits for endpoints other than login initiate are not shown",
    may("sixty-requests-in-two-seconds: interrupted", _limited(60, 2)),
    may("a-quota-of-a-minute-by-429: interrupted", _limited(150, 60, OWN_REFUSAL), is_alone=True),
    "limits of other endpoints, and what their answers look like, are not shown",
    may("queries-have-a-rate: query-rate", _queries_have_a_rate(403), is_alone=True),
    may("queries-have-a-rate-of-400: query-rate", _queries_have_a_rate(400), is_alone=True),
)
