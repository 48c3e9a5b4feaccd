"""Scans exchanges for secrets that no place of the specification shows: what looks like one, and where."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import unquote

from conformance.traffic.capture.bodies import packed_json_in
from conformance.traffic.exchange import Exchange, Json, Message, Request
from conformance.traffic.redaction.encodings import (
    in_url,
    key_lines,
    may_hold_pairs,
    pairs_in,
    survey,
)
from conformance.traffic.redaction.headers import OF_URLS
from conformance.traffic.redaction.looks import (
    DESCRIBED,
    are_words_of_a_seed,
    is_id,
    is_one_time_code,
    is_random,
    is_secret_under,
    looks_like_code,
    looks_like_password,
)
from conformance.traffic.redaction.names import is_harmless, kind_of_name, words_of

MOST_NAMES = 10_000
MOST_VALUES = 500_000
"""Values of responses that are remembered."""

DEEPEST_PACKING = 3
"""How often what was packed is looked into."""

OF_URL_ALONE = frozenset({"password", "code"})
"""Names of the document's fields that have another meaning in a URL."""

PRIVATE = "a private key"

MOST_WORDS = 8
"""Words of a header up to which each is looked at."""


class LikelySecret(NamedTuple):
    """A value that looks like a secret, its kind, and the header or field that holds it."""

    value: str
    kind: str
    name: str


