"""What a check reads: its options, and the portal's traffic in files and parts of files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from msgspec.structs import replace

from conformance.report.model.visible import one_line
from conformance.report.model.words import passive
from conformance.spec.endpoints import PORTAL_PATH
from conformance.traffic import capture
from conformance.traffic.capture.files import is_packed
from conformance.traffic.capture.placeholders import ONLY_RECORDING, RecordingNumber
from conformance.traffic.capture.places import Place, size_of
from conformance.traffic.capture.recording_numbers import recording_numbers
from conformance.traffic.exchange import Exchange, named
from conformance.verdicts.selection import RuleSelection

SMALLEST_PART, LARGEST_PART = 1 << 20, 64 << 20
"""Bytes of a part of a capture."""

PARTS_OF_A_WORKER = 8
"""How many parts a worker should have at least, so that all end at about the same time."""


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """What the user asked of a check. ``target`` is the portal's address or its host, where the traffic of
    several portals is mixed; without it, every path below ``/web/v1/`` is the portal's. ``salvage`` uses what
    stands before a break in a file. ``no_cache`` judges every exchange anew.
    ``model`` also compares what several answers say of the same thing.
    ``rules`` are the rules that count, where not all of them do."""

    out: Path = Path("reports")
    salvage: bool = False
    strict: bool = False
    target: str | None = None
    baseline: Path | None = None
    baseline_update: bool = False
    baseline_prune: bool = False
    no_cache: bool = False
    model: bool = False
    redact: Sequence[str] = ()
    """Headers, fields and patterns between slashes whose values are secrets."""
    keep: Sequence[str] = ()
    """Headers and fields whose values only look like secrets."""
    rules: RuleSelection | None = None
    workers: int = 1
    """Processes that judge."""
    scheduler: str = ""
    """The address of a Dask scheduler whose workers judge, in place of processes on this machine."""


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

    def __str__(self) -> str:
        return str(self.path) if self.end is None else f"{self.path} (bytes {self.begin} to {self.end})"


def parts_of(files: Sequence[Place], workers: int, *, smallest: int = SMALLEST_PART) -> list[FilePart]:
    """The parts of some files, in order: a large capture has several, a HAR or a packed file is one.
    CaptureError: a file cannot be read."""
    divided = [path for path in files if not is_packed(path) and not capture.is_har(path)]
    lengths = {path: size_of(path) for path in divided}
    whole = sum(lengths[path] for path in divided)
    size = min(max(whole // (workers * PARTS_OF_A_WORKER) + 1, smallest), LARGEST_PART)
    parts: list[FilePart] = []
    for path, recording in zip(files, recording_numbers(files), strict=True):
        length = lengths.get(path, 0)
        if length <= size:
            parts.append(FilePart(path, recording=recording))
            continue
        count = -(-length // size)
        edges = [length * at // count for at in range(count + 1)]
        parts += [FilePart(path, begin, end, recording) for begin, end in pairwise(edges)]
    return parts


NO_EXCHANGE = "The files hold no exchange"
NO_REQUEST = "None of the recorded requests"
"""How the sentences begin that say why nothing is judged."""


USUAL_PORTS = {"http": ":80", "https": ":443"}


@dataclass(frozen=True, slots=True)
class Address:
    """Where a portal is: a host with its port, and a path; without a ``scheme`` by any."""

    scheme: str
    host: str
    path: str

    @classmethod
    def of(cls, text: str) -> Address:
        """An address as the user writes it: a URL, or a host alone."""
        parts = urlsplit(text if "://" in text else f"//{text}")
        return cls(parts.scheme, _host(parts), parts.path.rstrip("/"))

    def holds(self, url: SplitResult) -> bool:
        """Whether a request went to the address or below it."""
        if self.scheme not in ("", url.scheme) or self.host != _host(url):
            return False
        return url.path == self.path or url.path.startswith(f"{self.path}/")


def _host(url: SplitResult) -> str:
    """The host with its port, where that is not the usual one of the scheme."""
    host = url.netloc.rpartition("@")[2].lower()
    return host.removesuffix(USUAL_PORTS.get(url.scheme, "no port"))


@dataclass
class PortalTraffic:
    """The portal's exchanges of some files or parts, in order; everything else is ignored and counted.
    ``first_ignored`` names one for each reason. ``counts`` says how many each of them had."""

    files: Sequence[Place] | Sequence[FilePart]
    options: CheckOptions
    ignored: Counter[str] = field(default_factory=Counter)
    first_ignored: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    hosts: Counter[str] = field(default_factory=Counter)
    elsewhere: Counter[str] = field(default_factory=Counter)
    """The hosts that ``--target`` leaves out, with the requests that have a path of the portal's."""
    count: int = 0
    first: int = 1
    """The number of the first one."""
    counts: list[int] = field(default_factory=list)
    at_another_recording: Callable[[], None] = lambda: None
    """Is called before the first exchange of a file that is no part of the recording before it."""

    def __post_init__(self) -> None:
        target = self.options.target
        self._at = None if target is None else Address.of(target)

    def __iter__(self) -> Iterator[Exchange]:
        """Numbered through from 1 over all the files. CaptureError: one cannot be read."""
        for exchange in self._exchanges():
            yield exchange if exchange.n == self.count else replace(exchange, n=self.count)

    def numbered_as_recorded(self, first: int | None = None) -> Iterator[Exchange]:
        """Numbered through from ``first``, or from the number that the first one has: they probably have
        these numbers in the whole. CaptureError: a file cannot be read."""
        self.first = first or self.first
        for exchange in self._exchanges():
            if self.count == 1 and first is None:
                self.first = max(exchange.n, 1)
            number = self.first + self.count - 1
            yield exchange if exchange.n == number else replace(exchange, n=number)

    def _exchanges(self) -> Iterator[Exchange]:
        broken: Place | None = None
        recording: RecordingNumber | None = None
        for part in self._parts():
            before = self.count
            if recording not in (None, part.recording):
                self.at_another_recording()
            recording = part.recording
            if part.path == broken and part.begin:
                self.counts.append(0)
                continue
            reader = part.read(salvage=self.options.salvage)
            for exchange in reader:
                why = self._why_ignored(exchange)
                if why:
                    self.ignored[why] += 1
                    if why not in self.first_ignored:
                        self.first_ignored[why] = named(exchange.request.method, exchange.request.url)
                    continue
                self.count += 1
                self.hosts[exchange.request.parts.netloc] += 1
                yield exchange
            self.ignored.update(reader.set_aside)
            self.first_ignored = {**reader.first_aside, **self.first_ignored}
            self.notes.extend(reader.notes)
            self.counts.append(self.count - before)
            broken = part.path if part.is_range and reader.notes else None

    def _parts(self) -> list[FilePart]:
        parts = [file for file in self.files if isinstance(file, FilePart)]
        places = [file for file in self.files if not isinstance(file, FilePart)]
        return parts or [
            FilePart(path, recording=recording)
            for path, recording in zip(places, recording_numbers(places), strict=True)
        ]

    @property
    def target(self) -> str:
        """The portal's address, or the host that most of the traffic went to."""
        most = self.hosts.most_common(1)
        return self.options.target or (urlsplit(f"//{most[0][0]}").netloc if most else "no portal")

    def details(self) -> dict[str, dict[str, Any]]:
        """What was ignored, as ``results.json`` holds it."""
        named_ones = {"first_set_aside": self.first_ignored} if self.first_ignored else {}
        return {"set_aside": dict(self.ignored), **named_ones}

    def sentences(self) -> Iterator[str]:
        """What was ignored, and whether there was no traffic, or that of several hosts, judged as one's."""
        for why, times in self.ignored.most_common():
            yield f"{passive(times, 'entry')} set aside: {why}{self._such(why)}."
        if not self.hosts:
            yield self._nothing_of_the_portal()
        if len(self.hosts) > 1:
            hosts = ", ".join(f"{host} ({times})" for host, times in self.hosts.most_common(5))
            yield (
                f"Several hosts were judged as one portal: {hosts}. Where they are several portals, one may "
                f"seem to contradict the other: check each alone, such as with --target {self.target}."
            )

    def _such(self, why: str) -> str:
        """Which entry is meant, or one of several."""
        name = one_line(self.first_ignored.get(why, ""))
        if not name:
            return ""
        return f" ({name})" if self.ignored[why] == 1 else f" (such as {name})"

    def _nothing_of_the_portal(self) -> str:
        if not self.ignored:
            return f"{NO_EXCHANGE}. Give a capture that `record` wrote, or a HAR file that a browser saved."
        if self.options.target:
            hosts = ", ".join(f"{host} ({times})" for host, times in self.elsewhere.most_common(5))
            there = f" The portal's paths were requested at {hosts}." if hosts else ""
            return f"{NO_REQUEST} went to {self.options.target}, which --target names.{there}"
        return f"{NO_REQUEST} is one of the portal's: none has {PORTAL_PATH} in its path."

    def _why_ignored(self, exchange: Exchange) -> str | None:
        is_of_portal = PORTAL_PATH in exchange.request.path
        if self._at is not None and not self._at.holds(exchange.request.parts):
            self.elsewhere.update([exchange.request.parts.netloc] if is_of_portal else ())
            return "another host or path"
        return None if is_of_portal else "another path"
