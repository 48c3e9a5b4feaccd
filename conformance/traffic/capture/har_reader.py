"""Reads HAR 1.2 of any size and of any tool, in the order in which its requests were sent.

Tools do not sort their entries. A quick survey of the times tells whether the file can be read as it
stands; where not, each entry's place is noted first, and the entries are then fetched in order.
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
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, TypeAlias

import msgspec

from conformance.errors import CaptureError
from conformance.traffic.capture.files import seekable
from conformance.traffic.capture.har_entry import SECRET_HEADERS, Attachments, Source, aside, exchange_of
from conformance.traffic.capture.har_form import Entry, Started, mended
from conformance.traffic.capture.places import Place, StoredFile
from conformance.traffic.capture.scan import CHUNK, Break, Scanner, line_at
from conformance.traffic.exchange import Exchange, named

_ENTRY = msgspec.json.Decoder(Entry).decode
_SEVERAL = msgspec.json.Decoder(list[Entry]).decode
_EPOCH = "1970-01-01T00:00:00+00:00"
AT_ONCE = 16
"""Entries before one among which its equal is looked for: they have the same time."""


def read_har(
    path: Place, *, salvage: bool, set_aside: Counter[str], first_aside: dict[str, str], notes: list[str]
) -> Iterator[Exchange]:
    """The exchanges of a HAR, numbered from 1; entries that never went over the wire are counted apart, the
    first of each reason with its name.

    CaptureError: no HAR, or broken (where ``salvage`` says so, what stands before the break is used).
    """
    with ExitStack() as stack:
        file, damage = stack.enter_context(seekable(path))
        survey = surveyed(file)
        lacks = SECRET_HEADERS if survey.is_sanitized else ()
        source = Source(lacks=lacks, attachment=_attachments(path, stack))
        entries = _as_they_stand(file) if survey.is_sorted else _by_time(file)
        latest: deque[Entry] = deque(maxlen=AT_ONCE)
        count = number = 0
        started = _EPOCH
        try:
            for count, item in enumerate(entries, 1):
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


def _as_they_stand(file: BinaryIO) -> Iterator[Entry | bytes]:
    for entries in _entries(Scanner(file)):
        yield from entries.objects(Entry)


def _by_time(file: BinaryIO) -> Iterator[Entry | bytes]:
    """The entries by time; those sent at the same time, or without one, stay where they stand.

    A break in the file is raised after what stands before it.
    """
    starts, ends, times = array("q"), array("q"), array("d")
    broken: Break | None = None
    try:
        for scanner in _entries(Scanner(file)):
            for sent, start, end in scanner.placed(Started):
                times.append(_time_of(sent, times[-1] if times else 0.0))
                starts.append(start)
                ends.append(end)
    except Break as error:
        broken = error
    for run in _runs(sorted(range(len(times)), key=times.__getitem__), starts, ends):
        first = starts[run[0]]
        file.seek(first)
        raw = file.read(ends[run[-1]] - first)
        try:
            yield from _SEVERAL(b"[%b]" % raw)
        except (ValueError, RecursionError):
            for at in run:
                yield _decoded(raw[starts[at] - first : ends[at] - first])
    if broken:
        raise broken


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


def _runs(order: list[int], starts: array[int], ends: array[int]) -> Iterator[list[int]]:
    """Those in their order that stand in the file next to each other as well, as many as are read at once."""
    run: list[int] = []
    for at in order:
        if run and (at != run[-1] + 1 or ends[at] - starts[run[0]] > CHUNK):
            yield run
            run = []
        run.append(at)
    if run:
        yield run


def _decoded(raw: bytes) -> Entry | bytes:
    try:
        return _ENTRY(raw)
    except (ValueError, RecursionError):
        return raw


def _time_of(sent: Started | bytes, before: float) -> float:
    """The start time of an entry; a missing time equals that of the previous entry."""
    return before if isinstance(sent, bytes) else _epoch(sent.startedDateTime, before)


def _epoch(started: str | None, before: float) -> float:
    try:
        return datetime.fromisoformat(started or "").timestamp()
    except ValueError:
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


_SENT = b'"startedDateTime"'
_SENT_AT = re.compile(
    rb'"startedDateTime"\s*:\s*"(?:(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)(Z|[-+]\d\d:\d\d)"|[^"\\]*")'
)
"""When an entry was sent: its digits and its zone, where it is told as tools usually do."""

_SANITIZES = re.compile(rb'"creator"\s*:\s*\{[^{}]*"WebInspector"')
"""Chrome leaves out cookies and Authorization unless told otherwise."""

_NAMES_A_SECRET = re.compile(rb'"name"\s*:\s*"(?:authorization|cookie|set-cookie)"', re.IGNORECASE)
_SECRETS_END = (b'uthorization"', b'ookie"')

_HEAD = 1 << 20
_OVERLAP = 256
"""Bytes within which a name and its value stand: so many on both sides of where a chunk ends are looked at
once more."""

Time: TypeAlias = tuple[bytes, bytes]
"""The digits of a time, and its zone."""


@dataclass(frozen=True)
class Survey:
    is_sorted: bool
    """Whether the entries certainly stand in the order of their times."""
    is_sanitized: bool
    """Whether its tool leaves out secret headers, and none stands in it."""


def surveyed(file: BinaryIO) -> Survey:
    """Looks the file through without decoding it, and goes back to its start."""
    is_sanitized = _SANITIZES.search(file.read(_HEAD)) is not None
    file.seek(0)
    latest: Time | None = (b"", b"")
    rest = b""
    while (latest or is_sanitized) and (chunk := file.read(CHUNK)):
        for text in (rest + chunk[:_OVERLAP], chunk):
            latest = latest and _latest_in(text, latest)
            is_sanitized = is_sanitized and not _names_a_secret(text)
        rest = chunk[-_OVERLAP:]
    file.seek(0)
    return Survey(is_sorted=latest is not None, is_sanitized=is_sanitized)


def _latest_in(text: bytes, latest: Time) -> Time | None:
    """The last time in a text. None where one is before the one ahead of it, or only a closer look tells:
    times in the usual form and of one zone follow each other as their digits do."""
    digits, zone = latest
    at = text.find(_SENT)
    while at >= 0:
        match = _SENT_AT.match(text, at)
        if match:
            sent = match.groups()
            if sent[0] is None or sent[0] < digits or sent[1] != (zone or sent[1]):
                return None
            digits, zone = sent
        at = text.find(_SENT, at + len(_SENT))
    return digits, zone


def _names_a_secret(text: bytes) -> bool:
    """Looks for the ends of the names, which are found faster than names in any case."""
    for end in _SECRETS_END:
        at = text.find(end)
        while at >= 0:
            if _NAMES_A_SECRET.search(text, max(at - _OVERLAP, 0), at + len(end)):
                return True
            at = text.find(end, at + 1)
    return False
