"""Takes secrets out of whatever leaves: by value, in every encoding, equal placeholders for equal values."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator

import msgspec

from conformance.traffic.exchange import Json
from conformance.traffic.redaction.encodings import blocks, texts
from conformance.traffic.redaction.places import secrets_in

__all__ = ["Secrets", "secrets_in"]

SHORTEST = 4
PLAINEST = 3
"""Shorter values, and texts of fewer different characters, are not taken out: they stand anywhere."""

NOBODYS = frozenset(
    {"null", "true", "false", "none", "undefined", "Bearer", "2000", "4000", "4010", "4030", "4040"}
)
"""Words that stand where a secret is expected without being one, and the specification's numeric codes."""

FREE = 8
"""From this length on a text is found anywhere, also inside a longer word; a shorter one only as a word."""

FEW = 64
"""Up to so many forms are looked for one by one before their pattern is tried."""

CROWD = 16
"""Forms under one gram that are compared one by one."""

GRAM = 4
STRIDE = 3
INDEXED = GRAM + STRIDE - 1

FULLY = 500
"""Tokens of which every encoding is looked for, the newest: it takes some 12 kB for each. Of those before, in
traffic of very many sign-ins, it is the text itself."""

AGING = frozenset({"token", "refresh-token", "cookie"})
"""What a client is given anew each time; other secrets stay the same, and are few."""

WORD = re.compile(r"[A-Za-z0-9_~+/.-]{20,}={0,2}")
"""How a token looks that is found as a word."""

RUN = re.compile(r"\d{4,}")
ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}\Z|\\[nrt]\Z")
NOTHING = re.compile(r"(?!)")
WORD_EDGES = (r"(?:(?<=%[0-9A-Fa-f]{2})|(?<=\\[nrt])|(?<![\w./%\\-]))", r"(?![\w/-]|\.\w|\":)")
ANY_WORD = re.compile(f"{WORD_EDGES[0]}[^\\W\\d_]{{4,20}}{WORD_EDGES[1]}")
"""What may be one of the words."""

SHORT_EDGES = ("(?<![A-Za-z0-9])", "(?![A-Za-z0-9])")


