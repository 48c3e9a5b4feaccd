"""Finds secrets that no place of the specification shows: in headers and fields of a deployment's own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import NamedTuple
from urllib.parse import parse_qsl

from conformance.errors import UsageError
from conformance.traffic.exchange import Exchange, Json, Message
from conformance.traffic.redaction.listed import ListedSecrets, plain_name
from conformance.traffic.redaction.looks import (
    DESCRIBED,
    is_id,
    is_one_time_code,
    is_ordinary,
    is_random,
    is_secret_under,
    kind_of_name,
    words_of,
)
from conformance.traffic.redaction.redact import Secrets

MOST_NAMES = 10_000
ROOM = 500_000
"""Values of responses that are remembered."""

DESCRIBED_HEADERS = frozenset(
    [
        "x-portal-access-code",
        "x-client-hash",
        "x-request-id",
        "x-forwarded-proto",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-port",
        "x-real-ip",
        "x-locale",
        "x-secure-channel-session-id",
        "x-workspace-id",
        "authorization",
        "cookie",
        "set-cookie",
        "host",
        "user-agent",
        "referer",
        "origin",
        "etag",
        "if-none-match",
        "date",
        "server",
        "via",
        "location",
        "allow",
        "vary",
        "link",
        "expires",
        "age",
        "last-modified",
        "if-modified-since",
        "traceparent",
        "tracestate",
        "baggage",
        "strict-transport-security",
        "content-security-policy",
        "permissions-policy",
        "report-to",
        "nel",
        "alt-svc",
        "server-timing",
        "p3p",
        "pragma",
        "range",
    ]
)
"""Headers that hold no secret, or whose secrets are redacted by their place."""

HARMLESS_BEGINNINGS = ("accept", "access-control-", "cf-", "content-", "sec-", "cdn-", "cache-", "x-amz-cf-")
TRACING = frozenset({"trace", "span", "correlation", "request", "ray", "b3"})
"""Words in the names of headers that follow requests through a deployment."""


class LikelySecret(NamedTuple):
    """A value that looks like a secret, its kind, and the header or field that holds it."""

    value: str
    kind: str
    name: str


@dataclass
class SecretFinder:
    """Takes the exchanges of one recording in order. ``counts`` says how many values were taken for secrets,
    by name, and ``listed_counts`` how many were redacted because the user listed them.
    """

    listed: ListedSecrets = field(default_factory=ListedSecrets)
    counts: Counter[str] = field(default_factory=Counter)
    listed_counts: Counter[str] = field(default_factory=Counter)
    _returned: set[int] = field(default_factory=set)
    """Hashes of values that responses returned."""
    _new: list[int] = field(default_factory=list)
    """Those of the response that is read now."""
    _taken: set[int] = field(default_factory=set)
    _names_seen: dict[str, bool] = field(default_factory=dict)
    """By name of a field, whether its value may be a secret for its name."""

    def register(self, exchange: Exchange, secrets: Secrets) -> Exchange:
        """Registers what is listed and what looks like a secret in an exchange, and counts each value once.
        Returns the exchange to be written: without what is listed, the same where nothing is."""
        if self.listed:
            exchange = self.listed.redacted(exchange, partial(self._listed_placeholder, secrets))
        for value, kind, name in self._found(exchange):
            if is_ordinary(value) or plain_name(name) in self.listed.kept:
                continue
            is_new = secrets.placeholder(value) is None
            secrets.add(value, kind)
            if is_new and hash(value) not in self._taken:
                self._taken.add(hash(value))
                self.counts[name] += 1
        self._remember()
        return exchange

    def _listed_placeholder(self, secrets: Secrets, value: str, name: str) -> str:
        """The placeholder of a listed value, which is a secret everywhere unless it is an ordinary one."""
        if hash(value) not in self._taken and secrets.placeholder(value) is None:
            self._taken.add(hash(value))
            self.listed_counts[name] += 1
        if not is_ordinary(value):
            secrets.add(value, "secret")
        return secrets.name_in_place(value, "secret")

    def _remember(self) -> None:
        """Keeps what the response returned: a client that sends it later sends no secret of its own."""
        if len(self._returned) > ROOM:
            self._returned.clear()
        self._returned.update(self._new)
        self._new.clear()

    def lines(self) -> Iterator[str]:
        """What was redacted, by name and count: as listed, and for its look, with how to say otherwise."""
        for name, times in self.listed_counts.most_common():
            yield f"Redacted as listed: {_values(times)} of {name}."
        for name, times in self.counts.most_common():
            yield f"Taken for secrets by their look: {_values(times)} of {name}. Not a secret? --keep {name}"

    def _found(self, exchange: Exchange) -> Iterator[LikelySecret]:
        request, response, plain = exchange.request, exchange.response, exchange.plain
        yield from self._in_headers(request, is_sent=True)
        for name, value in _query(request.url):
            yield from self._in_field(name, value, is_sent=True)
        yield from self._in_json("", request.json, is_sent=True)
        if request.state == "text":
            for name, value in _form(request.body):
                yield from self._in_field(name, value, is_sent=True)
        if response is not None:
            yield from self._in_headers(response, is_sent=False)
            yield from self._in_response("", response.json)
        if plain is not None:
            yield from self._in_json("", plain.request, is_sent=True)
            yield from self._in_response("", plain.response)

    def _in_response(self, name: str, value: Json) -> list[LikelySecret]:
        """What looks like a secret in a response. What it returns is no secret of the client's later."""
        found: list[LikelySecret] = []
        self._walk(name, value, found)
        return found

    def _walk(self, name: str, value: Json, found: list[LikelySecret]) -> None:
        """As ``_in_json``; a field whose name cannot be a secret's is passed over, as most are."""
        kind = type(value)
        if kind is dict:
            for key, inner in value.items():
                self._walk(key, inner, found)
        elif kind is list:
            for inner in value:
                self._walk(name, inner, found)
        elif kind is str:
            self._new.append(hash(value))
            if self._may_be_secret(name):
                found.extend(self._in_field(name, value, is_sent=False))
        elif kind is int and self._may_be_secret(name):
            found.extend(self._in_json(name, value, is_sent=False))

    def _may_be_secret(self, name: str) -> bool:
        may_be = self._names_seen.get(name)
        if may_be is None:
            may_be = name not in DESCRIBED and kind_of_name(name) is not None
            self._names_seen[name] = may_be
            if len(self._names_seen) > MOST_NAMES:
                self._names_seen.clear()
        return may_be

    def _in_headers(self, message: Message, *, is_sent: bool) -> Iterator[LikelySecret]:
        for name, value in message.headers:
            if not _is_harmless(name):
                yield from self._in_own_header(name.lower(), value, is_sent=is_sent)

    def _in_own_header(self, name: str, value: str, *, is_sent: bool) -> Iterator[LikelySecret]:
        """A header of the deployment's own: by its name, its randomness, and whether it came from nowhere."""
        credentials = value.rpartition(" ")[2]
        kind = is_secret_under(name, credentials)
        if kind is not None:
            yield LikelySecret(credentials, kind, name)
        elif is_random(credentials) or (is_sent and self._is_from_nowhere(name, credentials)):
            yield LikelySecret(credentials, "value", name)

    def _in_json(self, name: str, value: Json, *, is_sent: bool) -> Iterator[LikelySecret]:
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from self._in_json(key, inner, is_sent=is_sent)
        elif isinstance(value, list):
            for inner in value:
                yield from self._in_json(name, inner, is_sent=is_sent)
        elif isinstance(value, str):
            yield from self._in_field(name, value, is_sent=is_sent)
        elif isinstance(value, int) and not isinstance(value, bool) and value > 999:
            yield from self._in_field(name, str(value), is_sent=is_sent, is_number=True)

    def _in_field(
        self, name: str, value: str, *, is_sent: bool, is_number: bool = False
    ) -> Iterator[LikelySecret]:
        if is_sent and name == "code" and not is_number:
            if is_one_time_code(value) or is_random(value):
                yield LikelySecret(value, "code", name)
        elif name not in DESCRIBED:
            kind = is_secret_under(name, value)
            if kind is not None and (not is_number or kind == "code"):
                yield LikelySecret(value, kind, name)
            elif is_sent and not is_number and self._is_from_nowhere(name, value):
                yield LikelySecret(value, "value", name)

    def _is_from_nowhere(self, name: str, value: str) -> bool:
        """Whether a client sends a random value, or a code, that no response returned before."""
        is_of_id = words_of(name)[-1:] in (("id",), ("ids",), ("hash",))
        is_opaque = is_random(value) or is_one_time_code(value) or (is_id(value) and not is_of_id)
        return is_opaque and not is_of_id and hash(value) not in self._returned


