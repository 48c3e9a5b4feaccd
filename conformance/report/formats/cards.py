"""A finding as a card to read: what was expected and seen, beside each other, and the exchanges that led
there."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from conformance.report.across.baseline import entry_text
from conformance.report.formats.page import anchor, endpoint, spelled
from conformance.report.model import again
from conformance.report.model.causes import cause
from conformance.report.model.evidence import Evidence, Step
from conformance.report.model.marked import Line, around, at, literal, marked, place, with_expected
from conformance.report.model.run import FindingEntry, RequirementEntry, Run
from conformance.report.model.script import script
from conformance.report.model.visible import cut, one_line
from conformance.report.model.words import known_signatures, plural
from conformance.traffic.exchange import ABSENT, Exchange, Json, Message

MOST_EXCHANGES = 6
MOST_TEXT = 1_500
MOST_HEADERS = 40

PINNED = "READING-"
"""How the ids begin of what the profile pins under ``[readings]``."""

UNKNOWN_BODIES = {
    "omitted": "A body that the record leaves out.",
    "truncated": "A body that the record cuts off.",
    "sanitized": "A body that the record has taken out.",
    "undecodable": "A body that cannot be decoded.",
}


@dataclass(frozen=True, slots=True)
class Side:
    """One direction of an exchange: headers, and the body as lines."""

    headers: Sequence[tuple[str, str]]
    lines: Sequence[Line]


@dataclass(frozen=True, slots=True)
class Shot:
    """One exchange as it is shown."""

    number: int
    method: str
    path: str
    outcome: str
    when: str
    answer_title: str
    request: Side
    response: Side
    plain_request: Side | None
    plain_response: Side | None
    open: bool


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
    expected: Sequence[Line]
    seen: Sequence[Line]
    seen_in: str
    cause: str | None
    exchange_words: str
    trail: str
    again_words: str
    rerun: str
    known: bool = False
    new: bool = False
    before: Sequence[Step] = ()
    exchanges: Sequence[Shot] = ()
    left_out: str = ""
    curl: str | None = None
    script: str | None = None
    baseline: str | None = None

    def without_exchanges(self) -> Card:
        """The same card where the page has no room for its evidence."""
        if not self.exchanges:
            return self
        told = f"Left out to keep this page small: lines {_numbers(self.entry.exchanges)} of exchanges.jsonl."
        return replace(self, exchanges=(), before=(), left_out=told, script=None)


@dataclass
class Cards:
    """Makes the cards of a run; ``numbers`` are the endpoints' numbers that the page filters by."""

    run: Run
    evidence: Evidence
    numbers: Mapping[str, int]
    rows: dict[str, RequirementEntry] = field(init=False)
    known: frozenset[str] = field(init=False)
    taken: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.rows = {row.id: row for row in self.run.requirements}
        self.known = known_signatures(self.run)

    def card(self, finding: FindingEntry) -> Card:
        row = self.rows.get(finding.requirement)
        shots = [
            self.evidence.exchanges[number]
            for number in finding.exchanges
            if number in self.evidence.exchanges
        ]
        last = shots[-1] if shots and finding.exchanges[-1] in self.evidence.exchanges else None
        curl = again.curl(last, finding) if last else None
        steps = script(self.run, finding, shots, self.evidence.sign_ins) if not curl else None
        known = finding.signature in self.known
        return Card(
            entry=finding,
            anchor=self._anchor(finding),
            level=row.level if row else "must",
            section=row.section if row else "",
            statement=spelled(row.statement if row else finding.requirement),
            endpoint=endpoint(finding.endpoint),
            endpoints=str(self.numbers.get(finding.endpoint, "")),
            place=finding.path,
            message=_message(finding),
            expected=expected_lines(finding, last),
            seen=seen_lines(finding, last),
            seen_in=f"in #{finding.exchanges[-1]}" if finding.exchanges else "",
            cause=cause(finding, last),
            exchange_words=f"exchange {_numbers(finding.exchanges)}" if finding.exchanges else "",
            trail=_trail(finding, shots),
            again_words="with the suite"
            + (", with curl" if curl else ", with a Python script" if steps else ""),
            rerun=again.rerun(self.run, finding.requirement),
            known=known,
            new=self.run.baseline is not None and not known and finding.verdict in ("fail", "warn"),
            before=self.evidence.before.get(finding.exchanges[0], ()) if finding.exchanges else (),
            exchanges=tuple(_shots(finding, self.evidence)),
            left_out="" if shots or not finding.exchanges else "The exchanges are not at hand.",
            curl=curl,
            script=steps,
            baseline=None if known or finding.verdict == "open" else entry_text(finding),
        )

    def _anchor(self, finding: FindingEntry) -> str:
        name = anchor("finding", finding.requirement)
        self.taken[name] = self.taken.get(name, 0) + 1
        return name if self.taken[name] == 1 else f"{name}-{self.taken[name]}"


