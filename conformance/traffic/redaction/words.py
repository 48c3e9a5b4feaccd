"""Which values may stand anywhere in a text without being a secret."""

from __future__ import annotations

import re

from conformance.spec.tables import ERRORS, SUCCESS_CODE

SHORTEST = 4
PLAINEST = 3
"""Shorter values, and texts of fewer different characters, are not redacted: they stand anywhere."""

NOBODYS = frozenset(
    {
        "null",
        "true",
        "false",
        "none",
        "undefined",
        "Bearer",
        SUCCESS_CODE,
        *(row.code for row in ERRORS if row.code.isdigit()),
    }
)
"""Words that stand where a secret is expected without being one, and the specification's numeric codes."""

PHRASE = 20
"""Up to this length letters and blanks may be words of a sentence."""

LONGEST_ACRONYM = 12
"""From this length on capital letters are no word: an authenticator's secret, say."""

ESCAPE = re.compile(r"%(?:25){0,3}[0-9A-Fa-f]{2}\Z|\\[nrt]\Z")


def is_common(value: str | bytes) -> bool:
    """Whether a value is too short or too common to be redacted by value."""
    if len(value) < SHORTEST or value in NOBODYS:
        return True
    return isinstance(value, str) and not value.isdecimal() and len(set(value)) < PLAINEST


def may_be_words(text: str, *, is_generated: bool = False) -> bool:
    """Whether a text, as a part of a secret, may stand anywhere: letters and blanks, or digits, and few. Of
    capital letters that a portal generated (``is_generated``) none does."""
    letters = text.replace(" ", "").replace("-", "")
    is_long = is_generated or len(letters) >= LONGEST_ACRONYM
    is_word = letters.isalpha() and not (letters.isupper() and is_long)
    return len(text) <= PHRASE and (is_word or letters.isdecimal())


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether digits are no part of a longer word, a fraction or a date; an escape before them is none."""
    before, after = text[max(0, start - 9) : start], text[end : end + 2]
    if after[:1].isalnum() or after[:1] == "_" or (after[:1] in (".", "-") and after[1:].isdigit()):
        return False
    if ESCAPE.search(before):
        return True
    joined = before[-1:].isalnum() or before[-1:] in ("_", ".") if before else False
    return not joined and not (before[-1:] == "-" and before[-2:-1].isdigit())
