"""Secrets that are short words: redacted only where a field or header that names a secret holds them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.traffic.exchange import Json
from conformance.traffic.redaction.places import HEADERS, names_a_secret

NAMES = frozenset({*HEADERS, "authorization", "cookie", "set-cookie", "code", "otp", "totp", "otpcode"})
"""Headers and fields that hold a secret besides those whose name ends like a secret's."""

_NAME = r"(?i:password|passphrase|secret|seed|token|key|codes?|otp|authorization|cookie|response)"
_QUOTE = r"(?:\\*[\"']|%22)?"
_EARLIER_ITEMS = r"(?:\[\s*(?:\\*\"[^\"\\]{0,64}\\*\"\s*,\s*){0,30})?"
_SEPARATOR = rf"{_QUOTE}\s*(?:[:=,]|%3[AaDd]|%2[Cc])\s*{_EARLIER_ITEMS}{_QUOTE}"
_SCHEME = r"(?i:Bearer|Basic)(?:\s|\+|%20)"
_LINE_END = r"(?:\\r)?\\n|\r?\n"
_IN_MARKUP = rf"{_NAME}[^<>]{{0,80}}>\s*(?:<[^<>]{{1,80}}>\s*){{0,3}}|{_NAME}{_QUOTE}(?:{_LINE_END}){{2}}"
_BEFORE = rf"(?:{_NAME}{_SEPARATOR}(?:value{_SEPARATOR})?(?:{_SCHEME})?|{_SCHEME}|{_IN_MARKUP})"
_BEFORE_COOKIE = r"(?<=\w)="
_AFTER = r"(?![A-Za-z0-9])"


def names_a_value(name: str) -> bool:
    """Whether a field or header of this name may hold a secret."""
    return names_a_secret(name) or name.lower() in NAMES


def is_secret_pair(value: list[Json]) -> bool:
    """Whether a list is a header as captures hold it (name, value), and the header may hold a secret."""
    return len(value) == 2 and all(isinstance(item, str) for item in value) and names_a_value(value[0])


class WordsInContext:
    """The short words that are secrets, with their placeholders."""

    def __init__(self) -> None:
        self._placeholders: dict[str, str] = {}
        self._cookies: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        self._word_pattern: re.Pattern[str] | None = None

    def __len__(self) -> int:
        return len(self._placeholders)

    def add(self, word: str, placeholder: str, *, kind: str) -> None:
        """Registers a word. A cookie's value is redacted behind any equals sign: cookies have any name."""
        self._placeholders[word] = placeholder
        if kind == "cookie":
            self._cookies.add(word)
        self._pattern = self._word_pattern = None

    def stand_in(self, text: str) -> bool:
        """Whether any of the words occurs in a text, wherever it stands."""
        return any(word in text for word in self._placeholders)

    def spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """The places where a word stands behind a name that holds a secret, each with the placeholder."""
        if not self._placeholders or not self.stand_in(text):
            return
        self._pattern = self._pattern or self._compiled()
        for match in self._pattern.finditer(text):
            number = 1 if match[1] is not None else 2
            yield *match.span(number), self._placeholders[match[number]]

    def redact_value(self, text: str) -> str:
        """The value of a field that names a secret, with each of the words in it replaced."""
        if not self._placeholders or not self.stand_in(text):
            return text
        if self._word_pattern is None:
            self._word_pattern = re.compile(rf"(?<![A-Za-z0-9])(?:{_any_of(self._placeholders)}){_AFTER}")
        return self._word_pattern.sub(lambda match: self._placeholders[match[0]], text)

    def _compiled(self) -> re.Pattern[str]:
        in_context = rf"{_BEFORE}({_any_of(self._placeholders)}){_AFTER}"
        cookies = rf"{_BEFORE_COOKIE}({_any_of(self._cookies)}){_AFTER}" if self._cookies else r"((?!))"
        return re.compile(f"{in_context}|{cookies}")


def _any_of(words: dict[str, str] | set[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
