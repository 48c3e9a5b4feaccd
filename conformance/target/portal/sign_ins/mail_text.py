"""The messages that an inbox answers with, as a person reads them: decoded, and without markup."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from email import message_from_string
from email.message import EmailMessage
from email.policy import default
from html.parser import HTMLParser
from typing import cast

from conformance.traffic.exchange import Json
from conformance.traffic.redaction.names import kind_of_name, words_of

MARKUP = re.compile(r"</?[a-z!][^>]*>", re.IGNORECASE)
SOURCE = re.compile(
    r"(?:[\w-]+:.*\r?\n(?:[ \t].*\r?\n)*)*?"
    r"(?:content-type|mime-version|message-id|received|return-path|delivered-to):",
    re.IGNORECASE,
)
"""How the source of a mail begins: header fields, one of which nothing but a mail has."""
UNSEEN = frozenset({"script", "style", "title", "template", "noscript"})
INLINE = frozenset({"a", "b", "big", "code", "em", "font", "i", "small", "span", "strong", "tt", "u"})
"""Elements that do not end a word."""
ABOUT = (("id",), ("size",), ("length",), ("count",))
"""Last words of names under which digits are no code."""


def messages(answer: str) -> list[str]:
    """Texts of the messages, in the answer's order. A JSON answer holds messages as list items; another
    answer is one message."""
    try:
        value = json.loads(answer)
    except ValueError:
        return [visible(answer)]
    return ["\n".join(_texts(message)) for message in _listed(value)]


def visible(text: str) -> str:
    """A part of a mail as it is displayed: decoded where it is the source of a mail, HTML without markup."""
    if SOURCE.match(text):
        return _decoded(text)
    if not MARKUP.search(text):
        return text
    page = _Page()
    page.feed(text)
    page.close()
    return "".join(page.texts)


def _listed(value: Json) -> list[Json]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        lists = (inner for inner in value.values() if isinstance(inner, list) and inner)
        return next((inner for inner in lists if isinstance(inner[0], dict)), [value])
    return [value]


def _texts(value: Json) -> Iterator[str]:
    """The texts of a message, value by value, so that no escape hides where a word ends."""
    if isinstance(value, dict):
        source = _source(value)
        if source:
            yield _decoded(source)
        for name, inner in value.items():
            if (not source or name.casefold() != "body") and not _is_size(name, inner):
                yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)
    elif value is not None:
        yield visible(str(value))


def _is_size(name: str, value: Json) -> bool:
    """Whether a member is a number about the message, such as its size or its id."""
    if isinstance(value, str) and value.isdecimal():
        return words_of(name)[-1:] in ABOUT
    return isinstance(value, int) and kind_of_name(name) is None


def _source(value: Mapping[str, Json]) -> str | None:
    """The source of a part of a mail that stands as its headers and its encoded body, as MailHog has it."""
    parts = {name.casefold(): inner for name, inner in value.items()}
    headers, body = parts.get("headers"), parts.get("body")
    if not isinstance(headers, dict) or not isinstance(body, str):
        return None
    fields = {
        name: (inner[0] if isinstance(inner, list) and inner else inner)
        for name, inner in headers.items()
        if name.casefold().startswith("content-")
    }
    lines = "".join(f"{name}: {inner}\n" for name, inner in fields.items() if isinstance(inner, str))
    return f"{lines}\n{body}" if lines else None


def _decoded(source: str) -> str:
    """The subject and the texts of a mail."""
    mail = message_from_string(source, policy=default)
    parts = [
        part for part in mail.walk() if part.get_content_maintype() == "text" and not part.get_filename()
    ]
    texts = [visible(_content(part)) for part in parts]
    return "\n".join([str(mail.get("Subject", "")), *texts])


def _content(part: EmailMessage) -> str:
    try:
        return str(part.get_content())
    except (LookupError, ValueError):  # of a charset that Python does not know
        return bytes(cast(bytes, part.get_payload(decode=True))).decode(errors="replace")


class _Page(HTMLParser):
    """The texts of a page that a browser displays."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self._unseen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unseen += tag in UNSEEN
        self._end_word(tag)

    def handle_endtag(self, tag: str) -> None:
        self._unseen -= tag in UNSEEN and self._unseen > 0
        self._end_word(tag)

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self.texts.append(data)

    def _end_word(self, tag: str) -> None:
        if tag not in INLINE:
            self.texts.append("\n")


LONGEST_WORD = 15
"""Letters of a word; what is longer may be a token."""

SHOWN_CHARACTERS = 160

LINK = re.compile(r"\w+://\S+|www\.\S+", re.IGNORECASE)
ADDRESS = re.compile(r"\S+@\S+")


def mail_shape(text: str) -> str:
    """The beginning of a mail in a line: ``Your code is: 000000``. A word that stands alone, or behind a
    colon, is masked whatever it is."""
    lines = (_masked_line(line) for line in text.splitlines() if line.strip())
    shape = " ".join(lines)
    return shape if len(shape) <= SHOWN_CHARACTERS else f"{shape[:SHOWN_CHARACTERS].rstrip()}…"


def _masked_line(line: str) -> str:
    words = ADDRESS.sub("‹address›", LINK.sub("‹link›", line)).split()
    is_alone = len(words) == 1
    before = ["", *words]
    return " ".join(
        _masked(word) if is_alone or previous.endswith(":") or _may_be_a_code(word) else word
        for previous, word in zip(before, words, strict=False)
    )


def _may_be_a_code(word: str) -> bool:
    """Whether a word has a digit, no small letter, or more letters than a word."""
    return (
        any(letter.isdigit() for letter in word)
        or not any(letter.islower() for letter in word)
        or len(word) > LONGEST_WORD
    )


def _masked(word: str) -> str:
    if word in ("‹link›", "‹address›"):
        return word
    return "".join(map(_mask, word))


def _mask(letter: str) -> str:
    if letter.isdigit():
        return "0"
    if not letter.isalpha():
        return letter
    return "X" if letter.isupper() else "x"
