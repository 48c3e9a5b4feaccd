"""A finding as a card of the page: expected and seen side by side, and the exchanges that led to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from conformance.report.across.baseline import entry_text
from conformance.report.formats.finding_text import expectation, in_words, seen
from conformance.report.formats.handover import har, http_file, issue_text
from conformance.report.formats.html.cells import Cells, cells
from conformance.report.formats.html.exchange_view import ExchangeView, exchange_views, outcome
from conformance.report.formats.html.step_labels import step_labels
from conformance.report.formats.page import anchor, endpoint, spelled
from conformance.report.model import again
from conformance.report.model.causes import cause
from conformance.report.model.evidence import EarlierStep, RunEvidence
from conformance.report.model.groups import FindingGroup
from conformance.report.model.marked import BodyLine, around, at, literal, marked, place
from conformance.report.model.run import FindingEntry, RequirementEntry, Run
from conformance.report.model.script import script
from conformance.report.model.severity import SEVERITIES, severity_of
from conformance.report.model.visible import one_line
from conformance.report.model.words import known_signatures, plural
from conformance.traffic.exchange import ABSENT, Exchange, Json

MOST_STEPS = 8
"""Steps that the text of an issue names."""

MOST_ROWS = 100
"""Findings of one cause that a card lists."""

PINNED = "READING-"
"""The beginning of the ids of readings that the profile pins under ``[readings]``."""


@dataclass(frozen=True, slots=True)
class Card:
    """One finding as it is shown. ``exchanges`` is empty and ``left_out`` says why where there was no
    room."""

    entry: FindingEntry
    anchor: str
    level: str
    section: str
    statement: list[tuple[str, bool]]
    endpoint: tuple[str, str]
    endpoints: str
    place: str
    message: str
    expected: Sequence[BodyLine]
    seen: Sequence[BodyLine]
    seen_in: str
    expected_in: str
    """Where another answer shows what was expected."""
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
    script: str | None = None
    baseline: str | None = None
    severity: str = ""
    http: str | None = None
    har: str | None = None
    issue: str = ""
    elsewhere: Sequence[Cells] = ()
    at_once: Sequence[Cells] = ()
    more: int = 0

    def without_exchanges(self) -> Card:
        """The same card where the page has no room for its evidence."""
        if not self.exchanges:
            return self
        lines = _numbers(self.entry.exchanges)
        reason = f"Left out to keep this page small. See lines {lines} of exchanges.jsonl."
        return replace(self, exchanges=(), before=(), left_out=reason, script=None, http=None, har=None)


@dataclass
class Cards:
    """Makes the cards of a run; ``numbers`` are the endpoints' numbers that the page filters by."""

    run: Run
    evidence: RunEvidence
    numbers: Mapping[str, int]
    rows: dict[str, RequirementEntry] = field(init=False)
    known: frozenset[str] = field(init=False)
    taken: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows = {row.id: row for row in self.run.requirements}
        self.known = known_signatures(self.run)

    def card(self, finding: FindingEntry, group: FindingGroup | None = None) -> Card:
        """The card of a finding, with the others of its group as rows."""
        row = self.rows.get(finding.requirement)
        numbered = self._numbered(finding)
        exchanges, labels = list(numbered.values()), step_labels(numbered, self.evidence.sign_ins)
        last = exchanges[-1] if exchanges and finding.exchanges[-1] in self.evidence.exchanges else None
        curl = again.curl(last, finding) if last else None
        steps = script(self.run, finding, exchanges, self.evidence.sign_ins) if not curl else None
        is_known = finding.signature in self.known
        card = Card(
            entry=finding,
            anchor=self._anchor(finding),
            level=row.level if row else "must",
            section=row.section if row else "",
            statement=spelled(row.statement if row else finding.requirement),
            endpoint=endpoint(finding.endpoint),
            endpoints=str(self.numbers.get(finding.endpoint, "")),
            place=finding.path,
            message=_message(finding),
            expected=self._other_lines(finding) or expected_lines(finding, last),
            expected_in=_expected_in(finding),
            seen=seen_lines(finding, last),
            seen_in=f"in #{finding.exchanges[-1]}" if finding.exchanges else "",
            cause=cause(finding, last),
            exchange_words=f"exchange {_numbers(finding.exchanges)}" if finding.exchanges else "",
            trail=_trail(finding, exchanges),
            again_words="with the suite"
            + (", with curl" if curl else ", with a Python script" if steps else ""),
            rerun=again.rerun(self.run, finding.requirement),
            known=is_known,
            new=self.run.baseline is not None and not is_known and finding.verdict in ("fail", "warn"),
            before=self.evidence.before.get(finding.exchanges[0], ()) if finding.exchanges else (),
            exchanges=tuple(exchange_views(finding, self.evidence, labels)),
            left_out="" if exchanges or not finding.exchanges else "exchanges.jsonl lacks these exchanges.",
            curl=curl,
            script=steps,
            baseline=None if is_known or finding.verdict == "open" else entry_text(finding),
            severity=SEVERITIES[severity_of(finding)],
        )
        card = self._handed_over(card, numbered, labels)
        return card if group is None else self._with_others(card, group)

    def _numbered(self, finding: FindingEntry) -> dict[int, Exchange]:
        """The exchanges of a finding that the record has, by number."""
        record = self.evidence.exchanges
        return {number: record[number] for number in finding.exchanges if number in record}

    def _handed_over(self, card: Card, exchanges: Mapping[int, Exchange], labels: Mapping[int, str]) -> Card:
        """The card with the finding as other tools take it."""
        return replace(
            card,
            http=http_file(exchanges, labels),
            har=har(list(exchanges.values()), version=self.run.suite.version),
            issue=self._issue(card.entry, exchanges, labels),
        )

    def _issue(
        self, finding: FindingEntry, exchanges: Mapping[int, Exchange], labels: Mapping[int, str]
    ) -> str:
        """The text of an issue, with the last steps."""
        row = self.rows.get(finding.requirement)
        steps = [
            f"{each.request.method} {each.request.path} → {outcome(each)}"
            + (f" ({labels[number]})" if number in labels else "")
            for number, each in list(exchanges.items())[-MOST_STEPS:]
        ]
        return issue_text(
            finding,
            statement=row.statement if row else "",
            severity=SEVERITIES[severity_of(finding)],
            steps=steps,
            rerun=again.rerun(self.run, finding.requirement),
        )

    def _with_others(self, card: Card, group: FindingGroup) -> Card:
        shown = group.elsewhere[:MOST_ROWS]
        numbers = {str(self.numbers.get(finding.endpoint, "")) for finding in group.findings}
        return replace(
            card,
            endpoints=" ".join(sorted(numbers - {""})),
            elsewhere=[self._row(finding) for finding in shown],
            at_once=[self._row(finding) for finding in group.at_once[:MOST_ROWS]],
            more=len(group.elsewhere) - len(shown),
        )

    def _row(self, finding: FindingEntry) -> Cells:
        """A finding as a row of the card that has its cause."""
        row = self.rows.get(finding.requirement)
        return cells(
            anchor=self._anchor(finding),
            verdict=finding.verdict,
            requirement=finding.requirement,
            statement=spelled(row.statement if row else finding.requirement),
            endpoint=endpoint(finding.endpoint),
            place=finding.path,
            seen=seen(finding, 100),
            expected=one_line(expectation(finding.expected), 160),
            exchanges=_numbers(finding.exchanges[-1:]),
            times=finding.times,
        )

    def _other_lines(self, finding: FindingEntry) -> list[BodyLine]:
        """What the other answer shows; none where no other shows it, or its record is not at hand."""
        other = finding.other
        exchange = None if other is None else self.evidence.exchanges.get(other.exchange)
        if other is None or exchange is None or exchange.envelope is None:
            return []
        lines = around(exchange.envelope, _place_of(exchange.envelope, other.record, other.field))
        return [replace(line, kind="expected") if line.kind == "seen" else line for line in lines]

    def _anchor(self, finding: FindingEntry) -> str:
        name = anchor("finding", finding.requirement)
        self.taken[name] = self.taken.get(name, 0) + 1
        return name if self.taken[name] == 1 else f"{name}-{self.taken[name]}"


