"""One request and what came back: the record that everything is judged from, whatever its origin."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Literal, TypeAlias
from urllib.parse import SplitResult, parse_qsl, urlsplit

import msgspec

from conformance.spec import endpoints as op
from conformance.spec.operations import UNDESCRIBED, Operation, operation_of
from conformance.spec.tables import CODED_FIELDS
from conformance.traffic.facts import fact

Json: TypeAlias = Any
"""A decoded JSON value. It is the only ``Any`` of the suite, and it stops here."""

Header: TypeAlias = tuple[str, str]

Form: TypeAlias = Literal["json", "not-json", "empty", "omitted", "truncated", "sanitized", "undecodable"]
"""How a body stands in the record. The last four say that a body existed and cannot be judged."""

NOT_JSON: Form = "not-json"

UNKNOWN_FORMS: frozenset[str] = frozenset({"omitted", "truncated", "sanitized", "undecodable"})

SECURE_SESSION = "x-secure-channel-session-id"

INGRESS_AND_LANGUAGE = ("x-portal-access-code", "x-locale", "accept-language")

ABSENT = msgspec.UNSET
"""Stands where a JSON value is asked for and there is none; ``null`` is ``None``."""


def no_headers(_: list[Header]) -> tuple[Header, ...]:
    return ()


class Layout(dict[str, int]):
    """Where the first header of each name stands, by its name in lower case. It equals nothing but itself."""

    __slots__ = ("ingress_and_language",)

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        super().__init__({name.lower(): at for at, name in reversed(tuple(enumerate(names)))})
        places = [self[name] for name in INGRESS_AND_LANGUAGE if name in self]
        self.ingress_and_language: Callable[[list[Header]], object] = (
            itemgetter(*places) if places else no_headers
        )
        """Gets the headers that show the ingress and the language of a request."""

    __hash__ = object.__hash__  # type: ignore[assignment]
    __eq__ = object.__eq__


layout_of = lru_cache(maxsize=1024)(Layout)
"""A client sends the same headers again and again."""


NO_LAYOUT: tuple[tuple[str, ...], Layout] = ((), Layout())
USUAL_HEADERS = 100
_LAST_LAYOUTS: dict[int, tuple[tuple[str, ...], Layout]] = {}
"""By the number of headers, the last layout and its names: comparing names is cheaper than hashing them."""

_NAME = itemgetter(0)


class Message(msgspec.Struct, frozen=True, omit_defaults=True, dict=True, kw_only=True):
    """What a request and a response have in common: headers as sent, and a body with its state.

    ``body`` holds the JSON value. Of a body that is none, which ``form`` says, no text is kept: ``body``
    holds its length in bytes, and of a response a digest. ``lacks`` names, in lower case, the headers that
    the source never records (``*``: none at all): that they are not here says nothing of what was sent.
    """

    headers: list[Header] = []
    body: Json = ABSENT
    form: Form | None = None
    lacks: tuple[str, ...] = ()

    @property
    def state(self) -> Form:
        """The body's form, inferred where the record does not name it."""
        if self.form is not None:
            return self.form
        return "empty" if self.body is ABSENT else "json"

    @fact
    def json(self) -> Json:
        """The body as a JSON value, or ABSENT where it is none or cannot be known."""
        return self.body if self.state == "json" else ABSENT

    @property
    def is_unknown(self) -> bool:
        """Whether a body existed that the record does not hold: nothing may be concluded from it."""
        return self.form in UNKNOWN_FORMS

    @fact
    def layout(self) -> Layout:
        """A shared object for equal header names, usable as cache key."""
        names = tuple(map(_NAME, self.headers))
        last, layout = _LAST_LAYOUTS.get(len(names), NO_LAYOUT)
        if last != names:
            layout = layout_of(names)
            if len(names) <= USUAL_HEADERS:
                _LAST_LAYOUTS[len(names)] = names, layout
        return layout

    def header(self, name: str) -> str | None:
        """The first value of a header, its name in any case."""
        at = self.layout.get(name.lower())
        return None if at is None else self.headers[at][1]

    def find_header(self, name: str) -> str | None:
        """The same without the layout, which costs less for a single header. ``name`` is in lower case."""
        length = len(name)
        for sent, value in self.headers:
            if len(sent) == length and (sent == name or sent.lower() == name):
                return value
        return None

    def is_without(self, name: str) -> bool:
        """Whether a header was certainly not sent: it is absent, and the source records it."""
        return name.lower() not in self.lacks and "*" not in self.lacks and self.header(name) is None