class Secrets:
    """The secrets known so far. Safe to use from threads; a value once added is taken out for good.

    Values of digits only, and of letters only, are taken out where they stand as a word of their own:
    ``[code-1]`` for ``123456``, and not within ``1234567`` or a path such as ``/auth/password/forgot``.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._placeholders: dict[str | bytes, str] = {}
        self._counts: dict[str, int] = {}
        self._numbers: dict[str, str] = {}
        self._words: dict[str, str] = {}
        self._short: dict[str, str] = {}
        self._patterns: dict[int, tuple[int, re.Pattern[str]]] = {}
        self._grams: dict[str, list[tuple[str, int, str]]] = {}
        self._crowds: dict[str, dict[tuple[int, int], int]] = {}
        """Of forms beyond ``CROWD`` under one gram: where they begin and how long they are, and how many."""
        self._forms: dict[str, str] = {}
        self._newest: dict[str, None] = {}
        self._older: dict[int, str] = {}
        """The placeholders of older ones, by the hash of the text."""

    def __len__(self) -> int:
        return len(self._placeholders) + len(self._older)

    def add(self, value: str | bytes, kind: str) -> None:
        """Registers a secret; ``kind`` names it in the placeholder. What stands anywhere is passed over."""
        if self.placeholder(value) is not None or _is_common(value):
            return
        with self._lock:
            if self.placeholder(value) is not None:
                return
            self._counts[kind] = number = self._counts.get(kind, 0) + 1
            self._placeholders[value] = placeholder = f"[{kind}-{number}]"
            self._learn(value, placeholder)
            if kind in AGING and isinstance(value, str) and WORD.fullmatch(value):
                self._newest[value] = None
                if len(self._newest) > FULLY:
                    self._grow_old(next(iter(self._newest)))

    def placeholder(self, value: str | bytes) -> str | None:
        """What stands in place of a value, where it is a known secret."""
        known = self._placeholders.get(value)
        return self._older.get(hash(value)) if known is None and self._older else known

    def redact(self, text: str) -> str:
        """The text with every secret in it replaced."""
        if not len(self):
            return text
        return _replaced(text, self._spans(text))

    def redact_line(self, line: str) -> str:
        """A line of JSON with every secret in it replaced; it stays one, also where a number had to go."""
        if not len(self):
            return line
        text = line.rstrip("\n")
        spans = self._spans(text)
        if not spans:
            return line
        clean = _replaced(text, spans)
        try:
            msgspec.json.decode(clean)
        except msgspec.DecodeError:
            clean = msgspec.json.encode(self.redact_json(msgspec.json.decode(text))).decode()
        return clean + line[len(text) :]

    def redact_json(self, value: Json) -> Json:
        """The JSON value with every secret in its texts, names and whole numbers replaced."""
        if isinstance(value, str):
            return self.redact(value) if len(value) >= SHORTEST else value
        if isinstance(value, dict):
            return {self._redact_name(name): self.redact_json(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.redact_json(inner) for inner in value]
        if isinstance(value, int) and not isinstance(value, bool) and value > 99_999:
            return self._numbers.get(str(value), value)
        return value

    def _redact_name(self, name: str) -> str:
        return name if len(name) < FREE or name in self._words else self.redact(name)

    def _learn(self, value: str | bytes, placeholder: str) -> None:
        raw = value.encode(errors="surrogatepass") if isinstance(value, str) else value
        for form in blocks(raw):
            self._file(form, placeholder, free=INDEXED)
        if isinstance(value, str) and value.isdecimal():
            self._numbers[value] = placeholder
            return
        if isinstance(value, str) and value.isalpha() and len(value) <= 20:
            self._words[value] = placeholder
            return
        for form in texts(raw):
            self._file(form, placeholder, free=FREE)

    def _file(self, form: str, placeholder: str, *, free: int) -> None:
        if len(form) >= free:
            self._index(form, placeholder)
        elif len(form) >= SHORTEST:
            self._short.setdefault(form, placeholder)

    def _index(self, form: str, placeholder: str) -> None:
        """Files a form under the characters near its end (tokens begin alike), at each of the strides."""
        if form in self._forms:
            return
        self._forms[form] = placeholder
        for offset, gram in enumerate(_grams_of(form), _first_gram(form)):
            filed = self._grams.setdefault(gram, [])
            if len(filed) < CROWD:
                filed.append((form, offset, placeholder))
            else:
                crowd = self._crowds.setdefault(gram, {})
                crowd[offset, len(form)] = crowd.get((offset, len(form)), 0) + 1

    def _grow_old(self, value: str) -> None:
        """Forgets the encodings of a secret, and finds it by its text from now on."""
        placeholder = self._placeholders[value]
        self._older[hash(value)] = placeholder
        raw = value.encode(errors="surrogatepass")
        for form in (blocks(raw) | texts(raw)) & self._forms.keys():
            self._drop(form, placeholder)
        del self._newest[value], self._placeholders[value]

    def _drop(self, form: str, placeholder: str) -> None:
        if self._forms.get(form) != placeholder:
            return
        for offset, gram in enumerate(_grams_of(form), _first_gram(form)):
            filed = self._grams.get(gram, [])
            others = [one for one in filed if one[0] != form]
            crowd = self._crowds.get(gram, {})
            if len(others) < len(filed):
                self._grams[gram] = others
            elif (offset, len(form)) in crowd:
                crowd[offset, len(form)] -= 1
                if not crowd[offset, len(form)]:
                    del crowd[offset, len(form)]
            if not others and not crowd:
                self._grams.pop(gram, None)
        del self._forms[form]

    def _older_spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        for found in WORD.finditer(text):
            start, end = found.span()
            for begin in (start, start + found[0].rfind("/") + 1):
                whole = text[begin:end]
                for word in (whole, whole.rstrip("./")):
                    placeholder = self._older.get(hash(word))
                    if placeholder is not None:
                        yield begin, begin + len(word), placeholder

    def _spans(self, text: str) -> list[tuple[int, int, str]]:
        """Where which secret stands, in no order, and overlapping where they do."""
        spans: list[tuple[int, int, str]] = []
        grams = self._grams
        hits = [at for at in range(0, len(text) - GRAM + 1, STRIDE) if text[at : at + GRAM] in grams]
        for at in hits:
            for form, offset, placeholder in grams.get(text[at : at + GRAM], ()):
                if at >= offset and text.startswith(form, at - offset):
                    spans.append((at - offset, at - offset + len(form), placeholder))
        if self._crowds:
            spans.extend(self._crowded_spans(text, hits))
        if self._numbers:
            spans.extend(self._number_spans(text))
        if self._older:
            spans.extend(self._older_spans(text))
        if len(self._words) > FEW:
            found_words = ((found.span(), self._words.get(found[0])) for found in ANY_WORD.finditer(text))
            spans.extend((*span, placeholder) for span, placeholder in found_words if placeholder)
        for loose in (self._short,) if len(self._words) > FEW else (self._words, self._short):
            if len(loose) > FEW or any(form in text for form in loose):
                spans.extend(
                    (*found.span(), loose[found[0]]) for found in self._pattern(loose).finditer(text)
                )
        return spans

    def _crowded_spans(self, text: str, hits: list[int]) -> Iterator[tuple[int, int, str]]:
        """Of forms that many share a gram: each is looked up whole, so that more of them take no longer."""
        crowds, forms = self._crowds, self._forms
        for at in hits:
            for offset, length in crowds.get(text[at : at + GRAM], ()):
                if at >= offset:
                    placeholder = forms.get(text[at - offset : at - offset + length])
                    if placeholder is not None:
                        yield at - offset, at - offset + length, placeholder

    def _number_spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        for found in RUN.finditer(text):
            start, end = found.span()
            if text[start - 1 : start] == "%":
                start += 2
            placeholder = self._numbers.get(text[start:end])
            if placeholder is not None and _stands_alone(text, start, end):
                yield start, end, placeholder

    def _pattern(self, loose: dict[str, str]) -> re.Pattern[str]:
        """The alternation of what is only taken out as a word; made again when there is more of it."""
        known, pattern = self._patterns.get(id(loose), (-1, NOTHING))
        if known != len(loose):
            forms = "|".join(map(re.escape, sorted(loose, key=len, reverse=True)))
            before, after = WORD_EDGES if loose is self._words else SHORT_EDGES
            pattern = re.compile(f"{before}(?:{forms}){after}") if forms else NOTHING
            self._patterns[id(loose)] = len(loose), pattern
        return pattern


def _first_gram(form: str) -> int:
    return max(0, len(form) - INDEXED - 4)


def _grams_of(form: str) -> list[str]:
    first = _first_gram(form)
    return [form[offset : offset + GRAM] for offset in range(first, first + STRIDE)]


def _is_common(value: str | bytes) -> bool:
    if len(value) < SHORTEST or value in NOBODYS:
        return True
    return isinstance(value, str) and not value.isdecimal() and len(set(value)) < PLAINEST


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether digits are no part of a longer word, a fraction or a date; an escape before them is none."""
    before, after = text[max(0, start - 3) : start], text[end : end + 2]
    if after[:1].isalnum() or after[:1] == "_" or (after[:1] in (".", "-") and after[1:].isdigit()):
        return False
    if ESCAPE.search(before):
        return True
    joined = before[-1:].isalnum() or before[-1:] in ("_", ".") if before else False
    return not joined and not (before[-1:] == "-" and before[-2:-1].isdigit())


def _replaced(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """Overlapping finds become one: the longest at a place names it, and nothing of the others stays."""
    pieces: list[str] = []
    end = 0
    for start, stop, placeholder in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= end:
            pieces.extend((text[end:start], placeholder))
        end = max(end, stop)
    return "".join((*pieces, text[end:])) if pieces else text
