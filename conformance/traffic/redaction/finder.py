"""Finds secrets that no place of the specification shows, and redacts the fields that the user lists."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar
from urllib.parse import quote, unquote, unquote_plus

import regex
from msgspec.structs import replace

from conformance.errors import UsageError
from conformance.spec.tables import ERRORS, SUCCESS_CODE
from conformance.traffic.capture.placeholders import BLOCK
from conformance.traffic.exchange import ABSENT, Exchange, Json, Message, Plain, Request, Response
from conformance.traffic.patterns import compiled, matches
from conformance.traffic.redaction.forms import Span
from conformance.traffic.redaction.looks import DESCRIBED, is_ordinary
from conformance.traffic.redaction.redact import Secrets, replaced, secrets_in
from conformance.traffic.redaction.scan import SecretScan
from conformance.traffic.values import REDACTED, is_redacted

ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")
SEPARATORS = re.compile(r"([/?&=#;])")

OF_THE_ENVELOPE = frozenset({"success", "code", "message", "data", "timestamp", "version"})
"""Names that a pattern leaves, as it leaves every name that the specification describes: they are public."""

PUBLIC_CODES = frozenset({SUCCESS_CODE, *(row.code for row in ERRORS)})
"""Codes of answers, which stay under a listed ``code``: without them no answer can be judged."""

BY_THEIR_PLACE = frozenset({"authorization", "cookie", "set-cookie"})
"""Headers of which only the credentials are redacted, so that the traffic can still be replayed."""

Placeholder = Callable[[str, str], str]
"""The placeholder of a value, by the value and the name of what holds it."""

AnyMessage = TypeVar("AnyMessage", Request, Response)


@dataclass(frozen=True)
class ListedSecrets:
    """What the user lists. Names, and those that are kept, are without case and separators."""

    names: frozenset[str] = frozenset()
    patterns: tuple[regex.Pattern[str], ...] = ()
    kept: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.names or self.patterns)

    def redacted(self, exchange: Exchange, placeholder: Placeholder) -> Exchange:
        """The exchange with all that is listed replaced, whatever its type; null and booleans stay."""
        return _Pass(self, placeholder).of(exchange)

    def lists(self, name: str) -> bool:
        """Whether what stands under a name is redacted wholly."""
        plain = plain_name(name)
        return plain in self.names and plain not in self.kept

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where a pattern matches: its last group, or all of it. Empty matches and placeholders are left."""
        taken = [match.span() for match in REDACTED.finditer(text)]
        for pattern in self.patterns:
            for match in matches(pattern, text):
                start, end = match.span(match.lastindex or 0)
                if start < end and not any(start < stop and begin < end for begin, stop in taken):
                    yield start, end


@dataclass(frozen=True)
class _Pass:
    listed: ListedSecrets
    placeholder: Placeholder

    def of(self, exchange: Exchange) -> Exchange:
        response, plain = exchange.response, exchange.plain
        request = self._message(exchange.request)
        return replace(
            exchange,
            request=replace(request, url=self._url(request.url)),
            response=None if response is None else self._message(response),
            error=None if exchange.error is None else self._text(exchange.error, "error"),
            plain=None if plain is None else Plain(self._body(plain.request), self._body(plain.response)),
        )

    def _message(self, message: AnyMessage) -> AnyMessage:
        headers = [(name, self._header(name, value)) for name, value in message.headers]
        return replace(message, headers=headers, body=self._content(message))

    def _header(self, name: str, value: str) -> str:
        if self.listed.lists(name) and name.lower() not in BY_THEIR_PLACE:
            return self._whole(value, name.lower())
        return self._text(value, name.lower())

    def _content(self, message: Message) -> Json:
        return self._body(message.body) if message.state == "json" else message.body

    def _body(self, body: Json) -> Json:
        if body is ABSENT:
            return body
        clean = self._json(body, "", is_listed=False)
        if isinstance(body, dict) and isinstance(clean, dict) and "success" in body:
            code = body.get("code")
            return {**clean, "code": code} if isinstance(code, str) and code in PUBLIC_CODES else clean
        return clean

    def _json(self, value: Json, name: str, *, is_listed: bool) -> Json:
        """``is_listed``: it stands under a listed name, at any depth."""
        if isinstance(value, dict):
            return {
                self._name(key): self._json(inner, key, is_listed=is_listed or self.listed.lists(key))
                for key, inner in value.items()
            }
        if isinstance(value, list):
            return [self._json(inner, name, is_listed=is_listed) for inner in value]
        if value is None or value is ABSENT or isinstance(value, bool):
            return value
        text = str(value)
        clean = self._whole(text, name) if is_listed else self._text(text, name)
        return value if clean == text else clean

    def _name(self, name: str) -> str:
        return name if name in DESCRIBED or name in OF_THE_ENVELOPE else self._text(name, "names of fields")

    def _url(self, url: str) -> str:
        """All but the origin: whole, and each of its parts decoded."""
        origin = ORIGIN.match(url)
        head = origin[0] if origin else ""
        path, mark, query = url[len(head) :].partition("?")
        rest = self._text(f"{path}{mark}{self._pairs(query)}", "url")
        return head + "".join(map(self._part, SEPARATORS.split(rest)))

    def _part(self, part: str) -> str:
        """Redacts one part of a URL; a part without listed values keeps its encoding."""
        decoded = unquote(part)
        clean = decoded if decoded == part else self._text(decoded, "url")
        return part if clean == decoded else quote(clean, safe="[]")

    def _pairs(self, text: str) -> str:
        """A query or a form, with the values of listed names replaced."""
        if not self.listed.names or "=" not in text:
            return text
        return "&".join(map(self._pair, text.split("&")))

    def _pair(self, pair: str) -> str:
        name, mark, value = pair.partition("=")
        decoded = unquote_plus(name)
        if not value or not self.listed.lists(decoded):
            return pair
        return f"{name}{mark}{self._whole(unquote_plus(value), decoded)}"

    def _whole(self, value: str, name: str) -> str:
        return value if not value or is_redacted(value) else self.placeholder(value, name)

    def _text(self, text: str, name: str) -> str:
        if not self.listed.patterns or plain_name(name) in self.listed.kept:
            return text
        spans: list[Span] = [
            (start, end, self.placeholder(text[start:end], name)) for start, end in self.listed.spans(text)
        ]
        return replaced(text, spans)


