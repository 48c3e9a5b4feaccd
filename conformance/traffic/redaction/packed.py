"""What is packed into a text: JSON, a form, a URL, parameters of a header, parts of multipart, elements."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qsl, unquote, urlsplit

from conformance.traffic.exchange import Json

LONGEST = 200_000
"""Characters of a text that are read for what is packed into it."""

MOST = 2_000
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

SHORTEST_LINE = 16
PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----(.*?)(?:-----END|\Z)", re.DOTALL)

OPENINGS = frozenset("{[<-")
FURTHER = tuple(f"\0{opening}" for opening in OPENINGS)
"""How texts begin that are JSON, elements or keys."""

Pair = tuple[str, str]


def may_hold_pairs(text: str) -> bool:
    """Whether there may be anything in a text, or in texts between zero bytes, beside themselves."""
    return "=" in text or "://" in text or text[:1] in OPENINGS or any(each in text for each in FURTHER)


def survey(value: Json, texts: list[str], names: set[str]) -> None:
    """Adds the texts in a JSON value, and the names of all members in it."""
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


def texts_of(value: Json) -> Iterator[str]:
    """All texts in a JSON value, but for the names."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts_of(inner)
    elif isinstance(value, str):
        yield value


def pairs_in(text: str) -> Iterator[Pair]:
    """The names and values that a text holds beside its JSON, with what is encoded for URLs decoded."""
    for number, pair in enumerate(_pairs(text[:LONGEST])):
        if number == MOST:
            return
        yield pair


def _pairs(text: str) -> Iterator[Pair]:
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
