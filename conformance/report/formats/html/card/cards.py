"""A finding as a card of the page: expected and seen side by side, and the exchanges that led to it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from markupsafe import Markup

from conformance.report.formats.finding_text import contrast, expectation, own_message, seen, times_of
from conformance.report.formats.html.card.exchange_view import (
    exchange_views,
    expected_in,
    expected_lines,
    numbers_of,
    other_lines,
    seen_lines,
)
from conformance.report.formats.page import Cells, anchor, endpoint, part, with_code
from conformance.report.model import again
from conformance.report.model.causes import cause
from conformance.report.model.evidence import RunEvidence
from conformance.report.model.failures import failures_of, weighs
from conformance.report.model.groups import WHOLE_ANSWER, FindingGroup
from conformance.report.model.marked import BodyLine
from conformance.report.model.run import FindingEntry, RequirementEntry, Run
from conformance.report.model.severity import SEVERITIES, severity_of
from conformance.report.model.visible import one_line
from conformance.report.model.words import plural
from conformance.spec import REQUIREMENTS
from conformance.spec.places import place_of

MOST_ROWS = 100
MOST_ACCEPTED = 20
"""Findings that one command accepts."""


@dataclass(frozen=True, slots=True)
class CardRow:
    """A finding of a card, with the name of its place on the page."""

    entry: FindingEntry
    anchor: str


@dataclass(frozen=True, slots=True)
class Card:
    """A group of findings as it is shown. ``left_out`` says why no exchanges are shown."""

    group: FindingGroup
    lead: CardRow
    elsewhere: Sequence[CardRow]
    at_once: Sequence[CardRow]
    expected: Sequence[BodyLine]
    seen: Sequence[BodyLine]
    cause: str | None
    rerun: str
    curl: str | None
    har: str | None
    accept: str | None
    is_known: bool
    is_new: bool
    exchanges: Sequence[Cells] = ()
    left_out: str = ""

    @property
    def rows(self) -> Sequence[CardRow]:
        return (self.lead, *self.elsewhere, *self.at_once)

    @property
    def at_once_by_rule(self) -> list[list[CardRow]]:
        """Findings of the same answer, grouped by rule."""
        rules: dict[tuple[str, str], list[CardRow]] = {}
        for row in self.at_once:
            rules.setdefault((row.entry.requirement, row.entry.verdict), []).append(row)
        return list(rules.values())

    @property
    def at_once_title(self) -> str:
        if self.group.filter:
            return f"Listings by the same filter, {self.group.filter}, also contradict"
        if self.group.lead.path not in WHOLE_ANSWER:
            return "The same value also contradicts"
        answers = [each.exchanges[-1:] for each in (self.group.lead, *self.group.elsewhere)]
        is_same = all(each.exchanges[-1:] in answers for each in self.group.at_once)
        return f"The same {'answer' if is_same else 'mistake'} also contradicts"

    def without_exchanges(self) -> Card:
        if not self.exchanges:
            return self
        lines = exchange_numbers(self.group.lead.exchanges)
        reason = f"Left out to keep this page small. See lines {lines} of exchanges.jsonl."
        return replace(self, exchanges=(), left_out=reason, har=None)


@dataclass
class Cards:
    """Makes the cards of a run; ``numbers`` are the endpoints' numbers that the page filters by."""

    run: Run
    evidence: RunEvidence
    numbers: Mapping[str, int]
    rules: dict[str, RequirementEntry] = field(init=False)
    accepted: frozenset[str] = field(init=False)
    taken: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rules = {row.id: row for row in self.run.requirements}
        self.accepted = failures_of(self.run).accepted

    def card(self, group: FindingGroup) -> Card:
        lead, record = group.lead, self.evidence.exchanges
        numbered = {number: record[number] for number in lead.exchanges if number in record}
        exchanges = list(numbered.values())
        last = numbered.get(lead.exchanges[-1]) if lead.exchanges else None
        is_known = lead.signature in self.accepted
        return Card(
            group=group,
            lead=CardRow(lead, self._anchor(lead)),
            elsewhere=[CardRow(each, self._anchor(each)) for each in group.elsewhere[:MOST_ROWS]],
            at_once=[CardRow(each, self._anchor(each)) for each in group.at_once[:MOST_ROWS]],
            expected=other_lines(lead, self.evidence) or expected_lines(lead, last),
            seen=seen_lines(lead, last),
            cause=cause(lead, last),
            rerun=again.rerun_finding(self.run, lead),
            curl=again.curl(exchanges, self.run.secrets),
            har=again.har(exchanges, self.run.secrets, version=self.run.suite.version),
            accept=None if is_known else self._accept(group.findings),
            is_known=is_known,
            is_new=self.run.baseline is not None and not is_known and weighs(self.run, lead),
            exchanges=tuple(exchange_views(lead, self.evidence, self.run.secrets)),
            left_out="" if exchanges or not lead.exchanges else "exchanges.jsonl lacks these exchanges.",
        )

    def text(self, card: Card) -> Markup:
        findings = card.group.findings
        rules = [self.rules[each.requirement] for each in findings if each.requirement in self.rules]
        numbers = {str(self.numbers[each.endpoint]) for each in findings if each.endpoint in self.numbers}
        return part(
            "finding.html.j2",
            card=card,
            group=card.group,
            lead=card.group.lead,
            rule=self.rules.get(card.group.lead.requirement),
            stated=REQUIREMENTS.get(card.group.lead.requirement),
            statement=self._statement,
            verdicts=" ".join(dict.fromkeys(each.verdict for each in findings)),
            levels=" ".join(dict.fromkeys(rule.level for rule in rules)),
            sections="|".join(dict.fromkeys(rule.section for rule in rules)),
            endpoints=" ".join(sorted(numbers)),
            **WORDS,
        )

    def _statement(self, finding: FindingEntry) -> Markup:
        rule = self.rules.get(finding.requirement)
        return with_code(rule.statement if rule else finding.requirement)

    def _accept(self, findings: Sequence[FindingEntry]) -> str | None:
        """The command that accepts the findings of a card, where some fail the run these alone."""
        weighing = [each for each in findings if weighs(self.run, each)] or findings
        ids = dict.fromkeys(finding.id for finding in weighing)
        ids = ids if len(ids) <= MOST_ACCEPTED else dict.fromkeys(each.requirement for each in weighing)
        file = self.run.baseline.file if self.run.baseline else "known.toml"
        words = ["portal-conformance", "compare", self.evidence.folder, "--known", file]
        return shlex.join([*words, *(f"--accept={id}" for id in ids)]) if ids else None

    def _anchor(self, finding: FindingEntry) -> str:
        name = anchor("finding", finding.requirement)
        self.taken[name] = self.taken.get(name, 0) + 1
        return name if self.taken[name] == 1 else f"{name}-{self.taken[name]}"


def exchange_numbers(numbers: Sequence[int]) -> str:
    shown = ", ".join(f"#{number}" for number in numbers[:8])
    return shown if len(numbers) <= 8 else f"{shown} and {len(numbers) - 8} more"


WORDS: dict[str, Callable[..., object]] = {
    "contrast": contrast,
    "endpoint": endpoint,
    "expected": lambda finding: one_line(expectation(finding.expected), 160),
    "expected_in": expected_in,
    "named": exchange_numbers,
    "numbers_of": numbers_of,
    "one_line": one_line,
    "own_message": own_message,
    "times_of": times_of,
    "place_of": place_of,
    "plural": plural,
    "seen": seen,
    "severity": lambda finding: SEVERITIES[severity_of(finding)],
}
"""What the template says of a finding."""
