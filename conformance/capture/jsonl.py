"""Our own capture: one exchange a line, JSON, append-only, so that a crash costs at most the last line."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from gzip import BadGzipFile, GzipFile
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

import msgspec

from conformance.capture.files import CHUNK, opened
from conformance.errors import CaptureError
from conformance.exchange import Exchange

LONGEST_LINE = 128 * 1024 * 1024

_DECODE = msgspec.json.Decoder(Exchange).decode


def read_jsonl(path: Path, *, salvage: bool, notes: list[str]) -> Iterator[Exchange]:
    """The exchanges of a capture, in its order.

    CaptureError: a line that is none, or cut off; where ``salvage`` says so, what stands before it is used.
    """
    number = 0
    try:
        with opened(path) as stream:
            for number, line in enumerate(_lines(stream), 1):  # noqa: B007 - named in the error below
                if line:
                    yield _DECODE(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, _Damaged) as error:
        told = f"{path}:{number + isinstance(error, _Damaged)}: {_what_is_wrong(error)}."
        before = number if isinstance(error, _Damaged) else number - 1
        if not salvage or before < 1:
            raise CaptureError(told + _how_to_go_on(before)) from error
        notes.append(f"{told} The {before} lines before it were used.")


class _Damaged(Exception):
    """The file cannot be read on from here."""


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    rest = b""
    while chunk := _chunk(stream):
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        yield from lines
        if len(rest) > LONGEST_LINE:
            raise _Damaged(f"a line is longer than {LONGEST_LINE >> 20} MiB; this is no capture")
    if rest.strip():
        yield rest


def _chunk(stream: BinaryIO) -> bytes:
    try:
        return stream.read1(CHUNK) if isinstance(stream, GzipFile | BufferedReader) else stream.read(CHUNK)
    except (EOFError, zlib.error, BadGzipFile) as error:
        raise _Damaged(f"the packed file ends early or is damaged ({error})") from error
    except Exception as error:
        if type(error).__module__.startswith("zstd"):
            raise _Damaged(f"the packed file ends early or is damaged ({error})") from error
        raise


def _what_is_wrong(error: Exception) -> str:
    text = str(error)
    if text == "Input data was truncated":
        return "the line is cut off"
    if isinstance(error, msgspec.ValidationError):
        return f"the line is no exchange: {text}"
    return text


def _how_to_go_on(before: int) -> str:
    return f" To use the {before} lines before it, add --salvage." if before > 0 else ""
