"""What a recording says of the secrets that it hides: the kinds of a token's claims, a password's mistake."""

from __future__ import annotations

from typing import Literal, TypeAlias

CLAIMS, MISTAKE, OF = "claims", "mistake", "of"
"""What is said of a placeholder: the kinds of its claims by their paths, or None where it is no JWT; the
mistake in a password, and the placeholder of the one that was meant."""

Mistake: TypeAlias = Literal["another case", "another last letter", "no last letter"]

LEAST_LETTERS = 8
"""Of a password that is stated; a shorter one is refused for its length."""


def mistake_of(password: str, meant: str) -> Mistake | None:
    """How a password differs from the one that was meant; None where it is another one."""
    if len(meant) < 2 or password == meant:
        return None
    if password.casefold() == meant.casefold():
        return "another case"
    if password == meant[:-1]:
        return "no last letter"
    return "another last letter" if password[:-1] == meant[:-1] and len(password) == len(meant) else None


def mistaken(password: str, mistake: str) -> str | None:
    """A password with a mistake; None where that is not possible."""
    if mistake == "another case":
        changed = password.swapcase()
    elif mistake == "another last letter":
        changed = password[:-1] + ("b" if password[-1:] == "a" else "a")
    else:
        changed = password[:-1]
    return changed if changed != password and len(changed) >= LEAST_LETTERS else None
