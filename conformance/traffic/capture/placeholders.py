"""The placeholders of files that are read together. Each file that was redacted by itself counts them from 1:
equal ones of two files stand for different secrets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec

from conformance.traffic.exchange import Exchange, Json

BLOCK = 1_000_000
"""How many placeholders of a kind a recording has of its own."""

MOST_DIGITS = 18
"""Digits of the largest number."""

PLACEHOLDER = re.compile(rb"\[([a-z-]+)-(\d{1,%d})\]" % MOST_DIGITS)
LATER = re.compile(rb"\[([a-z-]+)-(\d{7,%d})\]" % MOST_DIGITS)
"""One whose number is not of the first block: it is in a file that was made of several recordings."""

_ENCODE = msgspec.json.Encoder().encode
_DECODE = msgspec.json.Decoder(Exchange).decode


def moved(line: bytes, block_of: Callable[[int], int]) -> bytes:
    def elsewhere(match: re.Match[bytes]) -> bytes:
        block, number = divmod(int(match[2]), BLOCK)
        return b"[%b-%d]" % (match[1], block_of(block) * BLOCK + number)

    return PLACEHOLDER.sub(elsewhere, line)


def moved_json(value: Json, block_of: Callable[[int], int]) -> Json:
    """The same of a JSON value."""
    line = _ENCODE(value)
    changed = moved(line, block_of)
    return value if changed == line else msgspec.json.decode(changed)


def blocks_in(line: bytes) -> set[int]:
    return {int(number) // BLOCK for _, number in PLACEHOLDER.findall(line)}


def block_of(value: str) -> int | None:
    """The block of a placeholder; None of a value that is none."""
    match = PLACEHOLDER.fullmatch(value.encode(errors="replace")) if value[:1] == "[" else None
    return None if match is None else int(match[2]) // BLOCK


@dataclass(frozen=True, slots=True)
class RecordingNumber:
    """The number of a recording, from 0, among recordings read together. Each recording has separate
    placeholders; those of the first stay unchanged."""

    number: int = 0
    count: int = 1

    def line(self, line: bytes) -> bytes:
        if self.count == 1 or (self.number == 0 and LATER.search(line) is None):
            return line
        return moved(line, self._block)

    def exchanges(self, exchanges: Iterator[Exchange]) -> Iterator[Exchange]:
        return exchanges if self.count == 1 else map(self._exchange, exchanges)

    def _exchange(self, exchange: Exchange) -> Exchange:
        line = _ENCODE(exchange)
        changed = self.line(line)
        return exchange if changed == line else _DECODE(changed)

    def _block(self, block: int) -> int:
        return block * self.count + self.number


ONLY_RECORDING = RecordingNumber()
