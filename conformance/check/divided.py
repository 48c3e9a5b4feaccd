"""A check in several processes: the parts are judged, put in order, and merged to what one process finds."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import accumulate, pairwise
from pathlib import Path
from typing import BinaryIO

from conformance.check.cluster import Cluster
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

Progress = Callable[[int, int], None]
"""Is told how many shares are done, and of how many."""


@dataclass
class Divided:
    """What a check in parts found. ``lost`` names what could not be judged, and why."""

    ledger: Ledger
    coverage: Coverage
    secrets: Secrets
    finder: SecretFinder
    lost: list[str] = field(default_factory=list)
    interrupted: bool = False


@dataclass
class Division:
    """Divides the traffic among ``options.workers`` processes. ``exchanges`` is the file that is written."""

    traffic: PortalTraffic
    parts: list[FilePart]
    exchanges: Path
    finder: SecretFinder
    judge: JudgeShare = judged
    cluster: Callable[[str, JudgeShare], Cluster] = Cluster
    progress: Progress = lambda done, total: None
    secrets: Secrets = field(default_factory=Secrets)

    def run(self) -> Divided:
        """CaptureError: a file cannot be read. What was done before an interrupt is returned."""
        options = replace(self.traffic.options, rules=None)
        self.exchanges.parent.mkdir(parents=True, exist_ok=True)
        shown = outlook(PortalTraffic(self.parts, options))
        # Where there are secrets, their order matters; and another machine may not write to this disk.
        is_logged_here = shown.holds_secrets or bool(options.scheduler)
        with (
            tempfile.TemporaryDirectory(prefix=".parts-", dir=self.exchanges.parent) as folder,
            self._workers(options) as workers,
        ):
            ordered = OrderedShare(tuple(self.parts), options)
            ingresses_before = self._known_ingresses(shown, options)
            shares = [
                PartShare(
                    number,
                    part,
                    options,
                    ingresses_before[number],
                    None if is_logged_here else Path(folder) / f"{number}.jsonl",
                )
                for number, part in enumerate(self.parts)
            ]
            interrupted = False
            try:
                workers.add([ordered, *shares])
                self._watch(workers, len(shares) + 1, is_logged_here=is_logged_here)
                shares = self._judge_again(workers, ordered, shares)
            except KeyboardInterrupt:
                interrupted = True
            return self._merged(workers, ordered, shares, is_logged=is_logged_here, interrupted=interrupted)

    def _known_ingresses(self, shown: Outlook, options: CheckOptions) -> list[tuple[str, ...]]:
        """The access codes of the ingress that each part begins with: those that the beginning of the traffic
        shows, and the beginning of its own recording. A recording begins without its own placeholders."""
        ingresses: list[tuple[str, ...]] = [()]
        own: tuple[str, ...] = ()
        for before, part in pairwise(self.parts):
            if part.among != before.among:
                own = ()
                ingresses.append(tuple(code for code in shown.ingresses if block_of(code) is None))
                continue
            if part.among.number and not own:
                own = outlook(PortalTraffic([before], options)).ingresses
            ingresses.append(tuple(filter(part.among.has, dict.fromkeys((*shown.ingresses, *own)))))
        return ingresses

    def _workers(self, options: CheckOptions) -> Pool:
        if options.scheduler:
            return self.cluster(options.scheduler, self.judge)
        return Workers(min(options.workers, len(self.parts) + 1), self.judge)

    def _watch(self, workers: Pool, total: int, *, is_logged_here: bool) -> None:
        """Waits for all shares. Meanwhile this process writes the exchanges, where no share does."""
        if is_logged_here:
            self._write_log(workers, total)
        while not workers.is_done:
            workers.poll(None)
            self.progress(len(workers.results), total)

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

    def _judge_again(self, workers: Pool, ordered: OrderedShare, shares: list[PartShare]) -> list[PartShare]:
        """Has the parts judged again that were given other access codes of the portal's ingress than are
        known where they begin."""
        whole = workers.results.get(ordered)
        if not isinstance(whole, JudgedInOrder):
            return shares
        begins = [0, *accumulate(whole.counts)]
        right: list[PartShare] = []
        for share, begin in zip(shares, begins, strict=False):
            ingresses = tuple(code for code, number in whole.ingresses.items() if number <= begin)
            result = workers.results.get(share)
            if isinstance(result, JudgedPart) and not _is_as_known(share, result, ingresses):
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
        shares: list[PartShare],
        *,
        is_logged: bool,
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
            self.traffic.ignored, self.traffic.hosts = whole.ignored, whole.hosts
            self.traffic.elsewhere = whole.elsewhere
            self.traffic.first_ignored = whole.first_ignored
            self.traffic.notes = whole.notes
        self.traffic.count = begins[-1]
        holds_secrets = any(isinstance(row, JudgedPart) and row.holds_secrets for row in results)
        if not is_logged and holds_secrets and interrupted:
            self.exchanges.write_bytes(b"")
        elif not is_logged and holds_secrets:
            self._write_log(None)
        elif not is_logged:
            _join(self.exchanges, zip(shares, results, counts, begins, strict=False))
        ledger = ledger_of(
            reduce(LedgerPart.merged, ledgers, LedgerPart()),
            REQUIREMENTS,
            selection=self.traffic.options.rules,
        )
        coverage = reduce(Coverage.merged, coverages, Coverage())
        lost = _by_reason(workers.lost)
        return Divided(ledger, coverage, self.secrets, self.finder, lost, interrupted)


def _by_reason(lost: Mapping[Share, str]) -> list[str]:
    """What was lost, each reason once."""
    shares: dict[str, list[str]] = {}
    for share, why in lost.items():
        shares.setdefault(why, []).append(str(share))
    return [f"{', '.join(names)} ({why})" for why, names in shares.items()]


def _is_as_known(share: PartShare, result: JudgedPart, ingresses: tuple[str, ...]) -> bool:
    """Whether a part was judged as with the access codes that are known where it begins. The placeholders of
    other files do not matter."""
    has = share.part.among.has
    used, right = set(filter(has, share.ingresses)), set(filter(has, ingresses))
    if used == right:
        return True
    is_narrower = used <= right and set(map(block_of, used)) == set(map(block_of, right))
    return is_narrower and result.unknown_codes.isdisjoint(right)


def _before_breaks(shares: Sequence[PartShare], results: Mapping[Share, Judged]) -> Iterator[Judged | None]:
    """The result of each share; None where it is lost, or its file breaks before it."""
    broken: Place | None = None
    for share in shares:
        part = share.part
        if part.begin == 0:
            broken = None
        result = None if part.path == broken else results.get(share)
        if part.is_range and isinstance(result, JudgedPart) and result.is_broken:
            broken = part.path
        yield result


def _counts(whole: object, results: Sequence[object]) -> list[int]:
    """How many exchanges each part has; of one that nobody has counted, none."""
    if isinstance(whole, JudgedInOrder):
        return whole.counts
    return [row.count if isinstance(row, JudgedPart) else 0 for row in results]


def _join(path: Path, rows: Iterator[tuple[PartShare, object, int, int]]) -> None:
    """Writes the lines of all parts to one file, each at the place of its number: of a part that is lost
    there are empty lines."""
    with path.open("wb") as out:
        for share, result, count, begin in rows:
            if isinstance(result, JudgedPart) and share.lines is not None:
                with share.lines.open("rb") as lines:
                    _copy(lines, out, begin + 1 - result.first)
            else:
                out.write(b"\n" * count)


def _copy(lines: BinaryIO, out: BinaryIO, shift: int) -> None:
    """Copies lines, their numbers moved: each begins with its number, ``{"n":``."""
    if not shift:
        shutil.copyfileobj(lines, out, 1 << 20)
        return
    for line in lines:
        number, _, rest = line.removeprefix(b'{"n":').partition(b",")
        out.write(b'{"n":%d,%b' % (int(number) + shift, rest))


__all__ = ["Divided", "Division", "Progress", "Share"]