def seen_lines(finding: FindingEntry, exchange: Exchange | None) -> list[Line]:
    """What was seen, with what stands beside it in the answer where the place is in its body."""
    if exchange is not None and _in_body(finding) and exchange.envelope is not None:
        return around(exchange.envelope, place(finding.path))
    if exchange is not None and finding.path == "status":
        return [Line(0, "status", _outcome(exchange), "seen"), *_code_line(exchange)]
    if finding.path.startswith("headers."):
        name = finding.path.removeprefix("headers.")
        actual = None if exchange is None else at(exchange, finding.path)
        return [Line(0, name, "not there" if actual is ABSENT else _words(finding.actual), "seen")]
    if finding.missing:
        return [Line(0, "", seen(finding), "seen")]
    return _value_lines(finding.actual, "seen")


def expected_lines(finding: FindingEntry, exchange: Exchange | None) -> list[Line]:
    """The same lines with what was expected in its place."""
    told = expectation(finding.expected)
    if exchange is not None and _in_body(finding) and exchange.envelope is not None and len(told) <= 160:
        return with_expected(around(exchange.envelope, place(finding.path)), told)
    if finding.path == "status":
        return [Line(0, "status", told, "expected")]
    if finding.path.startswith("headers."):
        return [Line(0, finding.path.removeprefix("headers."), told, "expected")]
    return _value_lines(finding.expected, "expected")


def expectation(expected: Json) -> str:
    """What was expected, as a person says it: a value as JSON, words as words."""
    if isinstance(expected, dict) and len(expected) == 1:
        ((name, value),) = expected.items()
        if name in ("one of", "none of") and isinstance(value, list):
            word = " or " if name == "one of" else " nor "
            return ("neither " if name == "none of" else "") + word.join(literal(item) for item in value)
    return _words(expected)


def seen(finding: FindingEntry, limit: int = 300) -> str:
    """What was seen, in one line."""
    return "nothing (it is not there)" if finding.missing else literal(finding.actual, limit)


def _words(value: Json) -> str:
    """A text of several words is a description and stands without quotes."""
    return one_line(value, 600) if isinstance(value, str) and " " in value.strip() else literal(value, 600)


def _in_body(finding: FindingEntry) -> bool:
    """Whether the place is one in the answer's body; that of a pinned reading is the reading's key."""
    if finding.requirement.startswith(PINNED):
        return False
    return bool(place(finding.path))


def _value_lines(value: Json, kind: str) -> list[Line]:
    if isinstance(value, dict | list) and value and len(literal(value)) > 60:
        return [
            replace(line, kind="seen" if kind == "seen" else "expected") for line in marked(value, most=24)
        ]
    return [Line(0, "", expectation(value), "seen" if kind == "seen" else "expected")]


def _code_line(exchange: Exchange) -> list[Line]:
    return [Line(0, "code", literal(exchange.code))] if exchange.code is not None else []


def _message(finding: FindingEntry) -> str:
    """The message where it says more than the two sides beside each other do."""
    repeats = finding.message.startswith(f"{finding.path or 'the answer'}: expected ")
    return "" if repeats else one_line(finding.message, 600)


