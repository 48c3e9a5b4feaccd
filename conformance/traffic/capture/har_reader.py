"""Reads HAR 1.2 of any size and of any tool, in the order in which its requests were sent.

Tools do not sort their entries: each entry's place is noted first, and the entries are then fetched in order.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
import zlib
from array import array
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import msgspec

from conformance.errors import CaptureError
from conformance.traffic.capture.files import seekable
from conformance.traffic.capture.har_entry import SECRET_HEADERS, Attachments, Source, aside, exchange_of
from conformance.traffic.capture.har_form import Entry, Started, mended
from conformance.traffic.capture.places import Place, StoredFile
from conformance.traffic.capture.scan import Break, Scanner, line_at
from conformance.traffic.exchange import Exchange, named

_ENTRY = msgspec.json.Decoder(Entry).decode
_STARTED = msgspec.json.Decoder(Started).decode
_EPOCH = "1970-01-01T00:00:00+00:00"
_SANITIZES = re.compile(rb'"creator"\s*:\s*\{[^{}]*"WebInspector"')
"""Chrome leaves out cookies and Authorization unless told otherwise."""

_NAMES_A_SECRET = re.compile(rb'"name"\s*:\s*"(?:authorization|cookie|set-cookie)"', re.IGNORECASE)
_HEAD = 1 << 20
AT_ONCE = 16
"""Entries before one among which its equal is looked for: they have the same time."""


def read_har(
    path: Place, set_aside: Counter[str], first_aside: dict[str, str], notes: list[str], *, salvage: bool
) -> Iterator[Exchange]:
    """The exchanges of a HAR, numbered from 1; entries that never went over the wire are counted apart, the
    first of each reason with its name.

    CaptureError: no HAR, or broken (where ``salvage`` says so, what stands before the break is used).
    """
    with ExitStack() as stack:
        file, damage = stack.enter_context(seekable(path))
        survey = _surveyed(file)
        lacks = SECRET_HEADERS if survey.is_sanitized else ()
        source = Source(lacks=lacks, attachment=_attachments(path, stack))
        latest: deque[Entry] = deque(maxlen=AT_ONCE)
        count = number = 0
        started = _EPOCH
        try:
            for count, item in enumerate(survey.entries(file), 1):
                entry = _mended(path, count, item) if isinstance(item, bytes) else item
                started = _timestamp(entry.startedDateTime) or started
                why = "recorded twice" if entry.startedDateTime and entry in latest else aside(entry)
                latest.append(entry)
                if why:
                    set_aside[why] += 1
                    if why not in first_aside and entry.request is not None:
                        first_aside[why] = named(entry.request.method, entry.request.url)
                    continue
                number += 1
                yield exchange_of(entry, number, started, source)
            notes += [f"{path}: {sentence}" for sentence in source.sentences()]
            if damage:
                raise Break(damage, file.seek(0, os.SEEK_END))
        except Break as error:
            problem = f"{path}:{line_at(file, error.offset)}: {damage or error.what} (byte {error.offset})."
            if not count:
                raise CaptureError(f"{problem} This is not a HAR file with entries.") from error
            if not salvage:
                raise CaptureError(
                    f"{problem} Add --salvage to use the {count} complete entries before it."
                ) from error
            notes.append(f"{problem} The {count} entries before it were used.")


@dataclass
class Survey:
    """Where the entries stand, and when they were sent. ``is_sanitized``: the tool leaves out secret headers,
    and none stands in them. ``broken``: why the file cannot be read behind them."""

    is_sanitized: bool
    starts: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    times: array[float] = field(default_factory=lambda: array("d"))
    broken: Break | None = None

    def note(self, raw: bytes, end: int) -> None:
        """Notes place and time of an entry; an entry without a time has the time of the entry before."""
        self.times.append(_epoch(raw, self.times[-1] if self.times else 0.0))
        self.starts.append(end - len(raw))
        self.ends.append(end)
        self.is_sanitized = self.is_sanitized and _NAMES_A_SECRET.search(raw) is None

    def entries(self, file: BinaryIO) -> Iterator[Entry | bytes]:
        """The entries by time; those sent at the same time stay where they stand. Break: as ``broken``."""
        for at in sorted(range(len(self.times)), key=self.times.__getitem__):
            file.seek(self.starts[at])
            yield _decoded(file.read(self.ends[at] - self.starts[at]))
        if self.broken:
            raise self.broken


def _surveyed(file: BinaryIO) -> Survey:
    survey = Survey(_SANITIZES.search(file.read(_HEAD)) is not None)
    file.seek(0)
    try:
        for scanner in _entries(Scanner(file)):
            for raw in scanner.items():
                survey.note(raw, scanner.offset)
    except Break as error:
        survey.broken = error
    return survey


def _entries(scanner: Scanner) -> Iterator[Scanner]:
    """Goes to ``log.entries``, lends the scanner to read them, and goes on to the end of the file. Break: it
    has none."""
    has_entries = False
    for _ in (name for name in scanner.members() if name == "log"):
        for _ in (name for name in scanner.members() if name == "entries"):
            has_entries = True
            yield scanner
    if not has_entries:
        raise Break('there is no "entries" in a "log"', scanner.offset)


def _decoded(raw: bytes) -> Entry | bytes:
    try:
        return _ENTRY(raw)
    except (ValueError, RecursionError):
        return raw


def _epoch(raw: bytes, before: float) -> float:
    try:
        return datetime.fromisoformat(_STARTED(raw).startedDateTime or "").timestamp()
    except (ValueError, RecursionError):
        return before


def _mended(path: Place, number: int, raw: bytes) -> Entry:
    """An entry of a tool that takes liberties, in the types of the standard."""
    try:
        text = raw.decode(errors="replace")
        kept = json.dumps(json.loads(text), ensure_ascii=False).encode("utf-16", "surrogatepass")
        return msgspec.convert(mended(json.loads(kept.decode("utf-16", "replace"))), Entry)
    except (ValueError, RecursionError) as error:
        raise CaptureError(
            f"{path}: entry {number} is not a HAR entry: {error}. Save the file again."
        ) from error


def _timestamp(started: str | None) -> str | None:
    """An entry's time as ISO 8601 with its zone, which the record needs."""
    if not started:
        return None
    if len(started) == 24 and started[-1] == "Z" and started[10] == "T":
        return started
    try:
        time = datetime.fromisoformat(started)
    except ValueError:
        return None
    if time.tzinfo is None:
        return f"{started}+00:00"
    return started if len(started) <= 32 and "T" in started else time.isoformat()


def _attachments(path: Place, stack: ExitStack) -> Attachments:
    """Bodies in files of their own: in the zip that holds the HAR, or beside it on this machine."""
    file = stack.enter_context(path.open("rb"))
    archive = stack.enter_context(zipfile.ZipFile(file)) if zipfile.is_zipfile(file) else None

    def attachment(name: str) -> bytes | None:
        if archive is not None:
            try:
                return archive.read(name) if name in archive.namelist() else None
            except (zipfile.BadZipFile, zlib.error, EOFError) as error:
                raise CaptureError(
                    f"{path}: {name} in it is damaged ({error}). Save the file again."
                ) from error
        if isinstance(path, StoredFile) or Path(name).name != name:
            return None
        beside = path.parent / name
        return beside.read_bytes() if beside.is_file() else None

    return attachment