def _place_of(value: Json, record: str, name: str) -> tuple[str | int, ...]:
    """The place of a record's field in a body; the body itself where the record is not in it."""
    waiting: list[tuple[tuple[str | int, ...], Json]] = [((), value)]
    for path, inner in waiting:
        if isinstance(inner, dict):
            if inner.get("bizId") == record and name in inner:
                return (*path, name)
            waiting += [((*path, key), item) for key, item in inner.items()]
        elif isinstance(inner, list):
            waiting += [((*path, at), item) for at, item in enumerate(inner)]
    return ()


def _expected_in(finding: FindingEntry) -> str:
    other = finding.other
    return "" if other is None else f"in #{other.exchange}, {one_line(other.endpoint, 200)}"


def seen_lines(finding: FindingEntry, exchange: Exchange | None) -> list[BodyLine]:
    """What was seen; where the place is in the answer's body, with the lines around it."""
    if exchange is not None and _in_body(finding) and exchange.envelope is not None:
        return around(exchange.envelope, place(finding.path))
    if exchange is not None and finding.path == "status":
        return [BodyLine(0, "status", outcome(exchange), "seen"), *_code_line(exchange)]
    if finding.path.startswith("headers."):
        name = finding.path.removeprefix("headers.")
        actual = None if exchange is None else at(exchange, finding.path)
        return [BodyLine(0, name, "missing" if actual is ABSENT else in_words(finding.actual), "seen")]
    if finding.missing:
        return [BodyLine(0, "", seen(finding), "seen")]
    return _value_lines(finding.actual, "seen")


