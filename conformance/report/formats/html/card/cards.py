"""A finding as a card of the page: expected and seen side by side, and the exchanges that led to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from markupsafe import Markup

from conformance.report.across.baseline import entry_text
from conformance.report.formats.finding_text import contrast, expectation, own_message, seen
from conformance.report.formats.html.card.consequences import Consequences
from conformance.report.formats.html.card.exchange_view import (
    ExchangeView,
    exchange_views,
    numbers_of,
    step_labels,
)
from conformance.report.formats.html.card.sides import expected_in, expected_lines, other_lines, seen_lines
from conformance.report.formats.html.cells import Cells, cells
from conformance.report.formats.page import anchor, endpoint, with_code
from conformance.report.model import again
from conformance.report.model.causes import cause
from conformance.report.model.evidence import EarlierStep, RunEvidence
from conformance.report.model.groups import WHOLE_ANSWER, FindingGroup
from conformance.report.model.marked import BodyLine
from conformance.report.model.run import FindingEntry, RequirementEntry, Run
from conformance.report.model.severity import SEVERITIES, severity_of
from conformance.report.model.visible import one_line
from conformance.report.model.words import Untested, known_signatures, plural
from conformance.traffic.exchange import Exchange

MOST_IDS = 14
MOST_ROWS = 100
MOST_ENTRIES = 20


@dataclass(frozen=True, slots=True)
class Card:
    """One finding as it is shown. ``exchanges`` is empty and ``left_out`` says why where there was no
    room."""

    entry: FindingEntry
    anchor: str
    level: str
    section: str
    statement: Markup
    endpoint: tuple[str, str]
    endpoints: str
    place: str
    message: str
    expected: Sequence[BodyLine]
    seen: Sequence[BodyLine]
    seen_in: str
    expected_in: str
    """Where another answer shows what was expected, or what the answer disagrees with."""
    expected_title: str
    cause: str | None
    exchange_words: str
    trail: str
    again_words: str
    rerun: str
    known: bool = False
    new: bool = False
    before: Sequence[EarlierStep] = ()
    exchanges: Sequence[ExchangeView] = ()
    left_out: str = ""
    curl: str | None = None
    baseline: str | None = None
    severity: str = ""
    har: str | None = None
    elsewhere: Sequence[Cells] = ()
    at_once: Sequence[Cells] = ()
    filter: str = ""
    """The filter whose listings contradict all rules of the card."""
    more: int = 0
    more_at_once: int = 0
    follows: Sequence[Cells] = ()
    """The reasons of untested rules that this finding explains."""
    follows_count: int = 0
    verdicts: str = ""
    levels: str = ""
    sections: str = ""
    """What the page filters a card by: of all its findings."""

    @property
    def at_once_title(self) -> str:
        if self.filter:
            return f"Listings by the same filter, {self.filter}, also contradict"
        is_whole = self.place in WHOLE_ANSWER
        return "The same answer also contradicts" if is_whole else "The same value also contradicts"

    @property
    def at_once_by_rule(self) -> list[list[Cells]]:
        """``at_once``, those of one rule together."""
        by_rule: dict[object, list[Cells]] = {}
        for row in self.at_once:
            by_rule.setdefault((row.requirement, row.verdict), []).append(row)
        return list(by_rule.values())

    def without_exchanges(self) -> Card:
        """The same card where the page has no room for its evidence."""
        if not self.exchanges:
            return self
        lines = _numbers(self.entry.exchanges)
        reason = f"Left out to keep this page small. See lines {lines} of exchanges.jsonl."
        return replace(self, exchanges=(), before=(), left_out=reason, har=None)


@dataclass
class Cards:
    """Makes the cards of a run; ``numbers`` are the endpoints' numbers that the page filters by."""

    run: Run
    evidence: RunEvidence
    numbers: Mapping[str, int]
    rows: dict[str, RequirementEntry] = field(init=False)
    known: frozenset[str] = field(init=False)
    taken: dict[str, int] = field(default_factory=dict)
    consequences: Consequences = field(init=False)

    def __post_init__(self) -> None:
        self.consequences = Consequences(self.run, self.evidence)
        self.rows = {row.id: row for row in self.run.requirements}
        self.known = known_signatures(self.run)

    def card(self, group: FindingGroup) -> Card:
        """The card of the first finding of a group, with the others as rows."""
        finding, numbers = group.lead, numbers_of(group.lead)
        row, numbered = self.rows.get(finding.requirement), self._numbered(finding)
        exchanges = list(numbered.values())
        labels = step_labels(numbered, self.evidence.sign_ins, is_live=self.run.command == "run")
        last = exchanges[-1] if exchanges and finding.exchanges[-1] in self.evidence.exchanges else None
        curl = again.curl(last, finding) if last else None
        is_known = finding.signature in self.known
        card = Card(
            entry=finding,
            anchor=self._anchor(finding),
            level=row.level if row else "must",
            section=row.section if row else "",
            statement=with_code(row.statement if row else finding.requirement),
            endpoint=endpoint(finding.endpoint),
            endpoints=str(self.numbers.get(finding.endpoint, "")),
            place=finding.path,
            message=own_message(finding),
            expected=other_lines(finding, self.evidence) or expected_lines(finding, last),
            expected_in=expected_in(finding),
            expected_title=contrast(finding).capitalize(),
            seen=seen_lines(finding, last),
            seen_in=_seen_in(finding),
            cause=cause(finding, last),
            exchange_words=_exchange_words(numbers),
            trail=_trail(numbers, exchanges),
            again_words="with the suite" + (", with curl" if curl else ""),
            rerun=again.rerun_finding(self.run, finding),
            known=is_known,
            new=self.run.baseline is not None and not is_known and self._weighs(finding),
            before=self.evidence.before.get(finding.exchanges[0], ()) if finding.exchanges else (),
            exchanges=tuple(exchange_views(finding, self.evidence, labels)),
            left_out="" if exchanges or not finding.exchanges else "exchanges.jsonl lacks these exchanges.",
            curl=curl,
            har=again.har(exchanges, version=self.run.suite.version),
            baseline=None if is_known else _entries([*filter(self._weighs, group.findings)]),
            severity=SEVERITIES[severity_of(finding)],
        )
        return self._with_others(card, group)

    def _weighs(self, finding: FindingEntry) -> bool:
        """Whether a finding can fail the run, so that a baseline may list it."""
        return finding.verdict in self.run.weighed

    def _numbered(self, finding: FindingEntry) -> dict[int, Exchange]:
        """The exchanges of a finding that the record has, by number."""
        record = self.evidence.exchanges
        return {number: record[number] for number in finding.exchanges if number in record}

    def _with_others(self, card: Card, group: FindingGroup) -> Card:
        shown = group.elsewhere[:MOST_ROWS]
        numbers = {str(self.numbers.get(finding.endpoint, "")) for finding in group.findings}
        follows = self.consequences.of(group)
        rows = [self.rows[name] for finding in group.findings if (name := finding.requirement) in self.rows]
        return replace(
            card,
            endpoints=" ".join(sorted(numbers - {""})),
            verdicts=" ".join(dict.fromkeys(finding.verdict for finding in group.findings)),
            levels=" ".join(dict.fromkeys(row.level for row in rows)) or card.level,
            sections="|".join(dict.fromkeys(row.section for row in rows)) or card.section,
            elsewhere=[self._row(finding) for finding in shown],
            at_once=[self._row(finding) for finding in group.at_once[:MOST_ROWS]],
            filter=group.filter,
            more=len(group.elsewhere) - len(shown),
            more_at_once=max(0, len(group.at_once) - MOST_ROWS),
            follows=[_unexplained(reason) for reason in follows],
            follows_count=sum(len(reason.requirements) for reason in follows),
        )

    def _row(self, finding: FindingEntry) -> Cells:
        """A finding as a row of the card that has its cause."""
        row = self.rows.get(finding.requirement)
        return cells(
            anchor=self._anchor(finding),
            verdict=finding.verdict,
            requirement=finding.requirement,
            statement=with_code(row.statement if row else finding.requirement),
            endpoint=endpoint(finding.endpoint),
            place=finding.path,
            seen=seen(finding, 100),
            contrast=contrast(finding),
            expected=one_line(expectation(finding.expected), 160),
            exchanges=_numbers(finding.exchanges[-1:]),
            times=finding.times,
        )

    def _anchor(self, finding: FindingEntry) -> str:
        name = anchor("finding", finding.requirement)
        self.taken[name] = self.taken.get(name, 0) + 1
        return name if self.taken[name] == 1 else f"{name}-{self.taken[name]}"


