"""Names and values in a text of any syntax, also a broken one: a form, members, elements, parts, columns."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from itertools import islice

LONGEST_VALUE = 20_000
"""Characters of one value."""

MOST_PAIRS = 2_000
MOST_CHARACTERS = 1_000_000
"""Pairs of one text, and characters of their values, that are read."""

Pair = tuple[str, str]
Wants = Callable[[str], bool]

WORDS = (
    *("pass", "pwd", "pw", "secret", "seed", "token", "key", "code", "otp", "pin", "challenge", "response"),
    *("credential", "mnemonic", "phrase", "signature", "sig", "hmac", "jwt", "bearer", "auth"),
    *("csrf", "xsrf", "captcha"),
)
"""What stands in every name of a secret."""

NAME = re.compile(r"[A-Za-z_$][\w$-]{0,80}")

_GAP, _BLANKS = r"\s{0,64}", r"[ \t]{0,64}"
_SLASHES = r"\\{0,8}"
_QUOTE = rf"{_SLASHES}[\"'`]"
_MEMBER = rf"{_SLASHES}[\"']?[A-Za-z_$][\w.$-]{{0,63}}(?:\[\w*\]){{0,3}}{_SLASHES}[\"']?{_BLANKS}(?:=>|[:=])"
_CLOSED = rf"(?={_GAP}(?:[,;:}}\])&<>\r\n\\\"]|/?>|\Z)|\s{{1,64}}{_MEMBER})"
_ENDS = (
    rf"(?=&{_GAP}(?:{_MEMBER}|\Z)|[,;]{_BLANKS}(?:{_MEMBER}|\Z)"
    rf"|[,;]?{_GAP}[}}\])]{{1,9}}{_GAP}(?:[,;}}\])\r\n]|\Z)"
    r"|</?[A-Za-z][^<>]{0,200}>|[\r\n]|\Z)"
)

SEPARATOR = re.compile(
    rf"(?:{_QUOTE})?(?:\]|\[\w*\]){{0,3}}{_BLANKS}(?:{_QUOTE})?{_GAP}(?:[=-]>|:=|=(?!=)|:(?!//)){_BLANKS}"
    rf"(?:/\*[^*]{{0,200}}\*/{_BLANKS})?"
)
PLACEHOLDER = re.compile(rf"{_GAP}\[[a-z-]+-\d+\](?=[\s\\\"'`,;&<>)}}\]]|\Z)")
QUOTED = re.compile(
    rf"{_GAP}({_SLASHES})(\"\"\"|\'\'\'|[\"'`])((?:[^\\\"'`]++|(?!\1\2{_CLOSED})(?:\\.|.))*)", re.DOTALL
)
BLOCK = re.compile(r"[|>][+-]?\d?[ \t]*\r?\n((?:[ \t]+[^\r\n]*(?:\r?\n|\Z)|\r?\n)+)")
ITEMS = re.compile(r"\r?\n((?:[ \t]*-[ \t]+[^\r\n]+(?:\r?\n|\Z))+)")
BRACKETS = re.compile(rf"{_GAP}[\[{{(]")
BARE = re.compile(rf"((?:[^&,;}}\])\s<]++|(?!{_ENDS}).)+)")
INNER = re.compile(r"\"((?:\\.|[^\"\\])*)\"|'((?:\\.|[^'\\])*)'|([^\s,\[\]{}()\"':=]+)")
SCHEME = re.compile(r"(?:Bearer|Basic|Token)\s+(?=\S)", re.IGNORECASE)

OPEN_TAG = re.compile(r"<(?:[\w-]{1,63}:)?\Z")
ATTRIBUTE = re.compile(rf"\b(?:name|key|id|property|field){_GAP}={_GAP}[\"']?\Z", re.IGNORECASE)
VALUE = re.compile(rf"\b(?:value|content){_GAP}={_GAP}(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"']+))", re.IGNORECASE)
TAG = re.compile(r"<!\[CDATA\[|\]\]>|<[^<>]*>")
PART = re.compile(
    r"[\"']?[^\r\n<>]{0,500}\r?\n(?:[^\r\n]{1,1000}\r?\n){0,10}\r?\n(.*?)(?=\r?\n--|\Z)", re.DOTALL
)
AFTER_TAGS = re.compile(rf"</[\w:-]{{1,63}}>{_GAP}(?:<[^<>/]{{0,200}}>{_GAP}){{1,3}}([^<]+)")
SERIAL = re.compile(rf"{_SLASHES}\";s:\d+:{_SLASHES}\"(.*?){_SLASHES}\";", re.DOTALL)
LISTED = re.compile(rf"{_QUOTE}{_GAP},(?={_GAP}{_QUOTE})")
SPACED = re.compile(r"[ \t]{1,64}(?=[\"'])")
OPTION = re.compile(r"[ \t]{1,64}(?=[^\s-])")

TELLING = re.compile(
    r"(?=.*\d)\S{4,}\Z|[^\s\"'<>(){}]{16,}\Z|(?=(?:.*-)?[b-df-hj-np-tv-xz]{4,}(?:-|\Z))[a-z-]{4,}\Z",
    re.IGNORECASE,
)
"""What is no word of a sentence: it has digits, is long, or has no vowels."""


def pairs_in(text: str, wants: Wants, *, is_sent: bool) -> Iterator[Pair]:
    """What stands behind the wanted names. What a client did not send, and is no data, may be a page or a
    message: a word behind a colon is one of its sentence there."""
    if not _may_be_wanted.__wrapped__(text):
        return
    is_data = is_sent or _is_data(text)
    number = characters = at = 0
    for name, start, end in _names(text, wants):
        if start < at:
            continue
        values, stop = _values(text, start, end)
        characters += stop - end if values else 0
        is_member = is_data and _is_member(text, start, end)
        for value in values:
            number, characters = number + 1, characters + len(value)
            if value and (is_member or TELLING.match(value)):
                yield name, value
                at = stop
        if number > MOST_PAIRS or characters > MOST_CHARACTERS:
            return
    yield from _columns(text, wants)


def _names(text: str, wants: Wants) -> Iterator[tuple[str, int, int]]:
    """The wanted names in a text, and where each begins and ends."""
    for match in NAME.finditer(text):
        name = match[0].rstrip("-")
        if _may_be_wanted(name) and wants(name):
            yield name, match.start(), match.start() + len(name)


@lru_cache(maxsize=8192)
def _may_be_wanted(name: str) -> bool:
    lower = name.lower()
    return any(word in lower for word in WORDS)


def _is_data(text: str) -> bool:
    """Whether a text is data that a program reads: JSON, if broken, a form, parts, XML that is no page."""
    begin = text[:1000].lstrip("\ufeff \t\r\n").lower()
    if begin[:1] in ("{", "[", '"', "'"):
        return True
    if begin.startswith("<"):
        return "html" not in begin
    if re.match(r"--\w|[aOs]:\d+:", begin):
        return True
    return "=" in begin and not re.search(r"\s", text.strip())


def _is_member(text: str, start: int, end: int) -> bool:
    """Whether a name begins a member, an element or a line, and is no word of a sentence before a colon."""
    line = text[max(0, start - 200) : start].rpartition("\n")[2]
    before = line.rstrip("\\\"'` \t-\ufeff\r")
    if not before or before[-1] in "{,;&?([<>|:#=/" or line[-1:] in ('"', "'", "`", "."):
        return True
    return text[end : end + 2].lstrip("\"'] ")[:1] == "="


def _values(text: str, start: int, end: int) -> tuple[list[str], int]:
    """The values behind a name, and where what was read ends."""
    before = text[max(0, start - 80) : start]
    if OPEN_TAG.search(before):
        return _in_element(text, start, end)
    if ATTRIBUTE.search(before) and (found := _of_attribute(text, start, end))[0]:
        return found
    if text.startswith("</", end) and (match := AFTER_TAGS.match(text, end, end + LONGEST_VALUE)):
        return [match[1].strip()], end
    serial = SERIAL.match(text, end, end + LONGEST_VALUE)
    if serial:
        return [serial[1]], serial.end()
    separator = SEPARATOR.match(text, end) or _odd_separator(text, before, end)
    return ([], end) if separator is None else _behind(text, separator.end())


def _odd_separator(text: str, before: str, end: int) -> re.Match[str] | None:
    """What stands between a name and its value where it is neither a colon nor an equals sign."""
    if re.search(r"[\[(]\s*\\*[\"'`]\Z", before):
        return LISTED.match(text, end)
    if before.endswith((":", "(")):
        return SPACED.match(text, end)
    return OPTION.match(text, end) if re.search(r"(?:\s|\A|[\"'])--\Z", before) else None


def _behind(text: str, at: int) -> tuple[list[str], int]:
    """The value that begins somewhere: in quotes, a list, some lines, or as far as it goes."""
    placed = PLACEHOLDER.match(text, at)
    if placed:
        return [], placed.end()
    quoted = QUOTED.match(text, at, at + LONGEST_VALUE)
    if quoted:
        return _unescaped(quoted[3]), quoted.end()
    lines = BLOCK.match(text, at, at + LONGEST_VALUE) or ITEMS.match(text, at, at + LONGEST_VALUE)
    if lines:
        return [_bare(line) for line in lines[1].splitlines()], lines.end()
    if BRACKETS.match(text, at):
        return _in_brackets(text, at)
    bare = BARE.match(text, at, at + LONGEST_VALUE)
    if bare is None or re.match(r"</?[A-Za-z!]", bare[1]):
        return [], at
    value = bare[1].strip()
    scheme = SCHEME.match(value)
    return _spoken(value[scheme.end() :] if scheme else value), bare.end()


def _spoken(value: str) -> list[str]:
    """A value as it stands, without what may close it."""
    closed = value.rstrip("\"'`,;)}] \\")
    return [value, closed] if closed and closed != value else [value]


def _bare(line: str) -> str:
    return re.sub(r"\A\s*-\s+", "", line).strip().strip("\"'")


def _unescaped(value: str) -> list[str]:
    """A quoted value as it stands, and as JSON reads it."""
    if "\\" not in value:
        return [value]
    try:
        return [value, json.loads(f'"{value}"')]
    except ValueError:
        return [value]


def _in_brackets(text: str, at: int) -> tuple[list[str], int]:
    """The texts and numbers in a list or an object, without the names of its members. A list of nothing has
    one of no characters, which counts."""
    stop, depth = min(len(text), at + LONGEST_VALUE), 0
    for match in re.finditer(r"[\[{(]|[\]})]", text[at:stop]):
        depth += 1 if match[0] in "[{(" else -1
        if depth == 0:
            stop = at + match.end()
            break
    values = [""]
    for match in INNER.finditer(text, at, stop):
        if not re.match(r"\s*[:=]", text[match.end() : match.end() + 8]):
            values.append(match[1] or match[2] or match[3] or "")
    return values, stop


def _in_element(text: str, start: int, end: int) -> tuple[list[str], int]:
    """The content of an element, and its attribute ``value``."""
    tag = re.compile(r"[^<>]{0,500}>").match(text, end)
    if tag is None:
        return [], end
    attribute = VALUE.search(tag[0])
    values = [next(filter(None, attribute.groups()), "")] if attribute else []
    if tag[0].endswith("/>"):
        return values, tag.end()
    limit = min(len(text), tag.end() + LONGEST_VALUE)
    close = re.compile(rf"</(?:[\w-]{{1,63}}:)?{re.escape(text[start:end])}\b").search(text, tag.end(), limit)
    content = text[tag.end() : close.start() if close else limit]
    values += [piece.strip() for piece in TAG.split(content)]
    return values, tag.end()


def _of_attribute(text: str, start: int, end: int) -> tuple[list[str], int]:
    """The value of what an attribute names: a part of a form, the value beside it, or its content."""
    opening = text.rfind("<", max(0, start - 500), start)
    tag = re.compile(r"[^<>]{0,500}>").match(text, end) if opening >= 0 else None
    if tag is None:
        part = PART.match(text, end, end + LONGEST_VALUE)
        return ([part[1]], part.end()) if part else ([], end)
    value = VALUE.search(text, opening, tag.end())
    if value:
        return [next(filter(None, value.groups()), "")], end
    content = re.compile(r"[^<]{1,20000}").match(text, tag.end())
    return [content[0].strip()] if content else [], end


def _columns(text: str, wants: Wants) -> Iterator[Pair]:
    """The values of a table's columns whose heads are wanted."""
    head, _, rest = text.partition("\n")
    mark = next((mark for mark in ("\t", ";", ",", "|") if mark in head), None)
    if not rest or mark is None or len(head) > 2_000:
        return
    names = [name.strip().strip("\ufeff\"'") for name in head.strip().split(mark)]
    wanted = [at for at, name in enumerate(names) if _may_be_wanted(name) and wants(name)]
    if not wanted or not all(re.fullmatch(r"[\w .$-]{1,63}", name) for name in names):
        return
    with suppress(csv.Error):  # a value longer than a table's may be
        for row in islice(csv.reader(rest.splitlines(), delimiter=mark), MOST_PAIRS):
            yield from ((names[at], row[at].strip()) for at in wanted if at < len(row))
