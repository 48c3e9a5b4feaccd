"""Captures of traffic, read and written as a stream: our own JSONL, and HAR 1.2 of any tool."""

from __future__ import annotations

import io
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from itertools import pairwise
from typing import BinaryIO

import msgspec

from conformance.errors import CaptureError
from conformance.traffic.capture.bodies import is_length
from conformance.traffic.capture.files import beginning, damage_of, is_plain, opened
from conformance.traffic.capture.har_reader import read_har
from conformance.traffic.capture.placeholders import ONLY_RECORDING, RecordingNumber
from conformance.traffic.capture.places import Place, place_of
from conformance.traffic.capture.writer import Writer
from conformance.traffic.exchange import NOT_JSON, Exchange

NUMBER = re.compile(rb'\s*\{"n"\s*:\s*(\d{1,18})[,}]')
HEAD, TAIL = 64, 1 << 20
"""Bytes in which the number of the first exchange stands, and the whole line of the last one."""


def recording_numbers(files: Sequence[Place]) -> list[RecordingNumber]:
    """The place of each file among the recordings that are read together. A file whose numbers go on where
    those of the file before it end is a part of the same recording. CaptureError: one cannot be opened."""
    if len(files) < 2:
        return [ONLY_RECORDING for _ in files]
    numbers = [_first_and_last(path) for path in files]
    places = [0]
    for (_, last), (first, _) in pairwise(numbers):
        goes_on = last is not None and first == last + 1
        places.append(places[-1] if goes_on else places[-1] + 1)
    return [RecordingNumber(place, places[-1] + 1) for place in places]


def _first_and_last(path: Place) -> tuple[int | None, int | None]:
    """The numbers of a capture's first and last exchange, as far as they can be had without reading it."""
    with opened(path) as stream:
        first = _number(beginning(stream)[:HEAD])
        return first, _last(stream) if first is not None and is_plain(stream) else None


def _last(stream: BinaryIO) -> int | None:
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, size - TAIL))
    *_, line = stream.read().rstrip().rsplit(b"\n", 1)
    return _number(line)


def _number(line: bytes) -> int | None:
    match = NUMBER.match(line)
    return None if match is None else int(match[1])


LONGEST_LINE = 128 * 1024 * 1024

_DECODE, _READ_TIME = msgspec.json.Decoder(Exchange).decode, datetime.fromisoformat


def _lines(path: Place, begin: int, end: int | None, recording: RecordingNumber) -> Generator[bytes]:
    """Lines that begin in a range of bytes, with the placeholders of their recording."""
    with opened(path) as stream:
        place = begin
        if begin:
            stream.seek(begin - 1)
            place = begin - 1 + len(stream.readline())
        while (end is None or place < end) and (line := stream.readline(LONGEST_LINE + 1)):
            if bare := line if place else line.removeprefix(BOM_UTF8):
                yield recording.line(bare)
            place += len(line)


def _lines_before(path: Place, begin: int) -> int:
    """How many lines begin before a byte."""
    count = 0
    with opened(path) as stream:
        for line in stream:
            if begin <= 0:
                break
            begin -= len(line)
            count += 1
    return count


def _read(
    path: Place, lines: Generator[bytes], *, salvage: bool, notes: list[str], begin: int = 0
) -> Iterator[Exchange]:
    number, line = 0, b""
    try:
        with closing(lines):
            for line in lines:
                number += 1
                if not line.isspace():
                    exchange = _DECODE(line)
                    _READ_TIME(exchange.started)
                    for message in filter(None, (exchange.request, exchange.response)):
                        if message.form == NOT_JSON and not is_length(message.body):
                            raise ValueError('the "body" of what is "not-json" is not its length')
                    yield exchange
    except Exception as error:
        damage = damage_of(error)
        if damage is None and not isinstance(error, UNREADABLE):
            raise
        before = (number - 1 if damage is None else number) + (_lines_before(path, begin) if begin else 0)
        problem = f"{path}:{before + 1}: {damage or _what_is_wrong(error, line)}."
        if not salvage or before < 1:
            raise CaptureError(problem + _how_to_go_on(before)) from error
        notes.append(f"{problem} The {before} lines before it were used.")


UNREADABLE = (msgspec.DecodeError, ValueError, RecursionError)
"""What is raised of a line that is no exchange."""


A_DOCUMENT = (
    "this is no capture. A report (results.json) is what `portal-conformance compare` reads; a capture whose"
    " exchanges were put on several lines is mended by `jq -c .`"
)
"""What is wrong with JSON over several lines."""


def _what_is_wrong(error: Exception, line: bytes) -> str:
    if line.strip() in (b"{", b"["):
        return A_DOCUMENT
    if len(line) > LONGEST_LINE:
        return f"a line is longer than {LONGEST_LINE >> 20} MiB; this is not a capture"
    text = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
    if text == "Input data was truncated":
        return "the line is cut off"
    return f"the line is not an exchange: {text}" if isinstance(error, msgspec.ValidationError) else text


def _how_to_go_on(before: int) -> str:
    if before < 1:
        return " Give a capture that `portal-conformance record` wrote, or a HAR file."
    return f" Add --salvage to use the {before} lines before it."


__all__ = ["Reader", "Writer", "is_har", "read"]

_FIRST_KEY = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(\w+)"')


class Reader(Iterator[Exchange]):
    """Reads a capture or a HAR file, packed or not, in bounded memory, from a path or an address (``s3://…``).

    CaptureError, on the way: where it breaks, as ``file:line`` and what is wrong there; with
    ``salvage`` what stands before the break is used, and ``notes`` says so.
    ``end``: only the lines of a capture, not packed, that begin from byte ``begin`` on and before ``end``.
    ``recording``: its place among files that are read together, so that it has placeholders of its own.

    ``set_aside`` counts the entries that never were exchanges, by reason, and ``first_aside`` names the first
    of each; ``notes`` says what was passed over. All are whole once the last exchange was read.
    """

    def __init__(
        self,
        path: str | Place,
        *,
        salvage: bool = False,
        begin: int = 0,
        end: int | None = None,
        recording: RecordingNumber = ONLY_RECORDING,
    ) -> None:
        self.path = place_of(path)
        self.set_aside: Counter[str] = Counter()
        self.first_aside: dict[str, str] = {}
        self.notes: list[str] = []
        if end is None and is_har(self.path):
            aside = self.set_aside, self.first_aside
            entries = read_har(self.path, *aside, self.notes, salvage=salvage)
            self._exchanges = recording.exchanges(entries)
        else:
            lines = _lines(self.path, begin, end, recording)
            self._exchanges = _read(self.path, lines, salvage=salvage, notes=self.notes, begin=begin)

    def __iter__(self) -> Iterator[Exchange]:
        return self._exchanges

    def __next__(self) -> Exchange:
        return next(self._exchanges)


read = Reader


def is_har(path: Place) -> bool:
    """Whether a file is a HAR, by how it begins. CaptureError: it cannot be opened."""
    with opened(path) as stream:
        first = _FIRST_KEY.match(beginning(stream))
    if first is None:
        return ".har" in path.suffixes
    return first[1] == b"log" or (first[1] != b"n" and ".har" in path.suffixes)
