"""A check in several processes: what they do of it is put in order, and merged to what one process does."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from itertools import accumulate, pairwise
from pathlib import Path

from conformance.check.cluster import Cluster
from conformance.check.lines import JoinedLines, LinesShare, WrittenLines, append
from conformance.check.share import (
    Judged,
    JudgedInOrder,
    JudgedPart,
    JudgeShare,
    OrderedShare,
    Outlook,
    PartShare,
    Share,
    judged,
    outlook,
)
from conformance.check.traffic import CheckOptions, FilePart, PortalTraffic
from conformance.check.workers import Workers
from conformance.report.model.evidence import CountedPart, RunEvidence
from conformance.spec import REQUIREMENTS
from conformance.traffic.capture.placeholders import block_of
from conformance.traffic.capture.places import Place
from conformance.traffic.log import ExchangeLog
from conformance.traffic.redaction.finder import SecretFinder
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.coverage import Coverage
from conformance.verdicts.findings import Ledger
from conformance.verdicts.parts import LedgerPart, ledger_of, moved

LINES_BETWEEN_POLLS = 200

Pool = Workers | Cluster
"""Who does the shares."""

PartialShare = PartShare | LinesShare

STOPPED_WITHIN = 10.0
"""Seconds that the process which judges has to say what it found before an interrupt."""

Progress = Callable[[int, int], None]
"""Is told how many shares are done, and of how many."""


@dataclass
class Divided:
    """What a check in parts found. ``lost`` names what could not be done, and why."""

    ledger: Ledger
    coverage: Coverage
    secrets: Secrets
    finder: SecretFinder
    lost: list[str] = field(default_factory=list)
    interrupted: bool = False
    counted: RunEvidence | None = None
    """What the lines that were written show, where all are counted."""


@dataclass
class Division:
    """Divides the traffic among ``options.workers`` processes. ``exchanges`` is the file that is written."""

    traffic: PortalTraffic
    parts: list[FilePart]
    exchanges: Path
    finder: SecretFinder
    judge: JudgeShare = judged
    cluster: Callable[[str, JudgeShare], Pool] = Cluster
    progress: Progress = lambda done, total: None
    secrets: Secrets = field(default_factory=Secrets)

    def run(self) -> Divided:
        """CaptureError: a file cannot be read. What was done before an interrupt is returned."""
        options, is_here = replace(self.traffic.options, rules=None), not self.traffic.options.scheduler
        self.exchanges.parent.mkdir(parents=True, exist_ok=True)
        shown = outlook(PortalTraffic(self.parts, options))
        # Where there are secrets, their order matters; and another machine may not write to this disk.
        is_logged_here = shown.holds_secrets or not is_here
        with (
            tempfile.TemporaryDirectory(prefix=".parts-", dir=self.exchanges.parent) as name,
            self._workers(options) as workers,
        ):
            folder, interrupted = Path(name), False
            stop = folder / "stop" if is_here else None
            ordered = OrderedShare(tuple(self.parts), options, is_whole=is_here, stop=stop)
            shares = self._shares(options, shown, None if is_logged_here else folder)
            joined = None if is_logged_here else JoinedLines(folder / "joined.jsonl")
            if joined is not None and isinstance(workers, Workers):
                workers.prepare = partial(_in_place, joined, shares, workers.results)
            try:
                workers.add([ordered, *shares])
                self._watch(workers, shares, joined)
                shares = self._judge_again(workers, ordered, shares)
            except KeyboardInterrupt:
                interrupted = True
                _stop(workers, ordered)
            return self._merged(workers, ordered, shares, joined, interrupted=interrupted)

    def _shares(self, options: CheckOptions, shown: Outlook, folder: Path | None) -> Sequence[PartialShare]:
        """What is done of each part: on a cluster it is judged, and here its lines are written to a folder,
        if that is not done by this process."""
        if options.scheduler:
            ingresses_before = self._known_ingresses(shown, options)
            return [
                PartShare(number, part, options, ingresses_before[number])
                for number, part in enumerate(self.parts)
            ]
        if folder is None:
            return []
        return [
            LinesShare(number, part, options, folder / f"{number}.jsonl")
            for number, part in enumerate(self.parts)
        ]

    def _known_ingresses(self, shown: Outlook, options: CheckOptions) -> list[tuple[str, ...]]:
        """The access codes of the ingress that each part begins with: those that the beginning of the traffic
        shows, and the beginning of its own recording. A recording begins without its own placeholders."""
        ingresses: list[tuple[str, ...]] = [()]
        own: tuple[str, ...] = ()
        for before, part in pairwise(self.parts):
            if part.recording != before.recording:
                own = ()
                ingresses.append(tuple(code for code in shown.ingresses if block_of(code) is None))
                continue
            if part.recording.number and not own:
                own = outlook(PortalTraffic([before], options)).ingresses
            ingresses.append(tuple(filter(part.recording.has, dict.fromkeys((*shown.ingresses, *own)))))
        return ingresses

    def _workers(self, options: CheckOptions) -> Pool:
        if options.scheduler:
            return self.cluster(options.scheduler, self.judge)
        return Workers(min(options.workers, len(self.parts) + 1, max(2, processors())), self.judge)

    def _watch(self, workers: Pool, shares: Sequence[PartialShare], joined: JoinedLines | None) -> None:
        """Waits for all shares. Meanwhile this process joins the lines that others write, or writes all."""
        if joined is None:
            self._write_log(workers, len(shares) + 1)
        while not workers.is_done:
            workers.poll(None)
            self.progress(len(workers.results), len(shares) + 1)
            if joined is not None:
                _join(joined, shares, workers.results)

    def _write_log(self, workers: Pool | None, total: int = 0) -> None:
        log = ExchangeLog(self.exchanges, self.secrets)
        traffic = PortalTraffic(self.parts, self.traffic.options)
        try:
            for exchange in traffic:
                log.write(self.finder.register(exchange, self.secrets))
                if workers is not None and traffic.count % LINES_BETWEEN_POLLS == 0:
                    workers.poll(0)
                    self.progress(len(workers.results), total)
        finally:
            log.close()

    def _judge_again(
        self, workers: Pool, ordered: OrderedShare, shares: Sequence[PartialShare]
    ) -> Sequence[PartialShare]:
        """Has the parts judged again that were given other access codes of the portal's ingress than are
        known where they begin."""
        whole = workers.results.get(ordered)
        if not isinstance(whole, JudgedInOrder):
            return shares
        begins = [0, *accumulate(whole.counts)]
        right: list[PartialShare] = []
        for share, begin in zip(shares, begins, strict=False):
            ingresses = tuple(code for code, number in whole.ingresses.items() if number <= begin)
            result = workers.results.get(share)
            if (
                isinstance(share, PartShare)
                and isinstance(result, JudgedPart)
                and not _is_as_known(share, result, ingresses)
            ):
                corrected = replace(share, ingresses=ingresses)
                workers.add([corrected])
                right.append(corrected)
            else:
                right.append(share)
        workers.run()
        return right

    def _merged(
        self,
        workers: Pool,
        ordered: OrderedShare,
        shares: Sequence[PartialShare],
        joined: JoinedLines | None,
        *,
        interrupted: bool,
    ) -> Divided:
        whole = workers.results.get(ordered)
        results = list(_before_breaks(shares, workers.results))
        counts = _counts(whole, results)
        begins = [0, *accumulate(counts)]
        ledgers, coverages = [], []
        for result, begin in zip(results, begins, strict=False):
            if isinstance(result, JudgedPart):
                ledgers.append(moved(result.ledger, begin + 1 - result.first))
                coverages.append(result.coverage)
        if isinstance(whole, JudgedInOrder):
            ledgers.append(whole.ledger)
            coverages.append(whole.coverage)
            self._take_traffic(whole)
        self.traffic.count = begins[-1]
        is_joined = joined is not None and joined.parts > 0 and joined.evidence.total == begins[-1]
        if joined is not None and is_joined:
            joined.move_to(self.exchanges)
        elif joined is not None:
            self._join_again(zip(shares, results, counts, begins, strict=False), interrupted=interrupted)
        ledger = reduce(LedgerPart.merged, ledgers, LedgerPart())
        return Divided(
            ledger_of(ledger, REQUIREMENTS, selection=self.traffic.options.rules),
            reduce(Coverage.merged, coverages, Coverage()),
            self.secrets,
            self.finder,
            _by_reason(workers.lost),
            interrupted,
            joined.evidence if joined is not None and is_joined else None,
        )

    def _take_traffic(self, whole: JudgedInOrder) -> None:
        self.traffic.ignored, self.traffic.first_ignored = whole.ignored, whole.first_ignored
        self.traffic.hosts, self.traffic.elsewhere = whole.hosts, whole.elsewhere
        self.traffic.notes = whole.notes

    def _join_again(
        self, rows: Iterable[tuple[PartialShare, object, int, int]], *, interrupted: bool
    ) -> None:
        """Writes the lines of all parts once more, each at the place of its number, as some are not to be
        written or not there: of a part that is lost there are empty lines. Where there are secrets, this
        process writes all."""
        rows = list(rows)
        if any(isinstance(result, WrittenLines) and result.holds_secrets for _, result, _, _ in rows):
            if interrupted:
                self.exchanges.write_bytes(b"")
            else:
                self._write_log(None)
            return
        with self.exchanges.open("wb") as out:
            for share, result, count, begin in rows:
                if isinstance(share, LinesShare) and isinstance(result, WrittenLines):
                    append(result, out, count, begin)
                else:
                    out.write(b"\n" * count)


def processors() -> int:
    """How many processors this process may use: more processes than that take turns, and take longer."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _join(joined: JoinedLines, shares: Sequence[PartialShare], results: dict[Share, Judged]) -> None:
    """Joins what is there of the parts that follow. What was counted of them is needed no more."""
    for share in shares[joined.parts :]:
        part = results.get(share)
        if not isinstance(share, LinesShare) or not isinstance(part, WrittenLines):
            return
        joined.add(part)
        results[share] = replace(part, counted=NOTHING_COUNTED)


