"""The values in a message that an earlier response may have returned: in headers, paths, queries, JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

from conformance.checks.access.sign_in import claims_of
from conformance.spec import Operation
from conformance.spec.endpoints import PORTAL_PATH
from conformance.target.http1 import HOP_BY_HOP
from conformance.traffic.capture.bodies import from_base64, json_in
from conformance.traffic.exchange import ABSENT, Header, Json
from conformance.traffic.redaction.looks import CODES

SHORTEST = 4
"""Shorter texts stand everywhere by chance: they are never correlated."""

LEAST_NUMBER = 100_000
"""Smaller numbers are counts, pages, ports: they mean the same wherever they stand."""

TRANSPORT_HEADERS = HOP_BY_HOP | {
    "cdn-loop",
    "date",
    "dnt",
    "expect",
    "host",
    "origin",
    "pragma",
    "priority",
    "referer",
    "upgrade-insecure-requests",
    "user-agent",
    "x-client-hash",
    "x-locale",
    "x-portal-access-code",
    "x-real-ip",
    "x-request-id",
}
TRANSPORT_FAMILIES = ("accept", "cache-control", "cf-", "content-", "if-", "sec-", "x-forwarded-")
"""Headers whose values come from no response, and how the names of others begin."""

_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}\Z|[A-Za-z0-9_-]{16,}\Z")
_HEX = re.compile(r"[0-9a-f-]+\Z|[0-9A-F-]+\Z")


class PlacedValue(NamedTuple):
    """A value, and the place in the message where it stands."""

    place: str
    value: str


def in_headers(headers: list[Header]) -> Iterator[PlacedValue]:
    """The values of headers that an earlier response may have returned."""
    for name, value in headers:
        lower = name.lower()
        if lower == "authorization":
            scheme, _, credentials = value.partition(" ")
            yield PlacedValue("headers.authorization", credentials.strip() or scheme)
        elif lower == "cookie":
            for pair in value.split(";"):
                key, _, inner = pair.strip().partition("=")
                yield PlacedValue(f"headers.cookie.{key}", inner)
        elif not is_of_transport(lower):
            yield PlacedValue(f"headers.{lower}", value)


def is_of_transport(name: str) -> bool:
    """Whether a header, by its name in lower case, has a value that comes from no response."""
    return name in TRANSPORT_HEADERS or name.startswith(TRANSPORT_FAMILIES)


def in_body(body: Json) -> Iterator[PlacedValue]:
    """The values in a JSON body, and those packed into them."""
    if body is not ABSENT:
        for place, leaf in leaves(body, "body"):
            yield from unfolded(place, leaf)


def in_path(url: str, operation: Operation | None) -> Iterator[PlacedValue]:
    target, _, query = url.partition("?")
    path = "/" + target.split("://", 1)[-1].partition("/")[2]
    if operation is not None and operation.parameters:
        match = operation.pattern.match(path[path.find(PORTAL_PATH) :])
        for name, value in match.groupdict().items() if match else ():
            yield PlacedValue(f"path.{name}", unquote(value))
    elif operation is None:
        for number, segment in enumerate(path.split("/")):
            if any(letter.isdigit() for letter in segment) and len(segment) >= 8:
                yield PlacedValue(f"path[{number}]", unquote(segment))
    if query:
        for name, value in parse_qsl(query, keep_blank_values=True):
            yield PlacedValue(f"query.{name}", value)


def leaves(value: Json, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from leaves(inner, f"{place}.{name}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from leaves(inner, f"{place}[{number}]")
    elif isinstance(value, str):
        yield place, value
    elif isinstance(value, int) and not isinstance(value, bool) and value >= LEAST_NUMBER:
        yield place, str(value)


def unfolded(place: str, value: str) -> Iterator[PlacedValue]:
    """A value, and what is packed into it: JSON in a text, base64 of a text, the claims of a JWT."""
    yield PlacedValue(place, value)
    inner = json_in(value)
    if inner is not None:
        for name, leaf in leaves(inner, f"{place}|json"):
            yield from unfolded(name, leaf)
    elif (claims := claims_of(value)) is not None:
        yield from (PlacedValue(name, leaf) for name, leaf in leaves(claims, f"{place}|jwt"))
    elif (text := packed_text(value)) is not None:
        yield from unfolded(f"{place}|base64", text)


def packed_text(value: str) -> str | None:
    """The text in base64 of either alphabet; None where the value is none, or holds bytes."""
    if len(value) < 16 or not _BASE64.match(value) or _HEX.match(value):
        return None
    try:
        text = (from_base64(value) or b"").decode()
    except ValueError:
        return None
    return text if text.isprintable() and len(text) >= SHORTEST else None


def is_dynamic(value: str) -> bool:
    """Whether a value may come from a response: it is long enough, and no code of an enumeration."""
    return len(value) >= SHORTEST and value not in CODES and value.lower() not in ("true", "false", "null")
