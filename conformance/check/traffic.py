"""What a check reads: its options, and the portal's traffic in files and parts of files."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from msgspec.structs import replace

from conformance.descriptions import NO_DESCRIPTIONS, Descriptions
from conformance.errors import UsageError
from conformance.impacts import FailOn
from conformance.rules.registry import NO_OWN_RULES, OwnRules
from conformance.spec.endpoints import PORTAL_PATH
from conformance.traffic import capture
from conformance.traffic.address import is_http_address
from conformance.traffic.capture import recording_numbers
from conformance.traffic.capture.files import is_packed
from conformance.traffic.capture.placeholders import ONLY_RECORDING, RecordingNumber
from conformance.traffic.capture.places import Place, size_of
from conformance.traffic.exchange import Exchange
from conformance.verdicts.selection import RuleSelection
from conformance.work.totals import TrafficTotals

PART_BYTES = 32 << 20
"""Bytes of a part of a capture, of which workers write the lines."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What the user asked of a check. ``target`` is the portal's address or its host, where the traffic of
    several portals is mixed; without it, every path below ``/web/v1/`` is the portal's. ``salvage`` uses what
    stands before a break in a file. ``no_cache`` judges every exchange anew.
    ``model`` also compares what several answers say of the same thing.
    ``rules`` are the rules that count, where not all of them do."""

    out: Path = Path("reports")
    salvage: bool = False
    fail_on: FailOn = "security"
    target: str | None = None
    known: Path | None = None
    no_cache: bool = False
    model: bool = False
    redact: Sequence[str] = ()
    """Headers, fields and patterns between slashes whose values are secrets."""
    keep: Sequence[str] = ()
    """Headers and fields whose values only look like secrets."""
    rules: RuleSelection | None = None
    workers: int = 1
    """Processes that share the work: one judges, the others write the redacted lines."""
    own: OwnRules = NO_OWN_RULES
    """Rules of the user's own."""
    scheduler: str = ""
    """The address of a Dask scheduler whose workers write them, in place of processes on this machine."""
    described: Descriptions = NO_DESCRIPTIONS
    """Descriptions of further endpoints, with which the traffic is compared."""


DEFAULTS = CheckOptions()


@dataclass(frozen=True, slots=True)
class FilePart:
    """A file, or the lines of a capture that begin between two of its bytes; ``recording`` is which of the
    recordings that are checked it belongs to."""

    path: Place
    begin: int = 0
    end: int | None = None
    recording: RecordingNumber = ONLY_RECORDING

    @property
    def is_range(self) -> bool:
        return self.end is not None

    def read(self, *, salvage: bool) -> capture.Reader:
        """CaptureError, on the way, as that of ``capture.read``."""
        return capture.read(
            self.path, salvage=salvage, begin=self.begin, end=self.end, recording=self.recording
        )

    def absolute(self) -> FilePart:
        """Part with an absolute path, for a process with another working directory."""
        return dataclasses.replace(self, path=self.path.absolute())

    def __str__(self) -> str:
        return str(self.path) if self.end is None else f"{self.path} (bytes {self.begin} to {self.end})"


def parts_of(files: Sequence[Place], *, size: int = PART_BYTES) -> list[FilePart]:
    """The parts of some files, in order: a large capture has several, a HAR or a packed file is one.
    CaptureError: a file cannot be read."""
    parts: list[FilePart] = []
    for path, recording in zip(files, recording_numbers(files), strict=True):
        length = 0 if is_packed(path) or capture.is_har(path) else size_of(path)
        if length <= size:
            parts.append(FilePart(path, recording=recording))
            continue
        count = -(-length // size)
        edges = [length * at // count for at in range(count + 1)]
        parts += [FilePart(path, begin, end, recording) for begin, end in pairwise(edges)]
    return parts


USUAL_PORTS = {"http": ":80", "https": ":443"}


@dataclass(frozen=True, slots=True)
class Address:
    """Host with port, and path, of a portal; an empty ``scheme`` stands for every scheme."""

    scheme: str
    host: str
    path: str

    @classmethod
    def of(cls, text: str) -> Address:
        """An address as the user writes it: a URL, or a host alone. UsageError: it is none."""
        if not is_http_address(text if "://" in text else f"http://{text}"):
            raise UsageError(f"--target {text}: give the address or the host of a portal.")
        parts = urlsplit(text if "://" in text else f"//{text}")
        return cls(parts.scheme, _host(parts), parts.path.rstrip("/"))

    def holds(self, url: SplitResult) -> bool:
        if self.scheme not in ("", url.scheme) or self.host != _host(url):
            return False
        return url.path == self.path or url.path.startswith(f"{self.path}/")


def _host(url: SplitResult) -> str:
    """Host of a URL, with its port unless it is the default port of the scheme."""
    host = url.netloc.rpartition("@")[2].lower()
    return host.removesuffix(USUAL_PORTS.get(url.scheme, "no port"))


@dataclass
class PortalTraffic:
    """The portal's exchanges of some files or parts, in order; everything else is ignored. ``totals``
    counts both."""

    files: Sequence[Place] | Sequence[FilePart]
    options: CheckOptions
    notes: list[str] = field(default_factory=list)
    first: int = 1
    """The number of the first one."""
    at_another_recording: Callable[[], None] = lambda: None
    """Is called before the first exchange of a file that is no part of the recording before it."""

    def __post_init__(self) -> None:
        target = self.options.target
        self.totals = TrafficTotals(target)
        self._at = None if target is None else Address.of(target)

    def __iter__(self) -> Iterator[Exchange]:
        """Numbered through from 1 over all the files. CaptureError: one cannot be read."""
        for exchange in self._exchanges():
            number = self.totals.count
            yield exchange if exchange.n == number else replace(exchange, n=number)

    def numbered_as_recorded(self) -> Iterator[Exchange]:
        """Numbered through from the number that the first one has: they probably have these numbers in the
        whole. CaptureError: a file cannot be read."""
        for exchange in self._exchanges():
            if self.totals.count == 1:
                self.first = max(exchange.n, 1)
            number = self.first + self.totals.count - 1
            yield exchange if exchange.n == number else replace(exchange, n=number)

    def _exchanges(self) -> Iterator[Exchange]:
        recording: RecordingNumber | None = None
        for part in self._parts():
            if recording not in (None, part.recording):
                self.at_another_recording()
            recording = part.recording
            reader = part.read(salvage=self.options.salvage)
            for exchange in reader:
                why = self._why_ignored(exchange)
                if why:
                    self.totals.ignore(why, exchange)
                    continue
                self.totals.count += 1
                self.totals.hosts[exchange.request.parts.netloc] += 1
                yield exchange
            self.totals.ignored.update(reader.set_aside)
            self.totals.first_ignored = {**reader.first_aside, **self.totals.first_ignored}
            self.notes.extend(reader.notes)

    def _parts(self) -> list[FilePart]:
        parts = [file for file in self.files if isinstance(file, FilePart)]
        places = [file for file in self.files if not isinstance(file, FilePart)]
        return parts or [
            FilePart(path, recording=recording)
            for path, recording in zip(places, recording_numbers(places), strict=True)
        ]

    def _why_ignored(self, exchange: Exchange) -> str | None:
        is_of_portal = PORTAL_PATH in exchange.request.path
        if self._at is not None and not self._at.holds(exchange.request.parts):
            self.totals.elsewhere.update([exchange.request.parts.netloc] if is_of_portal else ())
            return "another host or path"
        return None if is_of_portal else "another path"
