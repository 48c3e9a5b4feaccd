"""Which values of an exchange are secrets: known by the place where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import parse_qsl

from conformance.traffic.capture.bodies import PACKED_JSON, packed_json_in
from conformance.traffic.exchange import Exchange, Json, Message, split_url
from conformance.traffic.facts import called, fact
from conformance.traffic.values import REDACTED, is_redacted

HEADERS = {
    "x-portal-access-code": "access-code",
    "proxy-authorization": "authorization",
    "x-api-key": "token",
    "x-turnstile-token": "bot-token",
    "cf-turnstile-response": "bot-token",
}
FIELDS = {
    "accesstoken": "token",
    "refreshtoken": "refresh-token",
    "idtoken": "token",
    "turnstiletoken": "bot-token",
    "otpauth": "secret",
    "otpauthurl": "secret",
    "otpauthuri": "secret",
    "backupcodes": "backup-code",
    "recoverycodes": "backup-code",
    "privatekey": "key",
    "aeskey": "key",
    "requestkey": "key",
    "responsekey": "key",
    "reqkey": "key",
    "respkey": "key",
}
ENDINGS = {
    "password": "password",
    "passphrase": "password",
    "secret": "secret",
    "secretkey": "secret",
    "seed": "secret",
    "apikey": "token",
    "token": "token",
}
CODES = (
    "/login/complete",
    "/otp/verify",
    "/otp/revoke",
    "/password/reset",
    "/password/init",
    "/password/change",
)
"""Where a request's ``code`` is a secret: an answer's ``code`` never is one."""
CODE_NAMES = frozenset({"code", "otp", "totp", "otpcode"})
"""Fields that hold a code on these paths."""

MASKED = re.compile(r"[*•●.·]+\Z|\[[a-z-]+-\d+\]\Z")


BACKUP_CODES = "/backup-codes/generate"
BACKUP_CODE = re.compile(r"(?=.*\d)[A-Za-z0-9-]{6,40}\Z")
"""How a backup code looks among other things in an answer whose form is not shown (N5)."""

BETWEEN_CODES = re.compile(r"[^A-Za-z0-9-]+")

BETWEEN_COOKIES = re.compile(r"\n|,\s*(?=[^\s;,=]+=)")
"""Where a tool joins several ``Set-Cookie`` to one."""

CODE_LETTERS = re.compile(r"[A-Za-z0-9-]{6,40}\Z")


def secrets_in(exchange: Exchange) -> Iterator[tuple[str, str]]:
    """The secrets that an exchange shows by their place, as (value, kind).

    Not among them: ids of login sessions and secure channels (of no use without what is taken out here, and
    needed to follow the traffic), ``encReqKey`` and ``encRespKey``, which are ciphertext, and the
    placeholders of what was taken out before.
    """
    yield from _shown_secrets(exchange)


@called
@fact
def _shown_secrets(exchange: Exchange) -> tuple[tuple[str, str], ...]:
    """The same, computed once: the transport, the writer of the record and a recorder ask for it."""
    return tuple(pair for pair in dict.fromkeys(_secrets_in(exchange)) if not is_redacted(pair[0]))


def _secrets_in(exchange: Exchange) -> Iterator[tuple[str, str]]:
    request, response, plain = exchange.request, exchange.response, exchange.plain
    path = request.path.rstrip("/")
    takes_code = path.endswith(CODES)
    yield from _in_headers(request)
    yield from _in_query(request.url)
    yield from _in_json(request.json, takes_code=takes_code)
    if response is not None:
        yield from _in_headers(response)
        yield from _in_json(response.json, takes_code=False)
        if path.endswith(BACKUP_CODES) and exchange.success:
            yield from _backup_codes(exchange.data)
    if plain is not None:
        yield from _in_json(plain.request, takes_code=takes_code)
        yield from _in_json(plain.response, takes_code=False)


def names_a_secret(name: str) -> bool:
    """Whether what stands in JSON under a name of this kind is a secret, wherever it is."""
    return _kind(_plain(name)) is not None


_OPENINGS = ("{", "[", *PACKED_JSON)
"""How a text begins that is JSON itself, or is packed JSON."""


def _backup_codes(data: Json) -> Iterator[tuple[str, str]]:
    """The texts in arrays that look like codes, several codes in one text, and several fields of the same
    length: the form of the answer is not shown."""
    if isinstance(data, dict):
        fields = [value for value in data.values() if isinstance(value, str)]
        yield from ((value, "backup-code") for value in fields if _are_codes(fields))
        for inner in data.values():
            yield from _backup_codes(inner)
    elif isinstance(data, str):
        words = [word for word in BETWEEN_CODES.split(REDACTED.sub(" ", data)) if CODE_LETTERS.match(word)]
        codes = words if _are_codes(words) else [word for word in words if BACKUP_CODE.match(word)]
        yield from ((code, "backup-code") for code in codes if len(codes) > 2)
    elif isinstance(data, list):
        texts = [pair for item in data for pair in _texts(item, "backup-code")]
        are_alike = _are_codes([value for value, _ in texts])
        yield from ((value, kind) for value, kind in texts if are_alike or BACKUP_CODE.match(value))


def _are_codes(values: list[str]) -> bool:
    """Whether texts clearly form a set of codes, even with digitless ones: equal length, no blanks."""
    lengths = {len(value) for value in values}
    return len(values) > 2 and len(lengths) == 1 and all(CODE_LETTERS.match(value) for value in values)


def _in_headers(message: Message) -> Iterator[tuple[str, str]]:
    for name, value in message.headers:
        lower = name.lower()
        if lower == "authorization":
            scheme, _, credentials = value.partition(" ")
            yield (credentials.strip(), "token") if credentials.strip() else (scheme, "token")
        elif lower == "cookie":
            for pair in value.split(";"):
                yield pair.partition("=")[2].strip(), "cookie"
        elif lower == "set-cookie":
            for cookie in BETWEEN_COOKIES.split(value):
                yield cookie.partition(";")[0].partition("=")[2].strip(), "cookie"
        elif lower in HEADERS:
            yield value, HEADERS[lower]


def _in_query(url: str) -> Iterator[tuple[str, str]]:
    query = url.partition("?")[2]
    if query and _may_hold_secrets(tuple([pair.partition("=")[0] for pair in query.split("&")])):
        for name, value in parse_qsl(split_url(url).query):
            kind = _kind(_plain(name))
            if kind is not None:
                yield value, kind


@lru_cache(maxsize=1024)
def _may_hold_secrets(names: tuple[str, ...]) -> bool:
    """Whether a query with such names, still encoded, has to be looked at."""
    return any("%" in name or "+" in name or _kind(_plain(name.partition("#")[0])) for name in names)


@lru_cache(maxsize=8192)
def _kind_named(name: str, takes_code: bool) -> str | None:
    """The kind of secret that a field of this name holds; None where it holds none."""
    lower = _plain(name)
    return "code" if takes_code and lower in CODE_NAMES else _kind(lower)


def _in_json(value: Json, *, takes_code: bool) -> Iterator[tuple[str, str]]:
    """The secrets in a JSON value, and in the JSON that texts in it hold."""
    if type(value) is list:
        for inner in filter(_holds_more, value):
            yield from _in_json(inner, takes_code=takes_code)
    elif type(value) is dict:
        for name, inner in value.items():
            kind = _kind_named(name, takes_code)
            if kind is not None:
                yield from _texts(inner, kind)
            elif _holds_more(inner):
                yield from _in_json(inner, takes_code=takes_code)
    elif type(value) is str:
        yield from _in_json(packed_json_in(value), takes_code=takes_code)


def _holds_more(value: Json) -> bool:
    """Whether there may be anything in a JSON value beside itself."""
    kind = type(value)
    return kind is dict or kind is list or (kind is str and value.startswith(_OPENINGS))


@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


@lru_cache(maxsize=4096)
def _kind(name: str) -> str | None:
    return FIELDS.get(name) or next((kind for ending, kind in ENDINGS.items() if name.endswith(ending)), None)


def _texts(value: Json, kind: str) -> Iterator[tuple[str, str]]:
    """Every text and number in a value; of an ``otpauth:`` address its secret as well. Masked ones hide
    themselves."""
    if isinstance(value, list):
        for inner in value:
            yield from _texts(inner, kind)
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner, kind)
    elif isinstance(value, int) and not isinstance(value, bool) and value > 999:
        yield str(value), kind
    elif isinstance(value, str) and not MASKED.match(value):
        yield value, kind
        if value.startswith("otpauth:"):
            yield from (
                (secret, "secret") for name, secret in parse_qsl(split_url(value).query) if name == "secret"
            )
