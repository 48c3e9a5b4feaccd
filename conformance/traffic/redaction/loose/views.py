"""What a body that is no JSON says: its text, and that under what it is encoded in."""

from __future__ import annotations

import html
import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import unquote, unquote_plus

from conformance.traffic.exchange import Exchange, Json, Message

MOST_VIEWS = 12
"""Readings of one text that are looked at."""

LONGEST = 1_000_000
"""Characters of a text up to which encodings are undone."""

LONGEST_BLOCKS = 200_000
"""Characters of a text in which base64 is looked for."""

MOST_BLOCKS = 20
"""Blocks of base64 that are read in one text."""

ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
LETTERS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
PERCENT = re.compile(r"%(?:25)*[0-9A-Fa-f]{2}")
ENTITY = re.compile(r"&(?:#\d{1,6}|#x[0-9A-Fa-f]{1,6}|quot|apos|lt|gt|amp);")
BLOCK = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{12,}={0,2}")
BLANKS = re.compile(r"\s+")
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd]")
WIDE = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def is_loose(message: Message) -> bool:
    """Whether a message has a body that is no JSON object, no list and no number."""
    body = message.body
    if type(body) is str:
        return True
    return type(body) is dict and (len(body) == 1 or message.form is not None) and message.state != "json"


def holds_loose_body(exchange: Exchange) -> bool:
    """Whether a message of an exchange has such a body."""
    response = exchange.response
    return is_loose(exchange.request) or (response is not None and is_loose(response))


def texts_in(message: Message) -> tuple[str, ...]:
    """The text of such a body in all its readings, the plainest first; none where it is none at all."""
    if not is_loose(message):
        return ()
    held: Json = message.body
    if isinstance(held, str):
        return readings(held)
    if isinstance(held.get("text"), str):
        return readings(held["text"])
    if not isinstance(held.get("base64"), str):
        return ()
    try:
        text = decoded(b64decode(f"{held['base64'].rstrip('=')}=="))
    except ValueError:
        text = None
    return () if text is None else readings(text)


def readings(text: str) -> tuple[str, ...]:
    """A text, and what it says where escapes, percent signs, entities or base64 in it are undone."""
    texts = dict.fromkeys([text])
    if len(text) > LONGEST:
        return (text,)
    for at in range(MOST_VIEWS):
        if at == len(texts):
            break
        for further in _undone(list(texts)[at]):
            if len(texts) < MOST_VIEWS:
                texts.setdefault(further)
    return tuple(texts)


def decoded(raw: bytes) -> str | None:
    """Bytes as a text in one of the usual encodings; None where they are none."""
    for mark, encoding in WIDE.items():
        if raw.startswith(mark):
            with suppress(UnicodeDecodeError):
                return raw[: len(raw) // 2 * 2].decode(encoding)
    if raw.count(0) * 3 > len(raw):
        encoding = "utf-16-le" if raw[1:2] == b"\0" else "utf-16-be"
        with suppress(UnicodeDecodeError):
            return raw[: len(raw) // 2 * 2].decode(encoding)
    text = raw.decode("utf-8", "replace")
    if text.count("\ufffd") > len(text) // 50:
        text = raw.decode("latin-1")
    return text if len(CONTROL.findall(text)) * 20 <= len(text) else None


def _undone(text: str) -> Iterator[str]:
    """The text with one kind of encoding undone, for each kind that stands in it."""
    if "\0" in text:
        yield text.replace("\0", "")
    if "\\" in text:
        yield ESCAPE.sub(_unescaped, text)
    if "%" in text and PERCENT.search(text):
        yield unquote(text)
        if "+" in text:
            yield unquote_plus(text)
    if "&" in text and ENTITY.search(text):
        yield html.unescape(text)
    yield from _blocks(text)


def _unescaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2]
    return chr(int(digits, 16)) if digits else LETTERS.get(match[3], match[3])


def _blocks(text: str) -> Iterator[str]:
    """What stands in base64 in a text: all of it, also where it is wrapped, or single blocks."""
    text = text[:LONGEST_BLOCKS]
    whole = BLANKS.sub("", text)
    blocks = [whole] if whole != text and BLOCK.fullmatch(whole) else []
    for number, match in enumerate(BLOCK.finditer(text)):
        if number == MOST_BLOCKS:
            break
        blocks.append(match[0])
    inner = [said for block in blocks if (said := _said(block)) is not None]
    if inner:
        yield "\n".join(dict.fromkeys(inner))


def _said(block: str) -> str | None:
    padded = block.rstrip("=") + "=="
    try:
        raw = urlsafe_b64decode(padded) if "-" in block or "_" in block else b64decode(padded)
    except ValueError:
        return None
    text = decoded(raw)
    return text if text is not None and text.isascii() and re.search(r"[:=<{]", text) else None
