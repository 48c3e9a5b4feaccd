"""Encodings of a secret (JSON, URL, hex, base64), and containers in a text: JSON, forms, URLs, multipart."""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from itertools import islice
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from conformance.traffic.exchange import Json

ALIGNED_SHORTEST = 6
"""Fewer characters of base64 than this stand in a longer block by chance."""


UNESCAPED = re.compile(rb"[A-Za-z0-9_.~-]*")
"""What nothing escapes or encodes in a text, as most tokens are."""


def texts(value: bytes) -> set[str]:
    """The text itself, escaped for JSON once and twice, and encoded for URLs as the usual libraries do."""
    try:
        plain = value.decode(errors="surrogatepass")
    except UnicodeDecodeError:
        return set()
    forms = {plain}
    if UNESCAPED.fullmatch(value):
        return forms
    for ascii_only in (True, False):
        once = json.dumps(plain, ensure_ascii=ascii_only)[1:-1]
        forms |= {once, json.dumps(once, ensure_ascii=ascii_only)[1:-1], once.replace("/", "\\/")}
    for safe in ("", "/", "!'()*~", "!$&'()*+,;=:@/?"):
        forms |= _both_cases(quote(value, safe=safe))
    return forms | _both_cases(quote_plus(value))


def blocks(value: bytes) -> set[str]:
    """In hex, and in base64 of both alphabets: whole, and what is fixed wherever it begins in a block."""
    forms = {value.hex(), value.hex().upper()}
    for encode in (b64encode, urlsafe_b64encode):
        whole = encode(value).decode()
        forms |= {whole, whole.rstrip("="), *_cores(value, encode)}
    for form in [form for form in forms if "/" in form or "+" in form or "=" in form]:
        forms |= {form.replace("/", "\\/"), *_both_cases(quote(form, safe=""))}
    return forms


def _both_cases(encoded: str) -> set[str]:
    head, *rest = encoded.split("%")
    return {encoded, "%".join((head, *(part[:2].lower() + part[2:] for part in rest)))}


def _cores(value: bytes, encode: Callable[[bytes], bytes]) -> Iterator[str]:
    for shift in range(3):
        first = -(-shift * 8 // 6)
        last = (shift + len(value)) * 8 // 6
        if last - first >= ALIGNED_SHORTEST:
            yield encode(bytes(shift) + value).decode()[first:last]


MOST_CHARACTERS = 200_000
"""Characters of a text that are read for what is packed into it."""

MOST_PACKED_VALUES = 2_000
"""Values that are taken from one text."""

URL = re.compile(r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,20}://[^\s\"'<>]+")
PARAMETER = re.compile(
    r"(?<![\w.-])([A-Za-z][\w.-]{0,63})\s?=\s?(?:\"([^\"]*)\"|'([^']*)'|([^\s\"',;&<>=]+))"
)
ELEMENT = re.compile(r"<(?:[\w-]{1,63}:)?([A-Za-z][\w.-]{0,63})(?:\s[^<>]{0,500})?>([^<>]+)</")
NAMED = re.compile(
    r"\b(?:name|id|key|property)=[\"']([^\"'<>]{1,63})[\"'][^<>]{0,300}?\b(?:content|value)=[\"']([^\"'<>]*)"
)
PART = re.compile(
    r"\bname=\"([^\"\r\n]{1,63})\"[^\r\n]{0,200}\r?\n(?:[^\r\n]{1,500}\r?\n){0,10}\r?\n(.*?)(?=\r?\n--|\Z)",
    re.DOTALL,
)
"""Each reads a text once: no part of it may be long and begin anywhere."""

MEMBER = re.compile(r"[\"']([A-Za-z][\w.-]{0,63})\\*[\"']\s?:\s?\\*[\"']([^\"'\\]+)")
"""A member of an object in a text that is not JSON as a whole: a line of a log."""

JWT = re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}")

SHORTEST_LINE = 16
PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(.*?)(?:-----END|\Z)", re.DOTALL)

OPENINGS = frozenset("{[<-")
MARKS = ("=", "://", "eyJ", '":', "':", "%7B", "\0W3", *(f"\0{opening}" for opening in OPENINGS))
"""What stands in texts that hold pairs, or that are JSON, elements or keys."""

Pair = tuple[str, str]


def may_hold_pairs(text: str) -> bool:
    """Whether there may be anything in a text, or in texts between zero bytes, beside themselves."""
    return text[:1] in OPENINGS or any(mark in text for mark in MARKS)


def survey(value: Json, texts: list[str], names: set[str]) -> None:
    kind = type(value)
    if kind is dict:
        names.update(value)
        value = value.values()
    elif kind is not list:
        texts.extend([value] if kind is str else ())
        return
    for inner in value:
        kind = type(inner)
        if kind is str:
            texts.append(inner)
        elif kind is dict or kind is list:
            survey(inner, texts, names)


def pairs_in(text: str) -> Iterator[Pair]:
    """The names and values that a text holds beside its JSON, with what is encoded for URLs decoded."""
    return islice(_pairs(text[:MOST_CHARACTERS]), MOST_PACKED_VALUES)


def _pairs(text: str) -> Iterator[Pair]:
    yield from (("jwt", match[0]) for match in JWT.finditer(text))
    if ":" in text:
        yield from ((match[1], match[2]) for match in MEMBER.finditer(text))
    if "://" in text:
        for match in URL.finditer(text):
            yield from in_url(match[0])
    if text.startswith("/") and "=" in text:
        yield from in_url(text)
    if "<" in text:
        yield from ((match[1], match[2].strip()) for match in ELEMENT.finditer(text))
        yield from ((match[1], match[2]) for match in NAMED.finditer(text))
    if "name=" in text and "\n" in text:
        yield from ((match[1], match[2]) for match in PART.finditer(text))
    if "=" in text:
        yield from (
            (match[1], unquote(match[2] or match[3] or match[4] or "")) for match in PARAMETER.finditer(text)
        )


def in_url(url: str) -> Iterator[Pair]:
    """The parameters of a URL's query and fragment, and its password."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return
    if "@" in parts.netloc:
        password = parts.netloc.rpartition("@")[0].partition(":")[2]
        yield "password", unquote(password)
    for encoded in (parts.query, parts.fragment):
        if "=" in encoded:
            yield from parse_qsl(encoded)


def key_lines(text: str) -> Iterator[str]:
    """The lines of private keys in a text, in PEM; also where the ends of lines are escaped."""
    for match in PRIVATE_KEY.finditer(text):
        yield from (line for line in re.split(r"\s+|\\[rn]", match[1]) if len(line) >= SHORTEST_LINE)