def plain_name(name: str) -> str:
    """A name without case and separators, as it is compared."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


@dataclass
class SecretFinder:
    """Takes the exchanges of one recording in order. ``counts`` says how many values were taken for secrets,
    by name, and ``listed_counts`` how many were redacted because the user listed them.
    """

    listed: ListedSecrets = field(default_factory=ListedSecrets)
    counts: Counter[str] = field(default_factory=Counter)
    listed_counts: Counter[str] = field(default_factory=Counter)
    is_late: bool = False
    """Whether a value was taken for a secret that an earlier response had returned."""
    files: int = 1
    """How many files are read together, each of which may have placeholders of its own."""
    _scan: SecretScan = field(default_factory=SecretScan)
    _taken: set[int] = field(default_factory=set)

    def register(self, exchange: Exchange, secrets: Secrets) -> Exchange:
        """Registers what is listed, what is secret by its place, and what looks like a secret in an exchange.
        Counts each value once that no place shows; what a recorder redacted already has only what was left in
        it on purpose.
        Returns the exchange to be written: without what is listed; the same where there is nothing of it."""
        if self.listed:
            exchange = self.listed.redacted(exchange, partial(self._listed_placeholder, secrets))
        if not is_of_a_recorder(exchange):
            self._register_likely(exchange, secrets)
        elif self.files > 1:
            secrets.number_after(self.files * BLOCK)
        return exchange

    def _register_likely(self, exchange: Exchange, secrets: Secrets) -> None:
        for value, kind, name in self._scan.found(exchange):
            if is_ordinary(value) or plain_name(name) in self.listed.kept:
                continue
            is_new = secrets.placeholder(value) is None
            secrets.add(value, kind)
            self.is_late |= is_new and hash(value) in self._scan.returned
            if is_new and hash(value) not in self._taken and not _is_by_place(value, exchange):
                self._taken.add(hash(value))
                self.counts[name] += 1

    def take_for_ids(self, values: Iterable[str]) -> None:
        """Ids that a client may send before a response returns them, as the user has named them."""
        self._scan.returned.update(map(hash, values))

    @property
    def has_changed_any(self) -> bool:
        """Whether any secret was found, so that exchanges need redaction."""
        return bool(self.counts or self.listed_counts)

    def has_returned(self, values: Iterable[tuple[str, str]], secrets: Secrets) -> bool:
        """Whether an earlier response, written before the secret was registered, contains one of these
        secrets in clear."""
        new = (hash(value) for value, _ in values if secrets.placeholder(value) is None)
        return not self._scan.returned.isdisjoint(new)

    def _listed_placeholder(self, secrets: Secrets, value: str, name: str) -> str:
        """The placeholder of a listed value, which is a secret everywhere unless it is an ordinary one."""
        if hash(value) not in self._taken and secrets.placeholder(value) is None:
            self._taken.add(hash(value))
            self.listed_counts[name] += 1
        if not is_ordinary(value):
            secrets.add(value, "secret")
        return secrets.name_in_place(value, "secret")

    def lines(self) -> Iterator[str]:
        """What was redacted, by name and count: as listed, and for its look, with how to say otherwise."""
        for name, times in self.listed_counts.most_common():
            yield f"Redacted as listed: {_values(times)} of {name}."
        for name, times in self.counts.most_common():
            taken = f"Redacted, as such values look like secrets: {_values(times)} of {name}"
            yield f"{taken}. Where they are none, give --keep {name}."


def is_of_a_recorder(exchange: Exchange) -> bool:
    """Whether a recorder wrote a placeholder in place of the access code or the token of a request."""
    code, token = exchange.request.header("x-portal-access-code"), exchange.request.bearer
    return any(is_redacted(value) for value in (code, token))


def _is_by_place(value: str, exchange: Exchange) -> bool:
    return any(value == shown for shown, _ in secrets_in(exchange))


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
        return SecretFinder(ListedSecrets(plain, tuple(map(compiled, patterns)), kept))
    except ValueError as error:
        raise UsageError(f"--redact: a pattern is no regular expression ({error}). Correct it.") from None
