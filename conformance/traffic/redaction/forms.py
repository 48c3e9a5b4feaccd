"""An index of texts to search for, all at once: the forms in which secrets are written."""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count

GRAM = 4
"""Characters of a gram, and how far apart those are that are looked up in a text."""

INDEXED = 6
"""Characters of the shortest form that the index can hold."""

WHOLE_GRAM = 2 * GRAM - 1
"""Characters of the shortest form that holds a whole gram, wherever it stands in a text."""

HALF_WAY_IN = 1
"""Where the gram stands in a form of six characters that is looked up half-way."""

FOUR_OCTETS = "I"
"""Type code of arrays of grams."""

Gram = int
"""Four characters as one number."""

Hit = tuple[int, Gram]
"""Where a gram of a form stands in a text."""

Span = tuple[int, int, str]
"""Where a secret stands in a text (start, end), and its placeholder."""


@dataclass(frozen=True, slots=True)
class SecretPart:
    """The first or last three quarters of a form, with what stands before and after it in the whole."""

    text: str
    placeholder: str
    before: str = ""
    after: str = ""


def parts_of(value: str, placeholder: str, *, rounded_up: int = 0) -> tuple[SecretPart, SecretPart]:
    """The first and the last three quarters of a secret with this placeholder; ``rounded_up`` quarters of a
    character more, 3 at the most."""
    length = (3 * len(value) + rounded_up) // 4
    name = f"[part-of-{placeholder[1:]}"
    return (
        SecretPart(value[:length], name, after=value[length:]),
        SecretPart(value[-length:], name, before=value[:-length]),
    )


class FormIndex:
    """Finds each of many forms in a text, by four characters that are looked up at every fourth position."""

    def __init__(self) -> None:
        self._places: dict[Gram, dict[tuple[int, int], int]] = {}
        """By gram, where it stands in forms and how long they are, with how many are alike in that: each is
        looked up whole, so that it takes no longer to search for many that are alike."""
        self._between: Counter[Gram] = Counter()
        """The grams that are looked up half-way as well, each with its number of forms: at one place of four,
        a form of six characters holds no whole gram otherwise."""
        self._placeholders: dict[str, str] = {}
        self._first_parts: dict[str, SecretPart] = {}
        self._last_parts: dict[str, SecretPart] = {}
        """By its text, the last part of a whole form, which ends with the same grams: they lead to both."""

    @property
    def size(self) -> int:
        """How many entries the index holds."""
        return sum(sum(places.values()) for places in self._places.values())

    def add(self, form: str, placeholder: str) -> None:
        """Adds a form of a whole secret. It takes the place of an equal part of another."""
        if form in self._first_parts:
            self.drop(form, self._placeholders[form])
        if form in self._placeholders:
            return
        self._placeholders[form] = placeholder
        if len(form) < WHOLE_GRAM:
            self._between[_gram(form, HALF_WAY_IN)] += 1
        for offset, gram in _grams_of(form):
            places = self._places.setdefault(gram, {})
            places[offset, len(form)] = places.get((offset, len(form)), 0) + 1

    def add_parts(self, form: str, placeholder: str) -> None:
        """Adds the parts of a whole form, each found with as much of the whole as stands around it."""
        first, last = parts_of(form, placeholder)
        self._last_parts[last.text] = last
        if first.text not in self._placeholders:
            self.add(first.text, first.placeholder)
            self._first_parts[first.text] = first

    def add_part(self, form: str, placeholder: str) -> None:
        """Adds an encoded form of a part. It gives way to an equal form of a whole secret."""
        if form not in self._placeholders:
            self.add(form, placeholder)
            self._first_parts[form] = SecretPart(form, placeholder)

    def drop(self, form: str, placeholder: str) -> None:
        if self._placeholders.get(form) != placeholder:
            return
        if len(form) < WHOLE_GRAM:
            self._between -= Counter([_gram(form, HALF_WAY_IN)])
        for offset, gram in _grams_of(form):
            places = self._places[gram]
            places[offset, len(form)] -= 1
            if not places[offset, len(form)]:
                del places[offset, len(form)]
            if not places:
                del self._places[gram]
        del self._placeholders[form]
        last = self._last_parts.get(form[-_kept(len(form)) :])
        if last is not None and last.before + last.text == form:
            del self._last_parts[last.text]
        self._first_parts.pop(form, None)

    def spans(self, text: str) -> list[Span]:
        """Spans of all forms found in a text, unordered and possibly overlapping."""
        places = self._places
        return [
            span
            for at, gram in self._hits(text)
            for offset, length in places.get(gram, ())
            for span in self._around(text, at - offset, length)
        ]

    def _hits(self, text: str) -> list[Hit]:
        """The grams of forms that stand in a text, where they are looked up."""
        octets = _octets(text)
        hits = _hits_in(octets, 0, self._places)
        return hits + _hits_in(octets, GRAM // 2, self._between) if self._between else hits

    def _around(self, text: str, start: int, length: int) -> Iterator[Span]:
        """The form of this length that begins there, or the last part of one."""
        form = text[max(0, start) : start + length]
        placeholder = self._placeholders.get(form) if len(form) == length else None  # else the text ends
        if placeholder is None:
            end = start + length
            begin = end - _kept(length)
            part = self._last_parts.get(text[begin:end]) if begin >= 0 else None
            if part is not None:
                yield _widened(text, part, begin)
        elif form not in self._first_parts:
            yield start, start + length, placeholder
        elif not _goes_on(text, self._first_parts[form], start):
            yield _widened(text, self._first_parts[form], start)


def _kept(length: int) -> int:
    """How many characters of a form stand in its last part."""
    return 3 * length // 4


def _goes_on(text: str, part: SecretPart, start: int) -> bool:
    """Whether the whole stands there, which is found by itself."""
    return bool(part.after) and text.startswith(part.after, start + len(part.text))


def _widened(text: str, part: SecretPart, start: int) -> Span:
    """The place of a part with as much of the whole as stands around it."""
    end = start + len(part.text)
    for char in reversed(part.before):
        if start == 0 or text[start - 1] != char:
            break
        start -= 1
    for char in part.after:
        if text[end : end + 1] != char:
            break
        end += 1
    return start, end, part.placeholder


def _octets(text: str) -> bytes:
    """Encodes a text with one octet per character. Colliding characters cause false hits, which later
    comparison rejects."""
    return text.encode("latin-1", errors="replace")


def _hits_in(octets: bytes, begin: int, wanted: Mapping[Gram, object]) -> list[Hit]:
    """The wanted grams among those at every fourth position from ``begin`` on."""
    grams = array(FOUR_OCTETS)
    grams.frombytes(memoryview(octets)[begin : len(octets) - (len(octets) - begin) % GRAM])
    present = wanted.keys() & grams
    return (
        [hit for hit in zip(count(begin, GRAM), grams, strict=False) if hit[1] in present] if present else []
    )


def _gram(form: str, offset: int) -> Gram:
    return int.from_bytes(_octets(form[offset : offset + GRAM]), sys.byteorder)


def _grams_of(form: str) -> list[tuple[int, Gram]]:
    """Index grams of a form with offsets, one for each alignment of the lookup."""
    last = len(form) - GRAM
    first = max(0, last - 2 * GRAM + 1)
    return [(offset, _gram(form, offset)) for offset in range(first, min(first + GRAM, last + 1))]
