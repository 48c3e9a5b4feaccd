"""Rebuilds the head of a request from a recorded one; static headers are kept line by line."""

from __future__ import annotations

import itertools
import secrets as random
from collections.abc import Mapping
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
    "keep", "drop", "edge", "token", "code", "request id", "encodings", "origin", "cookie", "value"
]

DROPPED = HOP_BY_HOP | {"host", "content-length", "expect"}
EDGE = frozenset(name.lower() for name in edge_headers()) | {"cf-worker", "cf-tcp-port", "cdn-loop"}
DECODED = ("gzip", "deflate", "identity")


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

    def headers(
        self, recorded: list[Header], values: RequestValues, *, needs_token: bool, token: str | None
    ) -> list[Header]:
        """The headers of a request, but for those that frame it. ``token`` is added where the recording
        may lack it, and the headers of an edge that it has not. ``needs_token``: a token without a source
        cannot be sent as recorded. Raises LostValue, Pending, CannotRebuild."""
        live: list[Header] = [("Host", self._host)]
        for name, value in recorded:
            header = self._header(name, value, values, needs_token=needs_token)
            if header is not None:
                live.append(header)
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

    def _header(self, name: str, value: str, values: RequestValues, *, needs_token: bool) -> Header | None:
        """The live header in place of a recorded one; None where none is sent. Portals choose the name of the
        header for the bot token."""
        lower = name.lower()
        rule = treatment(lower)
        if lower in self._own or rule == "drop" or (rule == "edge" and not self._portal.edge_headers):
            return None
        if lower == self._bot.header.lower() or lower in BOT_HEADERS or value.startswith("[bot-token-"):
            return name if self._bot.token is None else self._bot.header, values.bot_token(value)
        if rule in ("keep", "edge"):
            return name, value
        return name, self._value(rule, lower, value, values, needs_token=needs_token)

    def _value(
        self, rule: Treatment, lower: str, value: str, values: RequestValues, *, needs_token: bool
    ) -> str:
        match rule:
            case "code":
                return self._access_code(value)
            case "encodings":
                offered = [part.strip() for part in value.split(",")]
                return ", ".join(part for part in offered if part.partition(";")[0] in DECODED) or "identity"
            case "origin":
                return self._portal.url + _after_origin(value)
            case "token":
                scheme, _, credentials = value.partition(" ")
                live = self._credentials(credentials or scheme, values, needs_token=needs_token)
                return f"{scheme} {live}" if credentials else live
            case "request id":
                return self.next_id()
            case "cookie":
                return "; ".join(_cookie(pair.strip(), values) for pair in value.split(";"))
        return str(values.value(lower, value))

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