@dataclass
class SecretScan:
    """Takes the exchanges of one recording in order, and remembers what their responses returned."""

    returned: set[int] = field(default_factory=set)
    """Hashes of values that responses returned."""
    _new: list[int] = field(default_factory=list)
    """Those of the response that is read now."""
    _harmless: set[str] = field(default_factory=set)
    """Names of fields whose values are no secrets for their names."""

    def found(self, exchange: Exchange) -> Iterator[LikelySecret]:
        """What looks like a secret in an exchange, which is remembered once all of it was taken."""
        yield from self._found(exchange)
        self._remember()

    def _remember(self) -> None:
        """Keeps what the response returned: a client that sends it later sends no secret of its own."""
        if len(self.returned) > MOST_VALUES:
            self.returned.clear()
        if len(self._harmless) > MOST_NAMES:
            self._harmless.clear()
        self.returned.update(self._new)
        self._new.clear()

    def _found(self, exchange: Exchange) -> Iterator[LikelySecret]:
        request, response, plain = exchange.request, exchange.response, exchange.plain
        yield from self._in_headers(request, is_sent=True)
        yield from self._in_url(request)
        yield from self._in_content(request, is_sent=True)
        if response is not None:
            yield from self._in_headers(response, is_sent=False)
            yield from self._in_content(response, is_sent=False)
        if plain is not None:
            yield from self._in_body("", plain.request, is_sent=True)
            yield from self._in_response("", plain.response)
        yield from self._in_packed("error", exchange.error or "", is_sent=True)

    def _in_url(self, request: Request) -> Iterator[LikelySecret]:
        """The parameters of a request's URL; of a path that is not described, steps as no id looks."""
        url = request.url
        if "?" in url or "#" in url or "@" in url:
            for name, value in in_url(url):
                yield from self._in_field(name, value, is_sent=True, is_packed=name in OF_URL_ALONE)
                yield from self._in_packed(name, value, is_sent=True)
        if request.operation is not None:
            return
        steps = request.path.split("/")
        for before, step in pairwise(steps):
            value = unquote(step)
            if is_random(value) or (kind_of_name(before) is not None and looks_like_code(value)):
                yield from self._in_field(before, value, is_sent=True)

    def _in_content(self, message: Message, *, is_sent: bool) -> Iterator[LikelySecret]:
        if message.state == "json":
            body = message.body
            yield from self._in_body("", body, is_sent=True) if is_sent else self._in_response("", body)

    def _in_response(self, name: str, value: Json) -> Iterator[LikelySecret]:
        """What looks like a secret in a response; it is none of the client's later. Most responses have no
        name that may be a secret's, and nothing packed into a text: they are passed over."""
        texts: list[str] = []
        names = {name}
        survey(value, texts, names)
        self._new.extend(map(hash, texts))
        suspects = names - self._harmless
        if suspects:
            self._harmless.update(each for each in suspects if not _may_be_secret(each))
            suspects -= self._harmless
        if suspects or may_hold_pairs("\0".join(texts)):
            yield from self._in_suspects(name, value, suspects)

    def _in_suspects(self, name: str, value: Json, suspects: Set[str]) -> Iterator[LikelySecret]:
        """Yields secrets in fields with suspect names, and in values packed into other fields."""
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from self._in_suspects(key, inner, suspects)
            if name in suspects:
                yield from _in_names(name, value)
        elif isinstance(value, list):
            for inner in value:
                yield from self._in_suspects(name, inner, suspects)
        elif name in suspects:
            yield from self._in_body(name, value, is_sent=False)
        elif isinstance(value, str) and may_hold_pairs(value):
            yield from self._in_packed(name, value, is_sent=False)

    def _in_headers(self, message: Message, *, is_sent: bool) -> Iterator[LikelySecret]:
        for name, value in message.headers:
            if not is_harmless(name):
                yield from self._in_own_header(name.lower(), value, is_sent=is_sent)
            elif ("=" in value or "@" in value) and name.lower() in OF_URLS:
                yield from self._in_packed(name, value, is_sent=False)

    def _in_own_header(self, name: str, value: str, *, is_sent: bool) -> Iterator[LikelySecret]:
        """A header of the deployment's own: by its name, its randomness, and whether it came from nowhere."""
        yield from self._in_packed(name, value, is_sent=is_sent, is_own=True)
        words = value.split()
        for credentials in words if len(words) <= MOST_WORDS else words[-1:]:
            kind = is_secret_under(name, credentials)
            if kind is not None:
                yield LikelySecret(credentials, kind, name)
            elif (
                is_random(credentials)
                or looks_like_password(credentials)
                or (is_sent and self._is_from_nowhere(name, credentials))
            ):
                yield LikelySecret(credentials, "value", name)
        if len(words) > 1:
            kind = is_secret_under(name, value)
            if kind is not None:
                yield LikelySecret(value, kind, name)
        if not is_sent:
            self._new.extend(map(hash, words))

    def _in_body(self, name: str, value: Json, *, is_sent: bool) -> Iterator[LikelySecret]:
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from self._in_body(key, inner, is_sent=is_sent)
            if name:
                yield from _in_names(name, value)
        elif isinstance(value, list):
            for inner in value:
                yield from self._in_body(name, inner, is_sent=is_sent)
        elif isinstance(value, str):
            yield from self._in_text(name, value, is_sent=is_sent)
        elif isinstance(value, int) and not isinstance(value, bool) and value > 999:
            yield from self._in_field(name, str(value), is_sent=is_sent, is_number=True)

    def _in_text(self, name: str, value: str, *, is_sent: bool) -> Iterator[LikelySecret]:
        yield from self._in_field(name, value, is_sent=is_sent)
        yield from self._in_packed(name, value, is_sent=is_sent)

    def _in_packed(
        self, name: str, value: str, *, is_sent: bool, depth: int = 0, is_own: bool = False
    ) -> Iterator[LikelySecret]:
        """Secrets in values packed into a text, recursively. ``is_own``: the text stands in a deployment's
        own header, whose random values all are secrets."""
        if "-----BEGIN" in value:
            yield from (LikelySecret(line, "key", PRIVATE) for line in key_lines(value))
        if depth == DEEPEST_PACKING or not may_hold_pairs(value):
            return
        inner = packed_json_in(value)
        if inner is not None:
            yield from self._in_body(name, inner, is_sent=is_sent)
            if is_own or kind_of_name(name) is not None:
                texts: list[str] = []
                survey(inner, texts, set())
                yield from (LikelySecret(text, "value", name) for text in texts if is_random(text))
            return
        for packed, part in pairs_in(value):
            yield from self._in_field(packed, part, is_sent=is_sent, is_packed=True)
            yield from self._in_packed(packed, part, is_sent=is_sent, depth=depth + 1)

    def _in_field(
        self, name: str, value: str, *, is_sent: bool, is_number: bool = False, is_packed: bool = False
    ) -> Iterator[LikelySecret]:
        """The value of a field. ``is_packed``: it is none of the document's, whatever its name."""
        if is_sent and name == "code" and not is_number:
            if is_one_time_code(value) or is_random(value):
                yield LikelySecret(value, "code", name)
        elif is_packed or name not in DESCRIBED:
            kind = is_secret_under(name, value)
            if kind is not None and (not is_number or kind == "code"):
                yield LikelySecret(value, kind, name)
            elif is_sent and not is_number and self._is_from_nowhere(name, value):
                yield LikelySecret(value, "value", name)
            if "\n" in value and (kind is not None or is_sent):
                yield from (LikelySecret(line, "value", name) for line in value.split() if is_random(line))

    def _is_from_nowhere(self, name: str, value: str) -> bool:
        """Whether a client sends a random value, a code or the like that no response returned before."""
        if words_of(name)[-1:] in (("id",), ("ids",), ("hash",)):
            return False
        is_opaque = is_random(value) or is_one_time_code(value) or is_id(value)
        is_of_form = is_opaque or looks_like_password(value) or are_words_of_a_seed(value)
        return is_of_form and hash(value) not in self.returned


def _may_be_secret(name: str) -> bool:
    return name not in DESCRIBED and kind_of_name(name) is not None


def _in_names(name: str, value: dict[str, Json]) -> Iterator[LikelySecret]:
    """The names of members that are secrets themselves, below a name that speaks of some."""
    if kind_of_name(name) is not None:
        for key in value:
            kind = is_secret_under(name, key) if is_random(key) or looks_like_code(key) else None
            if kind is not None:
                yield LikelySecret(key, kind, name)