def expected_lines(finding: FindingEntry, exchange: Exchange | None) -> list[BodyLine]:
    """What was expected at the place, and nothing of an answer that nobody sent."""
    expected = expectation(finding.expected)
    if exchange is not None and _in_body(finding) and exchange.envelope is not None and len(expected) <= 160:
        return [BodyLine(0, finding.path, expected, "expected")]
    if finding.path == "status":
        return [BodyLine(0, "status", expected, "expected")]
    if finding.path.startswith("headers."):
        return [BodyLine(0, finding.path.removeprefix("headers."), expected, "expected")]
    return _value_lines(finding.expected, "expected")


def _in_body(finding: FindingEntry) -> bool:
    """Whether the place is one in the answer's body; that of a pinned reading is the reading's key."""
    if finding.requirement.startswith(PINNED):
        return False
    return bool(place(finding.path))


def _value_lines(value: Json, kind: str) -> list[BodyLine]:
    if isinstance(value, dict | list) and value and len(literal(value)) > 60:
        return [
            replace(line, kind="seen" if kind == "seen" else "expected") for line in marked(value, most=24)
        ]
    return [BodyLine(0, "", expectation(value), "seen" if kind == "seen" else "expected")]


def _code_line(exchange: Exchange) -> list[BodyLine]:
    return [BodyLine(0, "code", literal(exchange.code))] if exchange.code is not None else []


def _message(finding: FindingEntry) -> str:
    """The message where it says more than the two sides beside each other do."""
    repeats = finding.message.startswith(f"{finding.path or 'the answer'}: expected ")
    return "" if repeats else one_line(finding.message, 600)


def _trail(finding: FindingEntry, exchanges: Sequence[Exchange]) -> str:
    if not finding.exchanges:
        return ""
    led = " → ".join(f"#{number}" for number in finding.exchanges[-5:])
    dots = "… → " if len(finding.exchanges) > 5 else ""
    sealed = ", encrypted" if any(exchange.plain is not None for exchange in exchanges) else ""
    return f"{plural(len(finding.exchanges), 'exchange')}{sealed}: {dots}{led}"


def _numbers(numbers: Sequence[int]) -> str:
    shown = ", ".join(f"#{number}" for number in numbers[:8])
    return shown if len(numbers) <= 8 else f"{shown} and {len(numbers) - 8} more"
