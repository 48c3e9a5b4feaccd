"""What one process does of a check.

On one machine a process judges all traffic in its order, as it would alone, and the others write the redacted
lines of parts: that is half of the work, and needs no order where nothing is secret. On a cluster, whose
workers write nothing here, parts are judged by the checks that see one exchange alone, and all traffic, in
its order, by those that remember: they see over sessions and accounts, so that no part can decide what they
do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conformance.check.lines import LinesShare, WrittenLines, write_lines
from conformance.check.traffic import CheckOptions, FilePart, PortalTraffic
from conformance.judging import AnyJudge, judge_of
from conformance.judging.dispatch import PENDING_APPROVAL
from conformance.judging.shapes import Shape, shape_of
from conformance.spec import REQUIREMENTS
from conformance.traffic.exchange import Exchange
from conformance.traffic.redaction.finder import finder_of
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.coverage import Coverage
from conformance.verdicts.findings import Ledger
from conformance.verdicts.parts import ROOM_OF_A_PART, LedgerPart, part_of

BETWEEN_LOOKS = 500
"""Exchanges after which a process looks whether it is to stop."""

PEEKED = 300
"""Exchanges that are looked at before the work is shared out."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the beginning of the traffic shows. ``ingresses`` are the access codes by which the portal served;
    ``holds_secrets``: it is not redacted yet."""

    ingresses: tuple[str, ...] = ()
    holds_secrets: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PartShare:
    """A part to be judged by the checks that see one exchange alone."""

    number: int
    part: FilePart
    options: CheckOptions
    ingresses: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"the verdicts on {self.part}"


@dataclass(frozen=True, slots=True)
class JudgedPart:
    """``first`` is the number that the first exchange was given, ``unknown_codes`` are access codes that were
    of no known ingress; ``is_broken``: the file breaks in it."""

    ledger: LedgerPart
    coverage: Coverage
    first: int
    count: int
    unknown_codes: frozenset[str]
    is_broken: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class OrderedShare:
    """All of the traffic, for the checks that remember. ``is_whole``: for all checks; ``stop`` is a file that
    ends the judging where somebody creates it."""

    parts: Sequence[FilePart]
    options: CheckOptions
    is_whole: bool = False
    stop: Path | None = None

    def __str__(self) -> str:
        what = "the verdicts on all traffic"
        return what if self.is_whole else f"{what}, of the rules that compare several exchanges"


@dataclass(frozen=True, slots=True)
class JudgedInOrder:
    """``counts`` are the exchanges of each part, ``ingresses`` the access codes by which the portal served,
    with the numbers of the exchanges that showed it. ``coverage`` is that of a whole share."""

    ledger: LedgerPart
    counts: list[int]
    ignored: Counter[str]
    first_ignored: dict[str, str]
    hosts: Counter[str]
    elsewhere: Counter[str]
    notes: list[str]
    ingresses: Mapping[str, int]
    coverage: Coverage


def judge_part(share: PartShare) -> JudgedPart:
    """CaptureError: it cannot be read."""
    options, traffic = share.options, PortalTraffic([share.part], share.options)
    judge = judge_of(no_cache=options.no_cache, model=options.model, share="alone")
    judge.dispatcher.ingresses.update(dict.fromkeys(share.ingresses, 0))
    ledger = Ledger(REQUIREMENTS, observations_kept=ROOM_OF_A_PART)
    coverage = Coverage()
    for exchange in traffic.numbered_as_recorded():
        ledger.take(judge.judge(exchange))
        coverage.feed(exchange)
    return JudgedPart(
        part_of(ledger, first=traffic.first),
        coverage,
        traffic.first,
        traffic.count,
        frozenset(judge.dispatcher.unknown_codes),
        is_broken=bool(traffic.notes),
    )


def judge_in_order(share: OrderedShare) -> JudgedInOrder:
    """CaptureError: a file cannot be read."""
    options, ledger, coverage = share.options, Ledger(REQUIREMENTS), Coverage()
    if share.is_whole:
        judge = judge_of(no_cache=options.no_cache, model=options.model)
    else:
        judge = judge_of(no_cache=True, model=options.model, share="in order")  # few repeat a verdict
    traffic = PortalTraffic(share.parts, options, at_another_recording=judge.forget)
    take = _take_all(ledger, judge, coverage) if share.is_whole else _take_in_order(ledger, judge)
    for exchange in traffic:
        take(exchange)
        if traffic.count % BETWEEN_LOOKS == 0 and share.stop is not None and share.stop.exists():
            break
    counts, last = traffic.counts, traffic.count - sum(traffic.counts)
    return JudgedInOrder(
        part_of(ledger, rank=1),
        [*counts, last] if last else counts,
        traffic.ignored,
        traffic.first_ignored,
        traffic.hosts,
        traffic.elsewhere,
        traffic.notes,
        judge.dispatcher.ingresses,
        coverage,
    )


def _take_all(ledger: Ledger, judge: AnyJudge, coverage: Coverage) -> Callable[[Exchange], None]:
    """What judges an exchange by all checks."""

    def take(exchange: Exchange) -> None:
        ledger.take(judge.judge(exchange))
        coverage.feed(exchange)

    return take


def _take_in_order(ledger: Ledger, judge: AnyJudge) -> Callable[[Exchange], None]:
    """What judges an exchange by the checks that remember."""
    misshapen = _Misshapen()

    def take(exchange: Exchange) -> None:
        verdicts = judge.judge(exchange)
        if not verdicts.is_clean:
            ledger.note_misshapen(exchange, misshapen.places(exchange))
        ledger.take(verdicts)

    return take


@dataclass
class _Misshapen:
    """Where an answer is not of the stated shape: what is contradicted there is the shape's finding alone."""

    shapes: dict[str, Shape] = field(default_factory=dict)

    def places(self, exchange: Exchange) -> tuple[str, ...]:
        operation = exchange.request.operation
        if operation is None or operation.data is None or not exchange.success:
            return ()
        if exchange.code == PENDING_APPROVAL:
            return ()
        if operation.key not in self.shapes:
            self.shapes[operation.key] = shape_of(operation, "contradictions")
        return self.shapes[operation.key].misshapen(exchange)


def outlook(traffic: PortalTraffic) -> Outlook:
    """Looks at the beginning of the traffic. CaptureError: it cannot be read."""
    options = traffic.options
    dispatcher = judge_of(share="alone").dispatcher
    secrets, finder = Secrets(), finder_of(options.redact, options.keep)
    for exchange in traffic:
        dispatcher.route(exchange)
        secrets.add_from(exchange)
        finder.register(exchange, secrets)
        if traffic.count == PEEKED:
            break
    has_secrets = bool(len(secrets) or finder.has_changed_any)
    return Outlook(tuple(dispatcher.ingresses), has_secrets)


Share = PartShare | OrderedShare | LinesShare
Judged = JudgedPart | JudgedInOrder | WrittenLines


def judged(share: Share) -> Judged:
    if isinstance(share, LinesShare):
        return write_lines(share)
    return judge_part(share) if isinstance(share, PartShare) else judge_in_order(share)


JudgeShare = Callable[[Share], Judged]
