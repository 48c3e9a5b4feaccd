"""The redacted lines of a check, written by several processes: a part each, and joined in their order."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from conformance.check.traffic import CheckOptions, FilePart, PortalTraffic
from conformance.report.model.evidence import CountedPart, RunEvidence
from conformance.traffic.log import line_of
from conformance.traffic.redaction.finder import finder_of
from conformance.traffic.redaction.redact import Secrets

BUFFER = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class LinesShare:
    """A part whose exchanges are to be written to ``path``, as long as there is nothing to be redacted."""

    number: int
    part: FilePart
    options: CheckOptions
    path: Path

    def __str__(self) -> str:
        return f"the lines of {self.part}"


@dataclass(frozen=True, slots=True)
class WrittenLines:
    """``first`` is the number that the first exchange was given; ``holds_secrets``: the lines from some
    exchange on were not written, as there is a secret in it; ``is_broken``: the file breaks in it;
    ``counted`` is what reports show of all of them."""

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
    with share.path.open("wb", BUFFER) as out:
        for exchange in traffic.numbered_as_recorded():
            secrets.add_from(exchange)
            finder.register(exchange, secrets)
            holds_secrets = bool(len(secrets) or finder.has_changed_any)
            if holds_secrets:
                break
            line = line_of(exchange)
            out.write(line + b"\n")
            counted.count(exchange, len(line))
    return WrittenLines(traffic.first, traffic.count, holds_secrets, bool(traffic.notes), counted)


@dataclass
class JoinedLines:
    """Joins the lines of parts to one file, in their order and as they come in, and counts them for the
    reports."""

    path: Path
    evidence: RunEvidence = field(default_factory=RunEvidence)
    parts: int = 0

    def add(self, share: LinesShare, part: WrittenLines) -> None:
        """The next part."""
        with self.path.open("ab" if self.parts else "wb") as out:
            append(share.path, out, part, part.count, self.evidence.total)
        self.evidence.extend(part.counted)
        self.parts += 1


def append(path: Path, out: BinaryIO, part: WrittenLines, count: int, begin: int) -> None:
    """Adds the first lines of a part to those of the parts before, of which there are ``begin``."""
    with path.open("rb") as lines:
        if count == part.count and begin + 1 == part.first:
            shutil.copyfileobj(lines, out, 1 << 20)
        else:
            out.writelines(_moved(islice(lines, count), begin + 1 - part.first))


def _moved(lines: Iterable[bytes], shift: int) -> Iterator[bytes]:
    """Lines with their numbers moved: each begins with its number, ``{"n":``."""
    for line in lines:
        number, _, rest = line.removeprefix(b'{"n":').partition(b",")
        yield b'{"n":%d,%b' % (int(number) + shift, rest)