def _unexplained(reason: Untested) -> Cells:
    """A reason of untested rules, with some of them."""
    ids = [entry.id for entry in reason.requirements]
    return cells(reason=one_line(reason.reason, 300), ids=ids[:MOST_IDS], more=max(0, len(ids) - MOST_IDS))


def _seen_in(finding: FindingEntry) -> str:
    return f"in #{finding.exchanges[-1]}" if finding.exchanges else ""


def _trail(numbers: Sequence[int], exchanges: Sequence[Exchange]) -> str:
    if not numbers:
        return ""
    led = " → ".join(f"#{number}" for number in numbers[-5:])
    dots = "… → " if len(numbers) > 5 else ""
    sealed = ", encrypted" if any(exchange.plain is not None for exchange in exchanges) else ""
    return f"{plural(len(numbers), 'exchange')}{sealed}: {dots}{led}"


def _entries(findings: Sequence[FindingEntry]) -> str | None:
    """The entries that accept the findings of a card, one for each signature; None where there is nothing to
    accept."""
    weighed = {finding.signature: finding for finding in findings}
    return "\n".join(map(entry_text, islice(weighed.values(), MOST_ENTRIES))) or None


def _exchange_words(numbers: Sequence[int]) -> str:
    """``exchange #3``, ``exchanges #3, #5``; nothing where none is named."""
    noun = "exchange" if len(numbers) == 1 else "exchanges"
    return f"{noun} {_numbers(numbers)}" if numbers else ""


def _numbers(numbers: Sequence[int]) -> str:
    shown = ", ".join(f"#{number}" for number in numbers[:8])
    return shown if len(numbers) <= 8 else f"{shown} and {len(numbers) - 8} more"