def _in_place(
    joined: JoinedLines, shares: Sequence[PartialShare], results: dict[Share, Judged], share: Share
) -> Share:
    """A share as it is sent: the lines of the part that follows what is joined are written in their place."""
    _join(joined, shares, results)
    return joined.next_in_place(share) if isinstance(share, LinesShare) else share


NOTHING_COUNTED = CountedPart()


def _stop(workers: Pool, ordered: OrderedShare) -> None:
    """Has the share in order end where it is, and waits for what it found so far."""
    if ordered.is_whole and ordered.stop is not None and isinstance(workers, Workers):
        ordered.stop.touch()
        workers.finish(ordered, STOPPED_WITHIN)


def _by_reason(lost: Mapping[Share, str]) -> list[str]:
    """What was lost, each reason once."""
    shares: dict[str, list[str]] = {}
    for share, why in lost.items():
        shares.setdefault(why, []).append(str(share))
    return [f"{', '.join(names)} ({why})" for why, names in shares.items()]


def _is_as_known(share: PartShare, result: JudgedPart, ingresses: tuple[str, ...]) -> bool:
    """Whether a part was judged as with the access codes that are known where it begins. The placeholders of
    other files do not matter."""
    has = share.part.recording.has
    used, right = set(filter(has, share.ingresses)), set(filter(has, ingresses))
    if used == right:
        return True
    is_narrower = used <= right and set(map(block_of, used)) == set(map(block_of, right))
    return is_narrower and result.unknown_codes.isdisjoint(right)


def _before_breaks(
    shares: Sequence[PartialShare], results: Mapping[Share, Judged]
) -> Iterator[Judged | None]:
    """The result of each share; None where it is lost, or its file breaks before it."""
    broken: Place | None = None
    for share in shares:
        part = share.part
        if part.begin == 0:
            broken = None
        result = None if part.path == broken else results.get(share)
        if part.is_range and isinstance(result, JudgedPart | WrittenLines) and result.is_broken:
            broken = part.path
        yield result


def _counts(whole: object, results: Sequence[object]) -> list[int]:
    """How many exchanges each part has; of one that nobody has counted, none."""
    if isinstance(whole, JudgedInOrder):
        return whole.counts
    return [row.count if isinstance(row, JudgedPart | WrittenLines) else 0 for row in results]


__all__ = ["Divided", "Division", "Progress", "Share"]