def _trail(finding: FindingEntry, shots: Sequence[Exchange]) -> str:
    if not finding.exchanges:
        return ""
    led = " → ".join(f"#{number}" for number in finding.exchanges[-5:])
    dots = "… → " if len(finding.exchanges) > 5 else ""
    sealed = ", encrypted" if any(shot.plain is not None for shot in shots) else ""
    return f"{plural(len(finding.exchanges), 'exchange')}{sealed}: {dots}{led}"


def _numbers(numbers: Sequence[int]) -> str:
    shown = ", ".join(f"#{number}" for number in numbers[:8])
    return shown if len(numbers) <= 8 else f"{shown} and {len(numbers) - 8} more"


def _shots(finding: FindingEntry, evidence: Evidence) -> Iterator[Shot]:
    """The exchanges of a finding in order, the last one with the place marked and open."""
    numbers = finding.exchanges if len(finding.exchanges) <= MOST_EXCHANGES else [
        finding.exchanges[0], *finding.exchanges[-MOST_EXCHANGES + 1 :]]  # fmt: skip
    for number in numbers:
        exchange = evidence.exchanges.get(number)
        if exchange is not None:
            is_last = number == finding.exchanges[-1]
            yield _shot(number, exchange, finding.path if is_last else "", is_open=is_last)


def _shot(number: int, exchange: Exchange, path: str, *, is_open: bool) -> Shot:
    request, response, plain = exchange.request, exchange.response, exchange.plain
    marks = place(path)
    in_plain = plain is not None and plain.response is not ABSENT
    return Shot(
        number=number,
        method=one_line(request.method, 20),
        path=one_line(_target(exchange), 240),
        outcome=_outcome(exchange),
        when=f"{exchange.started[11:23]} · {exchange.elapsed_ms:,.0f} ms" if exchange.started else "",
        answer_title="No answer" if response is None else "Response as sent" if in_plain else "Response",
        request=Side(_headers(request), _body(request, [])),
        response=Side([], [Line(0, "", one_line(exchange.error or "the connection gave nothing", 400))])
        if response is None
        else Side(_headers(response), _body(response, [] if in_plain else marks)),
        plain_request=Side([], marked(plain.request))
        if plain is not None and plain.request is not ABSENT
        else None,
        plain_response=Side([], marked(plain.response, marks)) if plain is not None and in_plain else None,
        open=is_open,
    )


def _target(exchange: Exchange) -> str:
    parts = exchange.request.parts
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _outcome(exchange: Exchange) -> str:
    if exchange.status is None:
        return "no answer"
    try:
        return f"{exchange.status} {HTTPStatus(exchange.status).phrase}"
    except ValueError:
        return str(exchange.status)


def _headers(message: Message) -> list[tuple[str, str]]:
    shown = [(one_line(name, 80), one_line(value, 400)) for name, value in message.headers[:MOST_HEADERS]]
    if len(message.headers) > MOST_HEADERS:
        shown.append(("…", f"{len(message.headers) - MOST_HEADERS:,} more"))
    return shown


def _body(message: Message, marks: Sequence[str | int]) -> list[Line]:
    """The body as lines, whatever it is."""
    state = message.state
    if state in UNKNOWN_BODIES:
        return [Line(0, "", UNKNOWN_BODIES[state])]
    if state == "empty":
        return [Line(0, "", "no body")]
    if state == "text":
        return [Line(0, "", line) for line in one_line(message.body["text"], MOST_TEXT).split("␊")[:60]]
    if state == "base64":
        return _bytes(message.body["base64"])
    return marked(message.body, marks)


def _bytes(encoded: str) -> list[Line]:
    """What cannot be read as text: its length, and the first bytes as hexadecimal numbers and letters."""
    try:
        start = base64.b64decode(encoded[:128] + "=" * (-len(encoded[:128]) % 4))
    except (binascii.Error, ValueError):
        return [Line(0, "", f"not text, and not base64: {one_line(encoded, 200)}")]
    letters = "".join(chr(byte) if 0x20 <= byte < 0x7F else "·" for byte in start[:48])
    told = f"{len(encoded) * 3 // 4:,} bytes that are not UTF-8 text, beginning"
    return [Line(0, "", told), Line(0, "", start[:48].hex(" ")), Line(0, "", cut(letters, 48))]
