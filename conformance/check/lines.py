"""The redacted lines of a check, written by several processes: a part each, and joined in their order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from conformance.check.traffic import CheckOptions, FilePart, PortalTraffic
from conformance.report.model.evidence import CountedPart, RunEvidence
from conformance.traffic.log import line_of
from conformance.traffic.redaction.finder import finder_of
from conformance.traffic.redaction.redact import Secrets

BUFFER = 1 << 17
"""Bytes that are copied at once: few enough to stay in a processor's cache."""


@dataclass(frozen=True, slots=True, eq=False)
class LinesShare:
    """A part whose exchanges are to be written to ``path``, as long as there is nothing to be redacted.

    ``begin`` is the byte from which on they stand there, whatever stands there now; ``first`` is the number
    of the first exchange, where it is known.
    """

    number: int
    part: FilePart
    options: CheckOptions
    path: Path
    begin: int = 0
    first: int | None = None

    def __str__(self) -> str:
        return f"the lines of {self.part}"


@dataclass(frozen=True, slots=True)
class WrittenLines:
    """``path`` holds them from byte ``begin`` to ``end``. ``first`` is the number that the first exchange was
    given; ``holds_secrets``: the lines from some exchange on were not written, as there is a secret in it;
    ``is_broken``: the file breaks in it; ``counted`` is what reports show of all of them."""

    path: Path
    begin: int
    end: int
    first: int
    count: int
    holds_secrets: bool
    is_broken: bool
    counted: CountedPart


def write_lines(share: LinesShare) -> WrittenLines:
    """CaptureError: it cannot be read."""
    traffic, secrets = PortalTraffic([share.part], share.options), Secrets()
    finder, holds_secrets = finder_of(share.options.redact, share.options.keep), False
    counted = CountedPart()
    with _opened_from(share.begin, share.path) as out:
        for exchange in traffic.numbered_as_recorded(share.first):
            secrets.add_from(exchange)
            finder.register(exchange, secrets)
            holds_secrets = bool(len(secrets) or finder.has_changed_any)
            if holds_secrets:
                break
            line = line_of(exchange)
            out.write(line + b"\n")
            counted.count(exchange, len(line))
        end = out.tell()
    return WrittenLines(
        share.path,
        share.begin,
        end,
        traffic.first,
        traffic.count,
        holds_secrets,
        bool(traffic.notes),
        counted,
    )


def _opened_from(begin: int, path: Path) -> BinaryIO:
    """A file that is written from a byte on; what stood behind it is gone."""
    path.touch()
    out = path.open("r+b", BUFFER)
    out.seek(begin)
    out.truncate()
    return out


@dataclass
class JoinedLines:
    """Joins the lines of parts to one file, in their order and as they come in, and counts them for the
    reports. ``size`` is the bytes of those that are joined."""

    path: Path
    evidence: RunEvidence = field(default_factory=RunEvidence)
    parts: int = 0
    size: int = 0

    def next_in_place(self, share: LinesShare) -> LinesShare:
        """The share with its lines written where they belong, so that nobody copies them: if all parts before
        it are joined, as nobody else writes there then."""
        if share.number != self.parts:
            return share
        return replace(share, path=self.path, begin=self.size, first=self.evidence.total + 1)

    def add(self, part: WrittenLines) -> None:
        """The next part."""
        if part.path == self.path:
            self.size = part.end
        else:
            with _opened_from(self.size, self.path) as out:
                append(part, out, part.count, self.evidence.total)
                self.size = out.tell()
        self.evidence.extend(part.counted)
        self.parts += 1

    def move_to(self, path: Path) -> None:
        """Makes it the file of this name, without lines of parts that are not joined."""
        with _opened_from(self.size, self.path):
            self.path.replace(path)


def append(part: WrittenLines, out: BinaryIO, count: int, before: int) -> None:
    """Adds the first lines of a part to those of the parts before, of which there are so many."""
    with part.path.open("rb") as lines:
        lines.seek(part.begin)
        if count == part.count and before + 1 == part.first:
            copy_bytes(lines, out, part.end - part.begin)
        else:
            out.writelines(_moved(islice(lines, min(count, part.count)), before + 1 - part.first))


def copy_bytes(source: BinaryIO, out: BinaryIO, size: int) -> None:
    while size > 0 and (chunk := source.read(min(size, BUFFER))):
        out.write(chunk)
        size -= len(chunk)


def _moved(lines: Iterable[bytes], shift: int) -> Iterator[bytes]:
    """Lines with their numbers moved: each begins with its number, ``{"n":``."""
    for line in lines:
        number, _, rest = line.removeprefix(b'{"n":').partition(b",")
        yield b'{"n":%d,%b' % (int(number) + shift, rest)
