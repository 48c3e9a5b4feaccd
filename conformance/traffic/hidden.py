"""What a recording says of the secrets that it hides: the kinds of a token's claims, a password's mistake,
and the form of what may have been refused for it."""

from __future__ import annotations

import random
import string
from collections.abc import Mapping
from typing import Literal, TypeAlias

from conformance.traffic.exchange import Json

CLAIMS, MISTAKE, OF = "claims", "mistake", "of"
"""What is said of a placeholder: the kinds of its claims by their paths, or None where it is no JWT; the
mistake in a password, and the placeholder of the one that was meant."""

FORM, LENGTH, LACKS, KIND = "form", "length", "lacks", "kind"
"""The form of a refused password or code; in it: a length outside of the limits or at their end, the kinds of
letters that it lacks, and the kind of JSON value where that is no text."""

NUMBER = "number"

LONGEST_PASSWORD = 128
"""Letters of a password that are stated to be accepted at most."""

USUAL_LENGTH = 20
LONGEST_MADE = 1_000_000
LETTERS = {
    "small letters": string.ascii_lowercase,
    "capitals": string.ascii_uppercase,
    "digits": string.digits,
    "signs": "-_.!",
}

Mistake: TypeAlias = Literal["another case", "another last letter", "no last letter"]

LEAST_LETTERS = 8
"""Of a password that is stated; a shorter one is refused for its length."""


def mistake_of(password: str, meant: str) -> Mistake | None:
    """Describes how a password deviates from the intended one; None for an unrelated password."""
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


def form_of(password: str, *, is_new: bool) -> dict[str, Json] | None:
    """The form of a refused password, as far as it may be the cause; None where that cannot be said briefly.

    Of what is in it only a new one says which kinds of letters it lacks: rules ask for these.
    """
    if not password.isascii() or not password.isprintable() or " " in password:
        return None
    form: dict[str, Json] = {}
    if not LEAST_LETTERS <= len(password) < LONGEST_PASSWORD:
        form[LENGTH] = len(password)
    lacks: list[Json] = [name for name, letters in LETTERS.items() if not set(password) & set(_all(letters))]
    return {**form, LACKS: lacks} if is_new and lacks else form


def password_of(form: Mapping[str, Json]) -> str | None:
    """A made-up password of a form; None where no such form is known."""
    length, lacks = form.get(LENGTH, USUAL_LENGTH), form.get(LACKS, [])
    if type(length) is not int or not 0 < length <= LONGEST_MADE or not isinstance(lacks, list):
        return None
    kinds = [letters for name, letters in LETTERS.items() if name not in lacks]
    chosen = (random.SystemRandom().choice(kinds[at % len(kinds)]) for at in range(length) if kinds)
    return "".join(chosen) or None


def _all(letters: str) -> str:
    """The letters of a kind that a password may hold, of which few are enough to make one."""
    return string.punctuation if letters == LETTERS["signs"] else letters
