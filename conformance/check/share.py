"""What one process judges of a check: a part of the traffic by the checks that see one exchange alone, or all
of it, in its order, by those that remember.

Checks that remember see over sessions and accounts, so that no part can decide what they do. They are few,
and cost a quarter of the whole: one process reads everything for them, while the others judge parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conformance.check.traffic import CheckOptions, FilePart, PortalTraffic
from conformance.judging import judge_of
from conformance.judging.dispatch import PENDING_APPROVAL
from conformance.judging.shapes import Shape, shape_of
from conformance.spec import REQUIREMENTS
from conformance.traffic.exchange import Exchange
from conformance.traffic.log import ExchangeLog
from conformance.traffic.redaction.finder import SecretFinder, finder_of
from conformance.traffic.redaction.redact import Secrets
from conformance.verdicts.coverage import Coverage
from conformance.verdicts.findings import Ledger
from conformance.verdicts.parts import ROOM_OF_A_PART, LedgerPart, part_of

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
    """A part to be judged. ``lines`` is where its exchanges are written to, None where that is another's."""

    number: int
    part: FilePart
    options: CheckOptions
    ingresses: tuple[str, ...] = ()
    lines: Path | None = None

    def __str__(self) -> str:
        return str(self.part)


@dataclass(frozen=True, slots=True)
class JudgedPart:
    """``first`` is the number that the first exchange was given, ``unknown_codes`` are access codes that were
    of no known ingress; ``holds_secrets``: the lines were not written, as there are secrets in them;
    ``is_broken``: the file breaks in it."""

    ledger: LedgerPart
    coverage: Coverage
    first: int
    count: int
    unknown_codes: frozenset[str]
    holds_secrets: bool
    is_broken: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class OrderedShare:
    """All of the traffic, for the checks that remember."""

    parts: Sequence[FilePart]
    options: CheckOptions

    def __str__(self) -> str:
        return "all traffic, by the rules that compare several exchanges"


@dataclass(frozen=True, slots=True)
class JudgedInOrder:
    """``counts`` are the exchanges of each part, ``ingresses`` the access codes by which the portal served,
    with the numbers of the exchanges that showed it."""

    ledger: LedgerPart
    counts: list[int]
    ignored: Counter[str]
    first_ignored: dict[str, str]
    hosts: Counter[str]
    elsewhere: Counter[str]
    notes: list[str]
    ingresses: Mapping[str, int]


@dataclass
class _Lines:
    """Writes the redacted lines of a part, until a secret is found in it."""

    log: ExchangeLog
    secrets: Secrets
    finder: SecretFinder
    holds_secrets: bool = False

    def write(self, exchange: Exchange) -> None:
        if self.holds_secrets:
            return
        finder = self.finder
        self.secrets.add_from(exchange)
        finder.register(exchange, self.secrets)
        if len(self.secrets) or finder.has_changed_any:
            self.holds_secrets = True
        else:
            self.log.write_clean(exchange)


@dataclass
class _Numbered:
    """Exchanges with the numbers that they probably have in the whole: as recorded, from the first one on."""

    exchanges: PortalTraffic
    first: int = 1

    def __iter__(self) -> Iterator[Exchange]:
        for exchange in self.exchanges.numbered_as_recorded():
            if self.exchanges.count == 1:
                self.first = exchange.n
            yield exchange


def judge_part(share: PartShare) -> JudgedPart:
    """CaptureError: it cannot be read."""
    options, traffic = share.options, PortalTraffic([share.part], share.options)
    judge = judge_of(no_cache=options.no_cache, model=options.model, share="alone")
    judge.dispatcher.ingresses.update(dict.fromkeys(share.ingresses, 0))
    ledger = Ledger(REQUIREMENTS, observations_kept=ROOM_OF_A_PART)
    coverage, numbered = Coverage(), _Numbered(traffic)
    lines = _lines(share)
    for exchange in numbered:
        if lines is not None:
            lines.write(exchange)
        ledger.take(judge.judge(exchange))
        coverage.feed(exchange)
    if lines is not None:
        lines.log.close()
    return JudgedPart(
        part_of(ledger, first=numbered.first),
        coverage,
        numbered.first,
        traffic.count,
        frozenset(judge.dispatcher.unknown_codes),
        holds_secrets=lines is not None and lines.holds_secrets,
        is_broken=bool(traffic.notes),
    )


def _lines(share: PartShare) -> _Lines | None:
    if share.lines is None:
        return None
    secrets = Secrets()
    finder = finder_of(share.options.redact, share.options.keep)
    return _Lines(ExchangeLog(share.lines, secrets), secrets, finder)


def judge_in_order(share: OrderedShare) -> JudgedInOrder:
    """CaptureError: a file cannot be read."""
    judge = judge_of(no_cache=True, model=share.options.model, share="in order")  # few repeat a verdict
    traffic = PortalTraffic(share.parts, share.options, at_another_recording=judge.forget)
    ledger, misshapen = Ledger(REQUIREMENTS), _Misshapen()
    for exchange in traffic:
        verdicts = judge.judge(exchange)
        if not verdicts.is_clean:
            ledger.note_misshapen(exchange, misshapen.places(exchange))
        ledger.take(verdicts)
    return JudgedInOrder(
        part_of(ledger, rank=1),
        traffic.counts,
        traffic.ignored,
        traffic.first_ignored,
        traffic.hosts,
        traffic.elsewhere,
        traffic.notes,
        judge.dispatcher.ingresses,
    )


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


Share = PartShare | OrderedShare
Judged = JudgedPart | JudgedInOrder


def judged(share: Share) -> Judged:
    return judge_part(share) if isinstance(share, PartShare) else judge_in_order(share)


JudgeShare = Callable[[Share], Judged]
