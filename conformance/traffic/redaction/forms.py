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

CROWD = 16
"""Forms under one gram that are compared one by one."""

OFTEN = 500
"""Places of one gram in a text, beyond which its forms are searched whole: ``xxxx``, say, in a list of many
equal names."""

SEARCHED_WHOLE = 500
"""Entries beyond ``CROWD`` under a gram that are searched whole; more are looked up at each place."""

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
        self._grams: dict[Gram, list[tuple[str, int, str]]] = {}
        self._between: Counter[Gram] = Counter()
        """The grams that are looked up half-way as well, each with its number of forms: at one place of four,
        a form of six characters holds no whole gram otherwise."""
        self._placeholders: dict[str, str] = {}
        self._first_parts: dict[str, SecretPart] = {}
        self._crowds: dict[Gram, dict[tuple[int, int], int]] = {}
        """The forms beyond ``CROWD`` under a gram: where it stands in them, how long they are, and how many
        are alike in that."""
        self._last_texts: dict[str, SecretPart] = {}
        self._last_parts: dict[str, SecretPart] = {}
        """The last part of a whole form, which ends with the same characters: they lead to both."""

    @property
    def size(self) -> int:
        """How many entries the index holds."""
        crowded = sum(sum(crowd.values()) for crowd in self._crowds.values())
        return sum(map(len, self._grams.values())) + crowded

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
            filed = self._grams.setdefault(gram, [])
            if len(filed) < CROWD:
                filed.append((form, offset, placeholder))
            else:
                crowd = self._crowds.setdefault(gram, {})
                crowd[offset, len(form)] = crowd.get((offset, len(form)), 0) + 1

    def add_parts(self, form: str, placeholder: str) -> None:
        """Adds the parts of a whole form, each found with as much of the whole as stands around it."""
        first, last = parts_of(form, placeholder)
        self._last_parts[form] = self._last_texts[last.text] = last
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
            entries = self._grams.get(gram, [])
            others = [entry for entry in entries if entry[0] != form]
            if len(others) == len(entries):
                self._leave_crowd(gram, (offset, len(form)))
            elif others or gram in self._crowds:
                self._grams[gram] = others
            else:
                del self._grams[gram]
        del self._placeholders[form]
        last = self._last_parts.pop(form, None)
        if last is not None:
            self._last_texts.pop(last.text, None)
        self._first_parts.pop(form, None)

    def _leave_crowd(self, gram: Gram, place: tuple[int, int]) -> None:
        crowd = self._crowds.get(gram, {})
        if crowd.get(place, 0) > 1:
            crowd[place] -= 1
        else:
            crowd.pop(place, None)
        if not crowd:
            self._crowds.pop(gram, None)

    def spans(self, text: str) -> list[Span]:
        """Spans of all forms found in a text, unordered and possibly overlapping."""
        spans: list[Span] = []
        grams, first_parts = self._grams, self._first_parts
        hits = self._hits(text)
        if len(hits) > OFTEN:
            hits = self._without_frequent(text, hits)
        for at, gram in hits:
            for form, offset, placeholder in grams.get(gram, ()):
                start = at - offset
                if start < 0 or not text.startswith(form, start):
                    spans.extend(self._last_part(text, form, start))
                elif form not in first_parts:
                    spans.append((start, start + len(form), placeholder))
                elif not _goes_on(text, first_parts[form], start):
                    spans.append(_widened(text, first_parts[form], start))
        if self._crowds:
            spans.extend(span for hit in hits for span in self._crowded(text, *hit))
        return spans

    def _hits(self, text: str) -> list[Hit]:
        """The grams of forms that stand in a text, where they are looked up."""
        octets = _octets(text)
        hits = _hits_in(octets, 0, self._grams)
        return hits + _hits_in(octets, GRAM // 2, self._between) if self._between else hits

    def _without_frequent(self, text: str, hits: list[Hit]) -> list[Hit]:
        """The hits without those of frequent grams around which no form, nor its last part, stands."""
        times = Counter(gram for _, gram in hits)
        frequent = {
            gram
            for gram, number in times.items()
            if number > OFTEN and sum(self._crowds.get(gram, {}).values()) <= SEARCHED_WHOLE
        }
        offsets: dict[str, set[int]] = {}
        for gram in frequent:
            for needle, offset in self._needles(gram):
                offsets.setdefault(needle, set()).add(offset)
        kept = {
            start + offset
            for needle, of_needle in offsets.items()
            for start in _starts(text, needle)
            for offset in of_needle
        }
        return [(at, gram) for at, gram in hits if gram not in frequent or at in kept]

    def _needles(self, gram: Gram) -> Iterator[tuple[str, int]]:
        """The forms under a gram and their last parts, each with where the gram stands in it."""
        filed = {(form, offset) for form, offset, _ in self._grams[gram]}
        for offset, length in self._crowds.get(gram, ()):
            filed |= {
                (form, offset)
                for form in self._placeholders
                if len(form) == length and _gram(form, offset) == gram
            }
        for form, offset in filed:
            yield form, offset
            last = self._last_parts.get(form)
            if last is not None:
                yield last.text, offset - len(last.before)

    def _crowded(self, text: str, at: int, gram: Gram) -> Iterator[Span]:
        """The forms of a crowd that stand around a gram: each is looked up whole, so that it takes no longer
        to search for many that are alike."""
        for offset, length in self._crowds.get(gram, ()):
            start = at - offset
            form = text[max(0, start) : start + length]
            placeholder = self._placeholders.get(form) if start >= 0 else None
            if placeholder is None:
                kept = 3 * length // 4
                begin = start + length - kept
                part = self._last_texts.get(text[begin : begin + kept]) if begin >= 0 else None
                if part is not None:
                    yield _widened(text, part, begin)
            elif form not in self._first_parts:
                yield start, start + length, placeholder
            elif not _goes_on(text, self._first_parts[form], start):
                yield _widened(text, self._first_parts[form], start)

    def _last_part(self, text: str, form: str, start: int) -> Iterator[Span]:
        """The last part of a form that does not stand in the text as a whole."""
        part = self._last_parts.get(form)
        if part is not None:
            begin = start + len(part.before)
            if begin >= 0 and text.startswith(part.text, begin):
                yield _widened(text, part, begin)


def _starts(text: str, needle: str) -> Iterator[int]:
    """Where each occurrence of a form begins, overlapping ones included."""
    start = text.find(needle)
    while start >= 0:
        yield start
        start = text.find(needle, start + 1)


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
