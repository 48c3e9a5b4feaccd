"""Exchanges of a card, and the expected value beside the actual one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Literal

from conformance.report.formats.finding_text import expectation, seen
from conformance.report.formats.page import Cells
from conformance.report.model.evidence import RunEvidence
from conformance.report.model.marked import BodyLine, around, at, literal, marked, place
from conformance.report.model.origins import Origins, explained
from conformance.report.model.run import FindingEntry
from conformance.report.model.visible import one_line
from conformance.spec.requirements import PINNED
from conformance.traffic.clip import clipped
from conformance.traffic.exchange import ABSENT, NOT_JSON, Exchange, Json, Message, dig

MOST_EXCHANGES = 6
MOST_HEADERS = 40

UNKNOWN_BODIES = {
    "omitted": "This body was not recorded.",
    "truncated": "This body is too long, and was not recorded.",
    "sanitized": "This body was removed before it was recorded.",
    "undecodable": "This body cannot be decoded.",
}


def exchange_views(finding: FindingEntry, evidence: RunEvidence, origins: Origins) -> Iterator[Cells]:
    """The exchanges of a finding in order, the last one with the place marked and open. ``origins`` are shown
    beside the placeholders of secrets."""
    numbers = numbers_of(finding)
    if len(numbers) > MOST_EXCHANGES:
        numbers = [numbers[0], *numbers[-MOST_EXCHANGES + 1 :]]
    for number in numbers:
        exchange = evidence.exchanges.get(number)
        if exchange is not None:
            is_last = number == finding.exchanges[-1]
            marked_place = finding.path if is_last else ""
            yield _view(number, explained(exchange, origins), marked_place, is_open=is_last)


def numbers_of(finding: FindingEntry) -> list[int]:
    """Numbers of the exchanges that led to a finding; the compared answer comes first."""
    other = finding.other
    if other is None or other.exchange in finding.exchanges:
        return finding.exchanges
    return [other.exchange, *finding.exchanges]


def _view(number: int, exchange: Exchange, path: str, *, is_open: bool) -> Cells:
    response, plain = exchange.response, exchange.plain
    marks = place(path)
    in_plain = plain is not None and plain.response is not ABSENT
    return Cells(
        number=number,
        method=one_line(exchange.request.method, 20),
        path=one_line(_target(exchange), 240),
        outcome=outcome(exchange),
        when=f"{exchange.started[11:23]} · {exchange.elapsed_ms:,.0f} ms" if exchange.started else "",
        answer_title="No answer" if response is None else "Response as sent" if in_plain else "Response",
        request=Cells(headers=_headers(exchange.request), lines=_body(exchange.request, [])),
        response=_response(exchange, [] if in_plain else marks),
        plain_request=None if plain is None else _plain(plain.request, []),
        plain_response=None if plain is None else _plain(plain.response, marks),
        open=is_open,
    )


def _response(exchange: Exchange, marks: Sequence[str | int]) -> Cells:
    if exchange.response is None:
        reason = one_line(exchange.error or "The connection was closed without an answer.", 400)
        return Cells(headers=[], lines=[BodyLine(0, "", reason)])
    return Cells(headers=_headers(exchange.response), lines=_body(exchange.response, marks))


def _plain(body: Json, marks: Sequence[str | int]) -> Cells | None:
    """The decrypted body; None where there is none."""
    return None if body is ABSENT else Cells(headers=[], lines=marked(body, marks))


def _target(exchange: Exchange) -> str:
    parts = exchange.request.parts
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def outcome(exchange: Exchange) -> str:
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


def _body(message: Message, marks: Sequence[str | int]) -> list[BodyLine]:
    state = message.state
    if state in UNKNOWN_BODIES:
        return [BodyLine(0, "", UNKNOWN_BODIES[state])]
    if state == "empty":
        return [BodyLine(0, "", "no body")]
    if state == NOT_JSON:
        shown = f"{message.body['length']:,} bytes that are no JSON object; only their number is recorded."
        return [BodyLine(0, "", shown)]
    return marked(message.body, marks)


MOST_AROUND = 10
"""Lines of a place that are shown below what was seen of it."""


def other_lines(finding: FindingEntry, evidence: RunEvidence) -> list[BodyLine]:
    """Lines of the compared answer; empty if the finding compares none or its record is missing."""
    other = finding.other
    exchange = None if other is None else evidence.exchanges.get(other.exchange)
    if other is None or exchange is None or exchange.envelope is None:
        return []
    place_there = _place_of(exchange.envelope, other.record, other.field)
    lines = around(exchange.envelope, place_there)
    shown = [replace(line, kind="expected") if line.kind == "seen" else line for line in lines]
    is_expected = clipped(dig(exchange.envelope, place_there)) == finding.expected
    return shown if is_expected else [*_value_lines(finding.expected, "expected"), *shown]


def _place_of(value: Json, record: str, name: str) -> tuple[str | int, ...]:
    """The place of a record's field in a body, of the only record where none is named; the body itself where
    the record is not in it."""
    waiting: list[tuple[tuple[str | int, ...], Json]] = [((), value)]
    alike: tuple[str | int, ...] = ()
    for path, inner in waiting:
        if isinstance(inner, dict):
            if name in inner and (inner.get("bizId") == record if record else path):
                return (*path, name)
            if name in inner and not alike and record in map(str, _named_by(inner)):
                alike = (*path, name)
            waiting += [((*path, key), item) for key, item in inner.items()]
        elif isinstance(inner, list):
            waiting += [((*path, at), item) for at, item in enumerate(inner)]
    return alike


def _named_by(record: Mapping[str, Json]) -> list[Json]:
    """What else than ``bizId`` a record may be known by: a session's id, the code or value of a method."""
    method = record.get("mfaMethod")
    code = method.get("code") if isinstance(method, dict) else None
    return [code, *(record.get(name) for name in ("sessionId", "id", "code", "value"))]


