"""Rebuilds the head of a request from a recorded one; static headers are kept line by line."""

from __future__ import annotations

import itertools
import secrets as random
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal
from urllib.parse import urlsplit

from conformance.replay.rebuild.actions import CannotRebuild
from conformance.replay.rebuild.values import RequestValues
from conformance.replay.recording.plan import ReplayPlan
from conformance.replay.recording.values import is_of_transport
from conformance.target.http1 import HOP_BY_HOP
from conformance.target.portal.calls.headers import edge_headers
from conformance.target.profile.model import Profile
from conformance.traffic.exchange import Header, split_url
from conformance.traffic.redaction.places import HEADERS as SECRET_HEADERS
from conformance.traffic.values import REDACTED

Treatment = Literal[
    "keep", "drop", "edge", "token", "code", "request id", "encodings", "origin", "cookie", "bot", "value"
]

DROPPED = HOP_BY_HOP | {"host", "content-length", "expect"}
EDGE = frozenset(name.lower() for name in edge_headers()) | {"cf-worker", "cf-tcp-port", "cdn-loop"}
DECODED = ("gzip", "deflate", "identity")


STATIC = frozenset({"code", "edge", "encodings", "origin"})
DYNAMIC = frozenset({"token", "request id", "cookie", "bot", "value"})
BOT_HEADERS = frozenset(name for name, kind in SECRET_HEADERS.items() if kind == "bot-token")


TREATMENTS: Mapping[str, Treatment] = {
    "authorization": "token",
    "x-portal-access-code": "code",
    "x-request-id": "request id",
    "accept-encoding": "encodings",
    "origin": "origin",
    "referer": "origin",
    "cookie": "cookie",
}


def treatment(lower: str) -> Treatment:
    """What becomes of a recorded header, by its name in lower case."""
    if lower in DROPPED:
        return "drop"
    if lower in EDGE or lower.startswith("cf-"):
        return "edge"
    return TREATMENTS.get(lower) or ("keep" if is_of_transport(lower) else "value")


class HeaderRebuild:
    """Rebuilds headers for one target. Static ones are looked up, dynamic ones computed for each request."""

    def __init__(self, plan: ReplayPlan, profile: Profile) -> None:
        portal = profile.portal
        self.base_path = urlsplit(portal.url).path
        self._plan = plan
        self._portal = portal
        self._host = urlsplit(portal.url).netloc
        self._own = {name.lower(): (name, value) for name, value in portal.headers.items()}
        self._bot = profile.bot_challenge
        self._edge = [
            pair
            for pair in (edge_headers().items() if portal.edge_headers else ())
            if pair[0].lower() not in self._own
        ]
        self._ids = itertools.count()
        drawn = random.token_hex(8)
        self._prefix = f"{drawn[:8]}-{drawn[8:12]}-4{drawn[12:15]}-8{drawn[15]}00-"
        self._rules = lru_cache(maxsize=4096)(self._rule)

    def headers(
        self, recorded: list[Header], values: RequestValues, *, needs_token: bool, token: str | None
    ) -> list[Header]:
        """The headers of a request, but for those that frame it. ``token`` is added where the recording
        may lack it, and the headers of an edge that it has not. ``needs_token``: a token without a source
        cannot be sent as recorded. Raises Lost, Pending, CannotRebuild."""
        live: list[Header] = [("Host", self._host)]
        for pair in recorded:
            rule, static = self._rules(*pair)
            if static is not None:
                live.append(static)
            elif rule in DYNAMIC:
                name = self._bot_header_for(pair[0]) if rule == "bot" else pair[0]
                live.append((name, self._dynamic(rule, pair, values, needs_token=needs_token)))
        live.extend(self._own.values())
        if self._edge:
            present = {name.lower() for name, _ in live}
            live.extend(pair for pair in self._edge if pair[0].lower() not in present)
        if token is not None:
            live.append(("Authorization", f"Bearer {token}"))
        return live

    def next_id(self) -> str:
        """A request id that nobody used, in the form of a UUID."""
        return f"{self._prefix}{next(self._ids):012x}"

    def is_own_id(self, value: str) -> bool:
        return value.startswith(self._prefix)

    def _rule(self, name: str, value: str) -> tuple[Treatment, Header | None]:
        """Rule for a header, with its static replacement."""
        lower = name.lower()
        is_bot = lower == self._bot.header.lower() or lower in BOT_HEADERS or value.startswith("[bot-token-")
        rule = "bot" if is_bot else treatment(lower)
        if lower in self._own:
            return ("edge" if rule == "edge" else "drop"), None
        if rule == "keep":
            return rule, (name, value)
        if rule not in STATIC:
            return rule, None
        static = self._static(rule, value)
        return rule, None if static is None else (name, static)

    def _static(self, rule: Treatment, value: str) -> str | None:
        match rule:
            case "code":
                return self._access_code(value)
            case "edge":
                return value if self._portal.edge_headers else None
            case "encodings":
                offered = [part.strip() for part in value.split(",")]
                return ", ".join(part for part in offered if part.partition(";")[0] in DECODED) or "identity"
        return self._portal.url + _after_origin(value)

    def _dynamic(self, rule: Treatment, pair: Header, values: RequestValues, *, needs_token: bool) -> str:
        name, value = pair
        match rule:
            case "token":
                scheme, _, credentials = value.partition(" ")
                live = self._credentials(credentials or scheme, values, needs_token=needs_token)
                return f"{scheme} {live}" if credentials else live
            case "request id":
                return self.next_id()
            case "cookie":
                return "; ".join(_cookie(pair.strip(), values) for pair in value.split(";"))
            case "bot":
                return values.bot_token(value)
        return str(values.value(name.lower(), value))

    def _bot_header_for(self, recorded: str) -> str:
        """Returns the profile's header name if the profile has a bot token: portals choose the name."""
        return recorded if self._bot.token is None else self._bot.header

    def _credentials(self, value: str, values: RequestValues, *, needs_token: bool) -> str:
        live = values.live(value)
        if live != value or value in self._plan.sources:
            return live
        if needs_token:
            raise CannotRebuild(
                "no recorded response returned the token that it sends: record from the sign-in on"
            )
        return values.no_token(value)

    def _access_code(self, value: str) -> str:
        if value in self._plan.access_codes:
            return self._portal.access_code
        return "not-the-access-code" if REDACTED.fullmatch(value) else value


def framed(method: str, target: str, headers: list[Header], body: bytes) -> bytes:
    """The head as it goes over the wire (HTTP/1.1), with its length wherever there may be a body.

    CannotRebuild: a value that the target returned would begin another line.
    """
    lines = [f"{method} {target} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers]
    if body or method in ("POST", "PUT", "PATCH"):
        lines.append(f"Content-Length: {len(body)}")
    head = "\r\n".join(lines)
    if head.count("\n") != len(lines) - 1 or head.count("\r") != len(lines) - 1 or "\0" in head:
        raise CannotRebuild("a value that the target returned has line ends, and can stand in no header")
    return (head + "\r\n\r\n").encode("latin-1", errors="replace")


def _cookie(pair: str, values: RequestValues) -> str:
    name, _, value = pair.partition("=")
    return f"{name}={values.live(value)}"


def _after_origin(value: str) -> str:
    parts = split_url(value)
    return value.removeprefix(f"{parts.scheme}://{parts.netloc}")
