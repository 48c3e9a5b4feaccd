"""The redacted lines of a check, written by the workers of a cluster: a part each, joined in their order.

They are half of the work, and need no order where nothing is secret.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from conformance.check.traffic import CheckOptions, FilePart, PortalTraffic
from conformance.errors import CaptureError
from conformance.report.model.evidence import CountedPart, RunEvidence
from conformance.report.model.words import plural
from conformance.rules.registry import NO_OWN_RULES
from conformance.traffic.capture.places import Place
from conformance.traffic.garbage_collector import rare_garbage_collection
from conformance.traffic.log import line_of
from conformance.traffic.redaction.finder import finder_of
from conformance.traffic.redaction.redact import Secrets
from conformance.work.dask import Cluster, Lost, NotShared
from conformance.work.merge import BUFFER, copy_bytes

if TYPE_CHECKING:
    from distributed import Future

PEEKED_EXCHANGES = 300
"""Exchanges that are looked at for secrets before the work is divided."""


@dataclass(frozen=True, slots=True)
class WrittenLines:
    """The lines of a part, in a file. ``first`` is the number that the first exchange was given;
    ``holds_secrets``: from some exchange on they were not written, as there is a secret in it; ``is_broken``:
    the capture breaks in the part; ``counted`` is what reports show of them."""

    path: Path
    first: int
    count: int
    holds_secrets: bool
    is_broken: bool
    counted: CountedPart


def holds_secrets(traffic: PortalTraffic) -> bool:
    """Whether the beginning of the traffic is not redacted: placeholders are numbered in order, so that one
    process writes all lines. CaptureError: it cannot be read."""
    secrets, finder = Secrets(), finder_of(traffic.options.redact, traffic.options.keep)
    for exchange in islice(traffic, PEEKED_EXCHANGES):
        secrets.add_from(exchange)
        finder.register(exchange, secrets)
    return bool(len(secrets) or finder.has_changed_any)


def write_lines(part: FilePart, options: CheckOptions, path: Path) -> WrittenLines:
    """Writes the lines of a part to a file, as long as there is nothing to be redacted. CaptureError: it
    cannot be read."""
    traffic, secrets = PortalTraffic([part], options), Secrets()
    finder, has_secrets, counted = finder_of(options.redact, options.keep), False, CountedPart()
    with rare_garbage_collection(), path.open("wb", BUFFER) as out:
        for exchange in traffic.numbered_as_recorded():
            secrets.add_from(exchange)
            finder.register(exchange, secrets)
            has_secrets = bool(len(secrets) or finder.has_changed_any)
            if has_secrets:
                break
            line = line_of(exchange)
            out.write(line + b"\n")
            counted.count(exchange, len(line))
    return WrittenLines(path, traffic.first, traffic.totals.count, has_secrets, bool(traffic.notes), counted)


@dataclass
class JoinedLines:
    """The lines of all parts in one file, as far as they have come in: in their order, counted for the
    reports. ``holds_secrets``: a part does, so that all lines are to be written anew."""

    cluster: Cluster
    parts: Sequence[FilePart]
    options: CheckOptions
    path: Path
    evidence: RunEvidence = field(default_factory=RunEvidence)
    holds_secrets: bool = False
    lost: Counter[str] = field(default_factory=Counter)
    """By reason, how many parts no worker could write: this process did."""
    _tasks: deque[Future] = field(default_factory=deque)
    _joined: int = 0
    _broken: Place | None = None

    def begin(self) -> None:
        self.path.write_bytes(b"")
        options = replace(self.options, own=NO_OWN_RULES)  # the command judges, the workers write
        for number, part in enumerate(self.parts):
            self._tasks.append(self.cluster.begin(write_lines, part.absolute(), options, self._file(number)))

    def join_ready(self) -> None:
        while self._tasks and not self.holds_secrets and self._tasks[0].done():
            self._join_next()

    def join_all(self) -> None:
        """Waits for all parts, and joins them. NotShared, UsageError: the workers lack something."""
        while self._tasks and not self.holds_secrets:
            self._join_next()

    def cut(self, count: int) -> None:
        """Leaves the first lines, or none where they hold secrets."""
        with self.path.open("r+b", BUFFER) as lines:
            size = sum(map(len, islice(lines, 0 if self.holds_secrets else count)))
            lines.truncate(size)

    def _join_next(self) -> None:
        part, written = self.parts[self._joined], self._written()
        if written is None:
            return
        self._joined += 1
        if part.begin == 0:
            self._broken = None
        if part.path == self._broken:
            return
        self.holds_secrets = written.holds_secrets
        if self.holds_secrets:
            return
        with self.path.open("ab", BUFFER) as out:
            append(written, out, self.evidence.total)
        self.evidence.extend(written.counted)
        if part.is_range and written.is_broken:
            self._broken = part.path

    def _written(self) -> WrittenLines | None:
        """The lines of the next part: what no worker can write, this process does. None: the capture cannot
        be read to its end, which this process meets as well, and says where. NotShared, UsageError."""
        try:
            written: WrittenLines = self.cluster.result(self._tasks.popleft())
            return written
        except NotShared:
            raise
        except CaptureError:
            self._tasks.clear()
            return None
        except Lost as problem:
            self.lost[str(problem)] += 1
        return write_lines(self.parts[self._joined], self.options, self._file(self._joined))

    def notes(self) -> Iterator[str]:
        """What no worker could write, as sentences."""
        for why, times in self.lost.items():
            yield f"No worker could write {plural(times, 'part')} of the exchanges ({why}): the command did."

    def _file(self, number: int) -> Path:
        return self.cluster.folder / f"{number}.jsonl"


def append(written: WrittenLines, out: BinaryIO, before: int) -> None:
    """Appends a part's lines to the output, renumbered to follow the ``before`` lines of earlier parts."""
    with written.path.open("rb", BUFFER) as lines:
        if before + 1 == written.first:
            copy_bytes(lines, out, written.path.stat().st_size)
        else:
            out.writelines(_moved(lines, before + 1 - written.first))
    written.path.unlink()


def _moved(lines: Iterable[bytes], shift: int) -> Iterator[bytes]:
    """Lines with their numbers moved: each begins with its number, ``{"n":``."""
    for line in lines:
        number, _, rest = line.removeprefix(b'{"n":').partition(b",")
        yield b'{"n":%d,%b' % (int(number) + shift, rest)
