"""Walks through a JSON document of any size, one value at a time, in the memory of its largest value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

import msgspec

CHUNK = 96 << 10
"""Bytes read at once: few enough that the memory they are read into is used again, and stays in the cache."""

LARGEST_VALUE = 256 * 1024 * 1024
LONGEST_TOKEN = 400
"""Bytes from the end of what was read within which a number, an escape or ``true`` may merely be cut off."""

_SKIP = msgspec.json.Decoder(msgspec.Raw).decode
_BLANK = re.compile(rb"[ \t\r\n]*")
_PLACE = re.compile(r"(.*) \(byte (\d+)\)")
_LONE_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_REPLACEMENT = rb"\ufffd"


class Break(Exception):
    """The document cannot be read on: what is wrong, and at which byte."""

    def __init__(self, what: str, offset: int) -> None:
        super().__init__(what)
        self.what, self.offset = what, offset


class Scanner:
    """A place in a document. The decoder itself tells where a value ends: it names the next byte that does
    not belong to it (counted from 1, blanks stepped over), at the speed at which it skips."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.buffer = b""
        self.at = 0
        self.passed = 0
        self.ended = False
        self._fill()
        if self.buffer.startswith(b"\xef\xbb\xbf"):
            self.at = 3

    @property
    def offset(self) -> int:
        return self.passed + self.at

    def peek(self) -> bytes:
        """The next byte that is not blank, not yet taken; empty at the end."""
        while True:
            self.at = _BLANK.match(self.buffer, self.at).end()  # type: ignore[union-attr]
            if self.at < len(self.buffer) or not self._fill():
                return self.buffer[self.at : self.at + 1]

    def take(self, wanted: bytes) -> bool:
        """Steps over a punctuation mark if it is the next byte."""
        is_next = self.peek() == wanted
        self.at += is_next
        return is_next

    def expect(self, wanted: bytes) -> None:
        if not self.take(wanted):
            following = self.peek()
            raise self.broken(f"{wanted.decode()!r} is missing" if following else "the file ends here")

    def key(self) -> str:
        """A member's name, with its colon stepped over."""
        raw = self.value()
        self.expect(b":")
        try:
            return msgspec.json.decode(raw, type=str)
        except msgspec.DecodeError:
            raise self.broken("a name is missing") from None

    def members(self) -> Iterator[str]:
        """The names in the object that starts here; a value that the caller does not read is passed over."""
        self.expect(b"{")
        if self.take(b"}"):
            return
        while True:
            name = self.key()
            place = self.offset
            yield name
            if self.offset == place:
                self.value()
            if self.take(b"}"):
                return
            self.expect(b",")

    def value(self) -> bytes:
        """The next value as its bytes, with the blanks around it. Break: it is broken or cut off."""
        while True:
            end = self._end_of_value()
            if end is not None:
                text = self.buffer[self.at : end]
                self.at = end
                return text
            if self.ended:
                raise self.broken("the file ends in the middle of a value")
            self._fill(more=len(self.buffer) - self.at)
            if len(self.buffer) - self.at > LARGEST_VALUE:
                raise self.broken("a value is larger than can be read")

    def items(self) -> Iterator[bytes]:
        """The values of the array that starts here, as their bytes."""
        self.expect(b"[")
        if self.take(b"]"):
            return
        while True:
            yield self.value()
            if self.buffer[self.at : self.at + 1] == b"," or self.peek() == b",":
                self.at += 1
            elif self.take(b"]"):
                return
            else:
                raise self.broken("',' or ']' is missing")

    def broken(self, what: str, ahead: int = 0) -> Break:
        return Break(what, self.offset + ahead)

    def _end_of_value(self) -> int | None:
        """Where the value that starts here ends in the buffer; None where it goes on past it."""
        while True:
            problem = self._problem_of_value()
            if problem is None:
                whole = self.ended or self.peek() in (b"{", b"[", b'"')
                return len(self.buffer) if whole else None
            match = _PLACE.search(problem)
            if match is None:
                return None
            what, place = match[1].removeprefix("JSON is malformed: "), int(match[2])
            if what == "trailing characters":
                return self.at + place - 1
            if not self.ended and self.at + place > len(self.buffer) - LONGEST_TOKEN:
                return None
            if not self._mend_surrogate(self.at + place):
                raise self.broken(what, place)

    def _problem_of_value(self) -> str | None:
        """The decoder's error for the rest of the buffer; None for a valid value."""
        try:
            _SKIP(memoryview(self.buffer)[self.at :])
        except msgspec.DecodeError as error:
            return str(error)
        except RecursionError:
            raise self.broken("a value is nested too deeply") from None
        return None

    def _mend_surrogate(self, place: int) -> bool:
        """Half a surrogate pair, which some tools write, becomes the replacement character."""
        for start in (place - 6, place - 12):
            if start >= self.at and _LONE_SURROGATE.match(self.buffer, start):
                self.buffer = self.buffer[:start] + _REPLACEMENT + self.buffer[start + 6 :]
                return True
        return False

    def _fill(self, more: int = 0) -> bool:
        """Reads on, and lets go of what was stepped over; False at the end."""
        chunk = b"" if self.ended else self.stream.read(max(CHUNK, more))
        if not chunk:
            self.ended = True
            return False
        self.passed += self.at
        self.buffer = self.buffer[self.at :] + chunk
        self.at = 0
        return True


def line_at(stream: BinaryIO, offset: int) -> int:
    """The line, from 1, that a byte stands in."""
    stream.seek(0)
    line = 1
    while offset > 0 and (chunk := stream.read(min(CHUNK, offset))):
        line += chunk.count(b"\n")
        offset -= len(chunk)
    return line
