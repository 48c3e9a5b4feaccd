"""Our own capture: one exchange a line, JSON, append-only, so that a crash costs at most the last line."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Generator, Iterator
from contextlib import closing
from datetime import datetime
from functools import partial

import msgspec

from conformance.errors import CaptureError
from conformance.traffic.capture.files import damage_of, opened
from conformance.traffic.capture.placeholders import ONLY_RECORDING, RecordingNumber
from conformance.traffic.capture.places import Place
from conformance.traffic.exchange import Exchange

LONGEST_LINE = 128 * 1024 * 1024

_DECODE, _READ_TIME = msgspec.json.Decoder(Exchange).decode, datetime.fromisoformat


def read_jsonl(
    path: Place, *, salvage: bool, notes: list[str], recording: RecordingNumber = ONLY_RECORDING
) -> Iterator[Exchange]:
    """The exchanges of a capture, in its order.

    CaptureError: a line that is none, or cut off; where ``salvage`` says so, what stands before it is used.
    """
    return _read(path, _own(_all_lines(path), recording), salvage=salvage, notes=notes)


def read_range(
    path: Place,
    begin: int,
    end: int,
    *,
    salvage: bool,
    notes: list[str],
    recording: RecordingNumber = ONLY_RECORDING,
) -> Iterator[Exchange]:
    """Those whose lines begin from byte ``begin`` on and before ``end``, as ``read_jsonl`` reads them."""
    lines = _own(_lines_between(path, begin, end), recording)
    return _read(path, lines, salvage=salvage, notes=notes, begin=begin)


def _all_lines(path: Place) -> Generator[bytes]:
    with opened(path) as stream:
        if first := stream.readline(LONGEST_LINE + 1).removeprefix(BOM_UTF8):
            yield first
        yield from iter(partial(stream.readline, LONGEST_LINE + 1), b"")


def _own(lines: Generator[bytes], recording: RecordingNumber) -> Generator[bytes]:
    """The lines with the file's own placeholders."""
    return lines if recording.count == 1 else _renumbered(lines, recording)


def _renumbered(lines: Generator[bytes], recording: RecordingNumber) -> Generator[bytes]:
    with closing(lines):
        for line in lines:
            yield recording.line(line)


def _lines_between(path: Place, begin: int, end: int) -> Generator[bytes]:
    with opened(path) as stream:
        place = begin
        if begin:
            stream.seek(begin - 1)
            place = begin - 1 + len(stream.readline())
        while place < end and (line := stream.readline(LONGEST_LINE + 1)):
            yield line if place else line.removeprefix(BOM_UTF8)
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


A_DOCUMENT = "this is no capture. A report (results.json) is what `portal-conformance compare` reads"
"""What is wrong with JSON over several lines."""


def _what_is_wrong(error: Exception, line: bytes) -> str:
    if line.strip() in (b"{", b"["):
        return A_DOCUMENT
    if len(line) > LONGEST_LINE:
        return f"a line is longer than {LONGEST_LINE >> 20} MiB; this is not a capture"
    text = str(error)
    if text == "Input data was truncated":
        return "the line is cut off"
    return f"the line is not an exchange: {text}" if isinstance(error, msgspec.ValidationError) else text


def _how_to_go_on(before: int) -> str:
    if before < 1:
        return " Give a capture that `portal-conformance record` wrote, or a HAR file."
    return f" Add --salvage to use the {before} lines before it."
