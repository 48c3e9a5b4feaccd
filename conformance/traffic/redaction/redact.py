"""Replaces secrets in whatever leaves: by value, in every encoding, equal placeholders for equal values."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator

import msgspec

from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.redaction.context import WordsInContext, is_secret_pair, names_a_value
from conformance.traffic.redaction.encodings import blocks, texts
from conformance.traffic.redaction.forms import INDEXED, FormIndex, Span, parts_of
from conformance.traffic.redaction.places import secrets_in
from conformance.traffic.redaction.registries import attach
from conformance.traffic.redaction.words import SHORTEST, is_common, may_be_words, stands_alone
from conformance.traffic.values import hidden_number

__all__ = ["Secrets", "secrets_in"]

FREE_MATCH_LENGTH = 8
"""From this length on a text is redacted anywhere, also inside a longer word. A shorter one is redacted as a
word of its own, and one of letters only where a field that names a secret holds it."""

FEW_FORMS = 64
"""Up to so many forms are searched one by one before their pattern is tried."""

FULLY = 500
"""Tokens of which every encoding is searched, the newest: each takes some 12 kB. Of the tokens before, in
traffic of very many sign-ins, only the text itself is searched."""

AGING = frozenset({"token", "refresh-token", "cookie"})
"""Kinds that a client gets anew each time; other secrets stay the same, and are few."""

WORD = re.compile(r"[A-Za-z0-9_~+/.-]{20,}={0,2}")
"""The form of a token that is searched as a word."""

DIGITS = re.compile(r"\d{4,}")
SHORTEST_PART = 6
"""A part of fewer characters is not redacted."""

NOTHING = re.compile(r"(?!)")
WORD_EDGES = (r"(?:(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrt])|(?<![\w./%\\-]))", r"(?![\w/-]|\.\w|\":)")
ANY_WORD = re.compile(f"{WORD_EDGES[0]}[^\\W\\d_]{{4,20}}{WORD_EDGES[1]}")
"""What may be one of the words."""

NAME_OF_LETTERS = re.compile(r'"([^\W\d_]{8,20})":')
"""A member of JSON whose name may be one of the words."""

SHORT_EDGES = ("(?<![A-Za-z0-9])", "(?![A-Za-z0-9])")


NAME_OF_A_RUN = re.compile(r"suite-[0-9a-f]{6}-\d+\Z")
"""What a run makes up as a name that nobody has used."""


class Secrets:
    """The registry of secrets. Safe to use from threads; a value once added is redacted for good.

    Values of digits only, and of letters only, are redacted where they stand as a word of their own:
    ``[code-1]`` for ``123456``, and not within ``1234567`` or a path such as ``/auth/password/forgot``. The
    first and the last three quarters of other values are redacted as well: ``[part-of-password-1]``.
    """

    def __init__(self, *, fully: int = FULLY) -> None:
        self._fully = fully
        self._lock = threading.RLock()
        self._placeholders: dict[str | bytes, str] = {}
        self._counts: dict[str, int] = {}
        self._before = 0
        self._numbers: dict[str, str] = {}
        self._words: dict[str, str] = {}
        self._short: dict[str, str] = {}
        self._in_context = WordsInContext()
        self._patterns: dict[int, tuple[int, re.Pattern[str]]] = {}
        self._forms = FormIndex()
        self._made_up: set[str | bytes] = set()
        self._public: set[str] = set()
        self._in_place: dict[str, str] = {}
        self.origins: dict[str, str] = {}
        """By placeholder, where its secret came from and how it was altered, where that was registered."""
        self._newest: dict[str, None] = {}
        self._unfiled: dict[str, str] = {}
        """By token, its kind: tokens come in numbers, and are filed when a text is searched the next time."""
        self._older: dict[int, str] = {}
        """The placeholders of older ones, by the hash of the text."""
        attach(self)

    def __len__(self) -> int:
        return len(self._placeholders) + len(self._older)

    def add(self, value: str | bytes, kind: str, origin: str = "") -> None:
        """Registers a secret; ``kind`` names it in the placeholder, ``origin`` says where it came from. What
        stands anywhere is ignored."""
        if is_common(value):
            return
        placeholder = self.placeholder(value) or self._register(value, kind)
        if origin:
            self.origins[placeholder] = origin

    def altered(self, value: str, kind: str, *, of: str, by: str) -> str:
        """Registers and returns a secret made from another secret; ``by`` names the difference."""
        original = self.placeholder(of)
        self.add(value, kind, by if original is None else f"{original[1:-1]}, {by}")
        return value

    def _register(self, value: str | bytes, kind: str) -> str:
        with self._lock:
            if (present := self.placeholder(value)) is not None:
                return present
            number = self._next_number(kind)
            self._placeholders[value] = placeholder = f"[{kind}-{number}]"
            if kind not in AGING or not isinstance(value, str) or not WORD.fullmatch(value):
                self._learn(value, placeholder, kind)
                return placeholder
            self._newest[value] = None
            if value.isalpha() or value.isdecimal():
                self._learn(value, placeholder, kind)
            else:
                self._unfiled[value] = kind
            if len(self._newest) > self._fully:
                self._grow_old(next(iter(self._newest)))
            return placeholder

    def name_in_place(self, value: str, kind: str) -> str:
        """The placeholder of a value that is redacted where it stands alone: a common word, say. Elsewhere it
        is left, unless it is a registered secret."""
        with self._lock:
            placeholder = self.placeholder(value) or self._in_place.get(value)
            if placeholder is None:
                self._in_place[value] = placeholder = f"[{kind}-{self._next_number(kind)}]"
            return placeholder

    def number_after(self, last: int) -> None:
        """Numbers later placeholders after ``last``, so that placeholders of several processes differ."""
        self._before = last

    def _next_number(self, kind: str) -> int:
        self._counts[kind] = number = max(self._counts.get(kind, 0), self._before) + 1
        return number

    def add_from(self, exchange: Exchange, *, origin: str = "") -> None:
        """Registers what an exchange shows by its place, except what the suite made up, in a recorded run as
        well: its names begin alike, and would be redacted as parts of each other. ``origin`` is that of the
        secrets that have none yet."""
        for value, kind in secrets_in(exchange):
            if value not in self._made_up and not NAME_OF_A_RUN.match(value):
                self.add(value, kind, "" if self.placeholder(value) in self.origins else origin)

    def made_up(self, value: str) -> str:
        """The value, which the suite made up as a wrong one: in a place for secrets it is no secret."""
        self._made_up.add(value)
        return value

    def make_public(self, text: str) -> None:
        """Leaves a text that is no secret, such as a run's id, unredacted where it is part of a secret."""
        self._public.add(text)

    @property
    def size(self) -> int:
        """How many entries the index of encoded forms holds."""
        self._file_tokens()
        return self._forms.size

    def placeholder(self, value: str | bytes) -> str | None:
        """The placeholder of a value; None where it is no registered secret."""
        placeholder = self._placeholders.get(value)
        return self._older.get(hash(value)) if placeholder is None and self._older else placeholder

    def redact(self, text: str) -> str:
        if not len(self):
            return text
        return replaced(text, self._spans(text))

    def redact_line(self, line: str) -> str:
        """A line of JSON with every secret in it replaced; it stays JSON, also where a number is replaced."""
        if not len(self):
            return line
        text = line.rstrip("\n")
        spans = self._spans(text)
        has_short_word = self.needs_whole_line(text)
        if not spans and not has_short_word:
            return line
        clean = replaced(text, spans)
        try:
            msgspec.json.decode(clean)
        except msgspec.DecodeError:
            clean = self._redacted_json(text)
        if has_short_word:
            clean = self._redacted_json(clean)
        return clean + line[len(text) :]

    def needs_whole_line(self, text: str) -> bool:
        """Whether a text holds a short word, or a name of a member, that is a secret only in a field that
        names one, so that a piece of the line does not show whether it is."""
        if self._words and any(word in self._words for word in NAME_OF_LETTERS.findall(text)):
            return True
        return bool(len(self._in_context)) and self._in_context.stand_in(text)

    def _redacted_json(self, text: str) -> str:
        return msgspec.json.encode(self.redact_json(msgspec.json.decode(text))).decode()

    def redact_json(self, value: Json, *, is_named: bool = False, is_sent: bool = False) -> Json:
        """The JSON value with every secret in its texts, names and whole numbers replaced.

        ``is_named``: it stands in a field that names a secret, where short words are secrets as well.
        ``is_sent``: it stands in a request, where a text takes the place of a number as well."""
        if isinstance(value, str):
            if len(value) < SHORTEST:
                return value
            return self._in_context.redact_value(self.redact(value)) if is_named else self.redact(value)
        if isinstance(value, dict):
            return {
                self.redact_name(name, is_named=is_named): self.redact_json(
                    inner, is_named=is_named or names_a_value(name), is_sent=is_sent or name == "request"
                )
                for name, inner in value.items()
            }
        if isinstance(value, list):
            is_named = is_named or is_secret_pair(value)
            return [self.redact_json(inner, is_named=is_named, is_sent=is_sent) for inner in value]
        if isinstance(value, int) and not isinstance(value, bool) and value > 99_999:
            placeholder = self._numbers.get(str(value))
            if placeholder is not None:
                return placeholder if is_sent else hidden_number(placeholder)
        return value

    def redact_name(self, name: str, *, is_named: bool = False) -> str:
        """The redacted name of a JSON member. A plain word stays, even if equal to a secret, unless it stands
        in a field that names one (``is_named``)."""
        if len(name) < SHORTEST or (name in self._words and not is_named):
            return name
        return self.redact(name)

    def _learn(self, value: str | bytes, placeholder: str, kind: str) -> None:
        raw = value.encode(errors="surrogatepass") if isinstance(value, str) else value
        for form in blocks(raw):
            self._file(form, placeholder, free=INDEXED)
        if isinstance(value, str) and value.isdecimal():
            self._numbers[value] = placeholder
            return
        is_generated = kind == "backup-code" and len(value) >= FREE_MATCH_LENGTH
        if isinstance(value, str) and value.isalpha() and may_be_words(value, is_generated=is_generated):
            if len(value) < FREE_MATCH_LENGTH:
                self._in_context.add(value, placeholder, kind=kind)
            else:
                self._words[value] = placeholder
            return
        for form in texts(raw):
            self._file(form, placeholder, free=FREE_MATCH_LENGTH)
        if isinstance(value, str):
            self._learn_parts(value, placeholder, kind)

    def _learn_parts(self, value: str, placeholder: str, kind: str) -> None:
        """Files the first and last three quarters, of tokens as plain text only: there are many of them.
        Parts that may be words of a sentence, or that hold a public text, are left out."""
        parts = parts_of(value, placeholder)
        if any(may_be_words(part.text) or self._is_public(part.text) for part in parts):
            return
        if len(parts[0].text) >= FREE_MATCH_LENGTH:
            self._forms.add_parts(value, placeholder)
        elif len(parts[0].text) >= SHORTEST_PART:
            for part in parts:
                self._short.setdefault(part.text, part.placeholder)
        both = {*parts, *parts_of(value, placeholder, rounded_up=3)}
        for part in both if kind not in AGING else ():
            raw = part.text.encode(errors="surrogatepass")
            for form in texts(raw) | blocks(raw):
                if len(form) >= FREE_MATCH_LENGTH:
                    self._forms.add_part(form, part.placeholder)

    def _file_tokens(self) -> None:
        """Files the tokens that were added since a text was searched; one stays among them until it is filed,
        so that another thread waits for it."""
        with self._lock:
            for value, kind in list(self._unfiled.items()):
                self._learn(value, self._placeholders[value], kind)
                del self._unfiled[value]

    def _is_public(self, part: str) -> bool:
        return any(text in part for text in self._public)

    def _file(self, form: str, placeholder: str, *, free: int) -> None:
        if len(form) >= free:
            self._forms.add(form, placeholder)
        elif len(form) >= SHORTEST:
            self._short.setdefault(form, placeholder)

    def _grow_old(self, value: str) -> None:
        """Drops the encodings and parts of a secret; from now on its text alone is searched."""
        placeholder = self._placeholders[value]
        self._older[hash(value)] = placeholder
        if self._unfiled.pop(value, None) is None:
            raw = value.encode(errors="surrogatepass")
            for form in blocks(raw) | texts(raw):
                self._forms.drop(form, placeholder)
            first, _ = parts_of(value, placeholder)
            self._forms.drop(first.text, first.placeholder)
        del self._newest[value], self._placeholders[value]

    def _older_spans(self, text: str) -> Iterator[Span]:
        for match in WORD.finditer(text):
            start, end = match.span()
            for begin in (start, start + match[0].rfind("/") + 1):
                whole = text[begin:end]
                for word in (whole, whole.rstrip("./")):
                    placeholder = self._older.get(hash(word))
                    if placeholder is not None:
                        yield begin, begin + len(word), placeholder

    def _spans(self, text: str) -> list[Span]:
        """Spans of all secrets in the text, unordered and possibly overlapping."""
        if self._unfiled:
            self._file_tokens()
        spans = self._forms.spans(text)
        if len(self._numbers) > FEW_FORMS or any(map(text.__contains__, self._numbers)):
            spans.extend(self._number_spans(text))
        if self._older:
            spans.extend(self._older_spans(text))
        if len(self._in_context):
            spans.extend(self._in_context.spans(text))
        if len(self._words) > FEW_FORMS:
            words = ((match.span(), self._words.get(match[0])) for match in ANY_WORD.finditer(text))
            spans.extend((*span, placeholder) for span, placeholder in words if placeholder)
        for loose in (self._short,) if len(self._words) > FEW_FORMS else (self._words, self._short):
            if len(loose) > FEW_FORMS or any(map(text.__contains__, loose)):
                spans.extend(
                    (*match.span(), loose[match[0]]) for match in self._pattern(loose).finditer(text)
                )
        return spans

    def _number_spans(self, text: str) -> Iterator[Span]:
        for match in DIGITS.finditer(text):
            start, end = match.span()
            if text[start - 1 : start] == "%":
                start += 2
                while text[start - 2 : start] == "25" and text[start:end] not in self._numbers:
                    start += 2  # a percent sign that is encoded itself
            placeholder = self._numbers.get(text[start:end])
            if placeholder is not None and stands_alone(text, start, end):
                yield start, end, placeholder

    def _pattern(self, loose: dict[str, str]) -> re.Pattern[str]:
        """Regular expression of secrets that are redacted as whole words; recompiled after additions."""
        size, pattern = self._patterns.get(id(loose), (-1, NOTHING))
        if size != len(loose):
            forms = "|".join(map(re.escape, sorted(loose, key=len, reverse=True)))
            before, after = WORD_EDGES if loose is self._words else SHORT_EDGES
            pattern = re.compile(f"{before}(?:{forms}){after}") if forms else NOTHING
            self._patterns[id(loose)] = len(loose), pattern
        return pattern


def replaced(text: str, spans: Iterable[Span]) -> str:
    """The text with a placeholder in each span. Overlapping spans become one: the longest at a place names
    it, and nothing of the others stays."""
    pieces: list[str] = []
    end = 0
    for start, stop, placeholder in sorted(spans, key=_order):
        if start >= end:
            pieces.extend((text[end:start], placeholder))
        end = max(end, stop)
    return "".join((*pieces, text[end:])) if pieces else text


def _order(span: Span) -> tuple[int, int, bool]:
    start, stop, placeholder = span
    return start, -stop, placeholder.startswith("[part-of-")