class Request(Message, frozen=True, omit_defaults=True, dict=True, kw_only=True):
    method: str
    url: str

    @property
    def parts(self) -> SplitResult:
        return placed(self.method, self.url)[1]

    @property
    def path(self) -> str:
        return placed(self.method, self.url)[1].path

    @fact
    def query(self) -> tuple[tuple[str, str], ...]:
        """The parameters of the query, as ``parameters``."""
        return parameters(self.parts.query)

    @property
    def operation(self) -> Operation | None:
        """The endpoint's row of the specification; None for a path outside the 88."""
        return placed(self.method, self.url)[0]

    @property
    def operation_key(self) -> str | None:
        """The key of the operation, UNDESCRIBED for another path of the portal, None for any other path."""
        return placed(self.method, self.url)[2]

    @property
    def bearer(self) -> str | None:
        """The token of an ``Authorization: Bearer`` header."""
        at = self.layout.get("authorization")
        if at is None:
            return None
        value = self.headers[at][1]
        if value[:7] == "Bearer " or value[:7].lower() == "bearer ":
            return value[7:].strip() or None
        return None


class Response(Message, frozen=True, omit_defaults=True, dict=True, kw_only=True):
    status: int


class Plain(msgspec.Struct, frozen=True, omit_defaults=True):
    """The decrypted bodies of an encrypted exchange, where the recorder had the keys."""

    request: Json = ABSENT
    response: Json = ABSENT


NO_ENVELOPE: Mapping[str, Json] = MappingProxyType({})


class Exchange(msgspec.Struct, frozen=True, omit_defaults=True, dict=True, kw_only=True):
    """One line of a capture. ``started`` is ISO 8601, on the target's clock where that can be moved.

    ``response`` is None where no answer came (``error`` says why): that is never judged as one.
    """

    n: int
    started: str
    elapsed_ms: float = 0.0
    client: str = ""
    request: Request
    response: Response | None = None
    error: str | None = None
    plain: Plain | None = None
    hidden: dict[str, Json] | None = None
    """What the recorder says of secrets that it redacted, by their placeholders."""
    held_back: bool = False
    """Whether a limiter gave the answer: a request that has nothing in common with this one got the same."""

    @fact
    def time(self) -> float:
        """``started`` in epoch seconds."""
        return datetime.fromisoformat(self.started).timestamp()

    @property
    def status(self) -> int | None:
        return None if self.response is None else self.response.status

    @fact
    def envelope(self) -> dict[str, Json] | None:
        """The answer's body where it is a JSON object (decrypted where it was encrypted), else None."""
        response, plain = self.response, self.plain
        if response is None:
            return None
        if plain is not None and plain.response is not ABSENT:
            body = plain.response
        else:
            body = response.body
            if type(body) is dict and response.form is None:
                return body
            body = response.json
        return body if isinstance(body, dict) else None

    @fact
    def success(self) -> bool:
        """Whether the envelope says success: judged by ``success`` alone."""
        envelope = self.envelope
        return envelope is not None and envelope.get("success") is True

    @fact
    def code(self) -> str | None:
        envelope = self.envelope
        code = None if envelope is None else envelope.get("code")
        return code if isinstance(code, str) else None

    @fact
    def data(self) -> Json:
        """The envelope's ``data``; None where it is null, left out, or there is no envelope."""
        envelope = self.envelope
        return None if envelope is None else envelope.get("data")

    @fact
    def is_sealed(self) -> bool:
        """Whether the answer is encrypted and the record lacks its plaintext: nothing follows from it."""
        if self.response is None or SECURE_SESSION not in self.request.layout:
            return False
        if self.plain is not None and self.plain.response is not ABSENT:
            return False
        body = self.response.json
        if isinstance(body, str):
            with suppress(msgspec.DecodeError):
                body = msgspec.json.decode(body)
        return isinstance(body, dict) and body.keys() == {"v", "p"}

    @fact
    def coded(self) -> list[tuple[str, dict[str, Json]]]:
        """Every enumeration object in ``data``, with the name of the coded field it stands in."""
        entries: list[tuple[str, dict[str, Json]]] = []
        _coded(self.data, "", entries)
        return entries

    @fact
    def coded_by_field(self) -> dict[str, list[dict[str, Json]]]:
        """Enumerated values grouped by field name, in document order."""
        fields: dict[str, list[dict[str, Json]]] = {}
        for name, entry in self.coded:
            fields.setdefault(name, []).append(entry)
        return fields

    def path_to(self, value: Json) -> str:
        """The place of a value in ``data``, found by identity."""
        return next(_paths(self.data, value, "data"), "data")

    @fact
    def sent(self) -> Json:
        """The request's JSON body, decrypted where it was encrypted, or ABSENT."""
        if self.plain is not None and self.plain.request is not ABSENT:
            return self.plain.request
        return self.request.json

    def at(self, path: str) -> Json:
        """The value at a place: ``status``, ``headers.NAME`` or a path such as ``data.items[0].bizId``."""
        names = _NAMES_IN_ENVELOPE[path]
        if names is None:
            return self._elsewhere(path)
        value: Json = self.envelope
        try:
            for name in names:
                value = value[name]
        except (KeyError, TypeError):
            return ABSENT
        return value

    def _elsewhere(self, path: str) -> Json:
        """The status, the value of a header, or what a path with indexes leads to."""
        if path != "status" and not path.startswith("headers."):
            return dig(self.envelope, steps(path))
        if self.response is None:
            return ABSENT
        if path == "status":
            return self.response.status
        header = self.response.header(path.removeprefix("headers."))
        return ABSENT if header is None else header


