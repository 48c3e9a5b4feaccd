"""Regular expressions that a user wrote, matched in bounded time."""

from __future__ import annotations

from collections.abc import Iterator

import regex

from conformance.errors import UsageError

MATCH_SECONDS = 1.0
"""Seconds that a pattern may take to search one text."""


def compiled(pattern: str) -> regex.Pattern[str]:
    """ValueError: it is no regular expression."""
    try:
        return regex.compile(pattern)
    except regex.error as problem:
        raise ValueError(str(problem)) from None


def matches(pattern: regex.Pattern[str], text: str) -> Iterator[regex.Match[str]]:
    """Every match, in order. UsageError: the pattern takes too long."""
    try:
        yield from pattern.finditer(text, timeout=MATCH_SECONDS)
    except TimeoutError:
        raise UsageError(
            f"The pattern {pattern.pattern} takes longer than {MATCH_SECONDS:.0f} s to search a text of "
            f"{len(text):,} characters. Write it without a repetition within a repetition."
        ) from None
