"""Captures of traffic, read and written as a stream: our own JSONL, and HAR 1.2 of any tool."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO

from conformance.traffic.capture.files import damage_of, opened
from conformance.traffic.capture.har_reader import read_har
from conformance.traffic.capture.jsonl import read_jsonl, read_range
from conformance.traffic.capture.placeholders import ONLY_RECORDING, RecordingNumber
from conformance.traffic.capture.places import Place, place_of
from conformance.traffic.capture.writer import Writer
from conformance.traffic.exchange import Exchange

__all__ = ["Reader", "Writer", "is_har", "read"]

_FIRST_KEY = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"(\w+)"')


class Reader(Iterator[Exchange]):
    """The exchanges of a file, one by one. ``set_aside`` counts the entries that never were exchanges, by
    reason, and ``first_aside`` names the first of each; ``notes`` says what was passed over. All are whole
    once the last exchange was read."""

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
        if end is not None:
            self._exchanges = read_range(
                self.path, begin, end, salvage=salvage, notes=self.notes, recording=recording
            )
        elif is_har(self.path):
            self._exchanges = recording.exchanges(
                read_har(
                    self.path,
                    salvage=salvage,
                    set_aside=self.set_aside,
                    first_aside=self.first_aside,
                    notes=self.notes,
                )
            )
        else:
            self._exchanges = read_jsonl(self.path, salvage=salvage, notes=self.notes, recording=recording)

    def __iter__(self) -> Iterator[Exchange]:
        return self._exchanges

    def __next__(self) -> Exchange:
        return next(self._exchanges)


def read(
    path: str | Place,
    *,
    salvage: bool = False,
    begin: int = 0,
    end: int | None = None,
    recording: RecordingNumber = ONLY_RECORDING,
) -> Reader:
    """Reads a capture or a HAR file, packed or not, in bounded memory, from a path or an address (``s3://…``).

    CaptureError, on the way: where it breaks, as ``file:line`` and what is wrong there; with
    ``salvage`` what stands before the break is used, and ``notes`` says so.
    ``end``: only the lines of a capture, not packed, that begin from byte ``begin`` on and before ``end``.
    ``recording``: its place among files that are read together, so that it has placeholders of its own.
    """
    return Reader(path, salvage=salvage, begin=begin, end=end, recording=recording)


def is_har(path: Place) -> bool:
    """Whether a file is a HAR, by how it begins. CaptureError: it cannot be opened."""
    with opened(path) as stream:
        first = _FIRST_KEY.match(_beginning_of(stream))
    if first is None:
        return ".har" in path.suffixes
    return first[1] == b"log" or (first[1] != b"n" and ".har" in path.suffixes)


def _beginning_of(stream: BinaryIO) -> bytes:
    """Nothing of a packed file that breaks so early: whoever reads it says so."""
    try:
        return stream.read(4096)
    except Exception as error:
        if damage_of(error) is None:
            raise
        return b""