def _values(times: int) -> str:
    return "1 value" if times == 1 else f"{times} values"


def finder_of(redact: Iterable[str], keep: Iterable[str], names: Iterable[str] = ()) -> SecretFinder:
    """A finder with what the user names: headers, fields, and patterns between slashes. UsageError: one is no
    pattern."""
    listed = [*redact, *names]
    patterns = [text[1:-1] for text in listed if len(text) > 2 and text[0] == text[-1] == "/"]
    plain = frozenset(plain_name(text) for text in listed if not text.startswith("/"))
    kept = frozenset(map(plain_name, keep))
    try:
        return SecretFinder(ListedSecrets(plain, tuple(map(re.compile, patterns)), kept))
    except re.error as error:
        raise UsageError(f"--redact: a pattern cannot be read ({error}).") from None


@lru_cache(maxsize=4096)
def _is_harmless(name: str) -> bool:
    lower = name.lower()
    if lower in DESCRIBED_HEADERS or lower.startswith(HARMLESS_BEGINNINGS):
        return True
    return not TRACING.isdisjoint(words_of(lower))


def _query(url: str) -> Iterator[tuple[str, str]]:
    query = url.partition("?")[2]
    yield from parse_qsl(query) if query else ()


def _form(body: Json) -> Iterator[tuple[str, str]]:
    """The fields of a form that was sent in place of JSON."""
    text = body.get("text") if isinstance(body, dict) else None
    if isinstance(text, str) and "=" in text and "\n" not in text:
        yield from parse_qsl(text)
