"""Which of some files are parts of one recording, whose placeholders mean the same in all of them."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import BinaryIO

from conformance.traffic.capture.files import damage_of, opened
from conformance.traffic.capture.placeholders import ONLY_RECORDING, RecordingNumber
from conformance.traffic.capture.places import Place, StoredStream

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
        try:
            first = _number(stream.read(HEAD))
        except Exception as error:
            if damage_of(error) is None:
                raise
            return None, None
        is_plain = isinstance(stream, io.BufferedReader) and isinstance(stream.raw, (io.FileIO, StoredStream))
        return first, None if first is None or not is_plain else _last(stream)


def _last(stream: BinaryIO) -> int | None:
    size = stream.seek(0, io.SEEK_END)
    stream.seek(max(0, size - TAIL))
    *_, line = stream.read().rstrip().rsplit(b"\n", 1)
    return _number(line)


def _number(line: bytes) -> int | None:
    match = NUMBER.match(line)
    return None if match is None else int(match[1])