def _coded(value: Json, name: str, entries: list[tuple[str, dict[str, Json]]]) -> None:
    """Collects the enumeration objects of a value and of all within it, those above before those below."""
    if type(value) is dict:
        if (
            name in CODED_FIELDS
            and type(value.get("code")) is str
            and type(value.get("value")) in (int, float)
        ):
            entries.append((name, value))
            if len(value) == 3 and type(value.get("label")) is str:
                return  # it holds nothing else
        for field, inner in value.items():
            kind = type(inner)
            if kind is not str and (kind is dict or kind is list):
                _coded(inner, field, entries)
    elif type(value) is list:
        for inner in value:
            _coded(inner, name, entries)


def _paths(value: Json, wanted: Json, path: str) -> Iterator[str]:
    if value is wanted:
        yield path
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _paths(inner, wanted, f"{path}.{name}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _paths(inner, wanted, f"{path}[{index}]")


_USUAL_ORIGIN = re.compile(r"(https?)://([\w.-]+(?::\d+)?)", re.ASCII)


@lru_cache(maxsize=512)
def placed(method: str, url: str) -> tuple[Operation | None, SplitResult, str | None]:
    """The operation of a request, the parts of its URL, and its key, as ``Request.operation_key``."""
    parts = _split(url)
    row = operation_of.__wrapped__(method, parts.path)
    if row is not None:
        return row, parts, row.key
    return None, parts, UNDESCRIBED if op.PORTAL_PATH in parts.path else None


def split_url(url: str) -> SplitResult:
    """The parts of a URL that a client or a portal sent; what is none, as ``http://[``, is a path."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")


def named(method: str, url: str) -> str:
    """A request in few words, ``GET https://portal.example.test/assets/…``: without the query, what stands
    before the host, and the path behind its first part, which may be secret."""
    parts = split_url(url)
    first, slash, rest = parts.path.lstrip("/").partition("/")
    shown = parts._replace(
        netloc=parts.netloc.rpartition("@")[2],
        path=f"/{first}{slash}{'…' * bool(rest)}",
        query="",
        fragment="",
    )
    return f"{method} {shown.geturl()[:LONGEST_NAME]}".strip()


LONGEST_NAME = 160
"""Letters of the address in the name of a request."""


def _split(url: str) -> SplitResult:
    at = url.find("/", len("https://") if url.startswith("https") else len("http://"))
    origin = _origin(url[:at]) if at > 0 else None
    if origin is None or "#" in url or not (url.isascii() and url.isprintable()):
        return split_url(url)
    path, _, query = url[at:].partition("?")
    return SplitResult(*origin, path, query, "")


@lru_cache(maxsize=64)
def _origin(text: str) -> tuple[str, str] | None:
    """Scheme and host of an origin as it is usually written; None of another."""
    usual = _USUAL_ORIGIN.fullmatch(text)
    return None if usual is None else (usual[1], usual[2])


@lru_cache(maxsize=1024)
def parameters(query: str) -> tuple[tuple[str, str], ...]:
    """The parameters of a query in their order, decoded; a name without a value has an empty one."""
    if query and ("%" in query or "+" in query):
        return tuple(parse_qsl(query, keep_blank_values=True))
    return tuple([(part[0], part[2]) for part in [pair.partition("=") for pair in query.split("&") if pair]])


@lru_cache(maxsize=4096)
def steps(path: str) -> tuple[str | int, ...]:
    """``data.items[0].bizId`` as the keys and indexes that lead there; an empty path leads nowhere."""
    keys: list[str | int] = []
    for part in path.split(".") if path else ():
        name, *indexes = part.split("[")
        if name:
            keys.append(name)
        keys.extend(int(index.rstrip("]")) for index in indexes)
    return tuple(keys)


class _NamesInEnvelope(dict[str, tuple[str, ...] | None]):
    """By path, the fields on its way; None where it has indexes, or does not lead into the envelope."""

    def __missing__(self, path: str) -> tuple[str, ...] | None:
        is_elsewhere = path == "status" or path.startswith("headers.") or "[" in path
        if len(self) >= PATHS_KEPT:
            self.clear()
        names = self[path] = None if is_elsewhere else tuple(path.split("."))
        return names


PATHS_KEPT = 4096

_NAMES_IN_ENVELOPE = _NamesInEnvelope()


def dig(value: Json, path: Iterable[str | int]) -> Json:
    """Follows keys and indexes into a JSON value; ABSENT where the way ends early."""
    for step in path:
        if isinstance(value, dict):
            value = value.get(step, ABSENT)
            if value is ABSENT:
                return ABSENT
        elif isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
            value = value[step]
        else:
            return ABSENT
    return value