def expected_in(finding: FindingEntry) -> str:
    other = finding.other
    return "" if other is None else f"· the other answer: #{other.exchange}, {one_line(other.endpoint, 200)}"


def seen_lines(finding: FindingEntry, exchange: Exchange | None) -> list[BodyLine]:
    """What was seen; where the place is in the answer's body, with the lines around it."""
    if exchange is not None and _in_body(finding) and exchange.envelope is not None:
        beside = _beside_the_place(finding, exchange)
        lines = around(exchange.envelope, place(finding.path))
        return [*beside, *_as_context(lines)] if beside else lines
    if exchange is not None and finding.path == "status":
        code = [] if exchange.code is None else [BodyLine(0, "code", literal(exchange.code))]
        return [BodyLine(0, "status", outcome(exchange), "seen"), *code]
    if finding.path.startswith("headers."):
        name = finding.path.removeprefix("headers.")
        actual = None if exchange is None else at(exchange, finding.path)
        return [BodyLine(0, name, "missing" if actual is ABSENT else expectation(finding.actual), "seen")]
    if finding.missing:
        return [BodyLine(0, "", seen(finding), "seen")]
    return _value_lines(finding.actual, "seen")


def _as_context(lines: Sequence[BodyLine]) -> list[BodyLine]:
    """Lines below what was seen of them: a place of several lines is not marked itself."""
    is_large = sum(line.kind == "seen" for line in lines) > 1
    shown = [replace(line, kind="") if is_large and line.kind == "seen" else line for line in lines]
    more = BodyLine(0, "", f"… {len(lines) - MOST_AROUND:,} lines more", "more")
    return shown if len(shown) <= MOST_AROUND + 1 else [*shown[:MOST_AROUND], more]


def _beside_the_place(finding: FindingEntry, exchange: Exchange) -> list[BodyLine]:
    """A derived value that was judged: a token's claim, a list's length."""
    if finding.path in ("success", "code"):
        return [BodyLine(0, "status", outcome(exchange))]
    if finding.missing or clipped(at(exchange, finding.path)) == finding.actual:
        return []
    lines = _value_lines(finding.actual, "seen")
    return [replace(lines[0], name=finding.path)] if len(lines) == 1 else lines


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


def _value_lines(value: Json, kind: Literal["seen", "expected"]) -> list[BodyLine]:
    if isinstance(value, dict | list) and value and len(literal(value)) > 60:
        return [replace(line, kind=kind) for line in marked(value, most=24)]
    return [BodyLine(0, "", expectation(value), kind)]
