"""Repeated reads of a recording: the same request again, by its fingerprint."""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable, Sequence

UNREPEATED = 0


def repeats_of(order: Iterable[int], requests: Sequence[int], changing: Container[int]) -> array[int]:
    """By position, a number that all reads have which repeat one another; ``UNREPEATED`` for all others.

    ``order`` are the positions as they were sent, ``requests`` their fingerprints, ``changing`` the positions
    of what may have written something.
    """
    repeats = array("i", [UNREPEATED]) * len(requests)
    first: dict[int, int] = {}
    for position in order:
        if position in changing:
            continue
        began = first.setdefault(requests[position], position)
        if began != position:
            repeats[began] = repeats[position] = began + 1
    return repeats
