"""A mail as it may be shown: its words, with everything masked that could be a code, a link or an address."""

from __future__ import annotations

import re

LONGEST_WORD = 15
"""Letters of a word; what is longer may be a token."""

SHOWN = 160
"""Characters of a mail that are shown."""

LINK = re.compile(r"\w+://\S+|www\.\S+", re.IGNORECASE)
ADDRESS = re.compile(r"\S+@\S+")


def mail_shape(text: str) -> str:
    """The beginning of a mail in a line: ``Your code is: 000000``. A word that stands alone, or behind a
    colon, is masked whatever it is."""
    lines = (_masked_line(line) for line in text.splitlines() if line.strip())
    shape = " ".join(lines)
    return shape if len(shape) <= SHOWN else f"{shape[:SHOWN].rstrip()}…"


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
