"""The head of a request, made anew from a recorded one: what is static is kept, line by line."""

from __future__ import annotations

import itertools
import secrets as random
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal
from urllib.parse import urlsplit

from conformance.replay.compare.kinds import TAKEN_OUT
from conformance.replay.rebuild.rebuild import CannotBeMade, Renewal
from conformance.replay.recording.plan import Plan
from conformance.replay.recording.values import TRANSPORT_HEADERS
from conformance.target.portal.calls.headers import edge_headers
from conformance.traffic.exchange import Header

Treatment = Literal[
    "keep", "drop", "edge", "token", "code", "request id", "encodings", "origin", "cookie", "value"
]

DROPPED = frozenset(
    [
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "keep-alive",
        "proxy-connection",
        "te",
        "upgrade",
        "expect",
        "trailer",
    ]
)
EDGE = frozenset(name.lower() for name in edge_headers()) | {"cf-worker", "cf-tcp-port", "cdn-loop"}
UNDONE = ("gzip", "deflate", "identity")


ALWAYS_THE_SAME = frozenset({"code", "edge", "encodings", "origin"})
MADE_ANEW = frozenset({"token", "request id", "cookie", "value"})


@lru_cache(maxsize=4096)
def treatment(lower: str) -> Treatment:
    """What becomes of a recorded header, by its name in lower case."""
    if lower in DROPPED:
        return "drop"
    special: dict[str, Treatment] = {
        "authorization": "token",
        "x-portal-access-code": "code",
        "x-request-id": "request id",
        "accept-encoding": "encodings",
        "origin": "origin",
        "referer": "origin",
        "cookie": "cookie",
    }
    if lower in special:
        return special[lower]
    if lower in EDGE or lower.startswith("cf-"):
        return "edge"
    return "keep" if lower in TRANSPORT_HEADERS else "value"


@dataclass
class Heads:
    """Makes headers for one target. ``host`` is what it is called."""

    renewal: Renewal
    plan: Plan
    host: str = ""
    needs_token: bool = False
    """Whether the request was not refused for its token, where one is needed."""
    _ids: itertools.count[int] = field(default_factory=itertools.count)
    _prefix: str = field(default_factory=lambda: random.token_hex(8))

    def __post_init__(self) -> None:
        portal = self.renewal.profile.portal
        self.host = urlsplit(portal.url).netloc
        self.base = urlsplit(portal.url).path
        self._origin = portal.url
        self._own = {name.lower(): (name, value) for name, value in portal.headers.items()}
        self._bot = self.renewal.profile.bot_challenge
        self._bot_header = self._bot.header.lower()
        self._edge = [
            pair
            for pair in (edge_headers().items() if portal.edge_headers else ())
            if pair[0].lower() not in self._own
        ]
        self._treated = lru_cache(maxsize=4096)(self._how)

    def headers(self, recorded: list[Header], *, token: str | None) -> list[Header]:
        """The headers of a request, but for those that frame it. ``token`` is added where the recording
        may lack it, and what an edge sets where it stood before one. Raises Lost, Pending,
        CannotBeMade."""
        found: list[Header] = [("Host", self.host)]
        is_behind_edge = False
        for pair in recorded:
            how, kept = self._treated(*pair)
            if kept is not None:
                found.append(kept)
            elif how in MADE_ANEW:
                value = self._value(how, pair[0].lower(), pair[1])
                if value is not None:
                    found.append((pair[0], value))
            is_behind_edge = is_behind_edge or how == "edge"
        found.extend(self._own.values())
        if not is_behind_edge:
            found.extend(self._edge)
        if token is not None:
            found.append(("Authorization", f"Bearer {token}"))
        return found

    def next_id(self) -> str:
        """A request id that nobody used."""
        return f"{self._prefix}-{next(self._ids)}"

    def is_own_id(self, value: str) -> bool:
        return value.startswith(self._prefix)

    def _how(self, name: str, value: str) -> tuple[Treatment, Header | None]:
        """What becomes of a header, and the one in its place where that is always the same."""
        lower = name.lower()
        how = "value" if lower == self._bot_header else treatment(lower)
        if lower in self._own:
            return ("edge" if how == "edge" else "drop"), None
        if how == "keep":
            return how, (name, value)
        if how not in ALWAYS_THE_SAME:
            return how, None
        made = self._value(how, lower, value)
        return how, None if made is None else (name, made)

    def _value(self, how: Treatment, lower: str, value: str) -> str | None:
        renewal = self.renewal
        match how:
            case "token":
                scheme, _, credentials = value.partition(" ")
                return (
                    f"{scheme} {self._credentials(credentials)}" if credentials else self._credentials(scheme)
                )
            case "code":
                return self._access_code(value)
            case "request id":
                return self.next_id()
            case "edge":
                return value if renewal.profile.portal.edge_headers else None
            case "encodings":
                offered = [part.strip() for part in value.split(",")]
                return ", ".join(part for part in offered if part.partition(";")[0] in UNDONE) or "identity"
            case "origin":
                return self._origin + _after_origin(value)
            case "cookie":
                return "; ".join(self._cookie(pair.strip()) for pair in value.split(";"))
        if lower == self._bot_header:
            return renewal.bot_token(value)
        return str(renewal.value(lower, value, 0.0))

    def _credentials(self, value: str) -> str:
        live = self.renewal.live(value)
        if live != value or value in self.plan.given:
            return live
        if self.needs_token:
            raise CannotBeMade("no recorded answer gave the token that it sends: record from the sign-in on")
        # A token that nobody gave, and whose value was taken out: one that no portal knows.
        return "not-a-token" if TAKEN_OUT.fullmatch(value) else value

    def _access_code(self, value: str) -> str:
        if value == self.plan.access_code:
            return self.renewal.profile.portal.access_code
        return "not-the-access-code" if TAKEN_OUT.fullmatch(value) else value

    def _cookie(self, pair: str) -> str:
        name, _, value = pair.partition("=")
        return f"{name}={self.renewal.live(value)}"


def framed(method: str, target: str, headers: list[Header], body: bytes) -> bytes:
    """The head as it goes over the wire (HTTP/1.1), its length told wherever there may be a body. Raises
    CannotBeMade: a value that the target gave would begin another line."""
    lines = [f"{method} {target} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in headers]
    if body or method in ("POST", "PUT", "PATCH"):
        lines.append(f"Content-Length: {len(body)}")
    head = "\r\n".join(lines)
    if head.count("\n") != len(lines) - 1 or head.count("\r") != len(lines) - 1 or "\0" in head:
        raise CannotBeMade("a value that the target gave has line ends, and can stand in no header")
    return (head + "\r\n\r\n").encode("latin-1", errors="replace")


def _after_origin(value: str) -> str:
    parts = urlsplit(value)
    return value.removeprefix(f"{parts.scheme}://{parts.netloc}")
