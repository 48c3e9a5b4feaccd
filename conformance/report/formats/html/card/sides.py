"""What a finding shows beside each other: what was expected, and what was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from conformance.report.formats.finding_text import expectation, seen
from conformance.report.formats.html.card.exchange_view import outcome
from conformance.report.model.evidence import RunEvidence
from conformance.report.model.marked import BodyLine, around, at, literal, marked, place
from conformance.report.model.run import FindingEntry
from conformance.report.model.visible import one_line
from conformance.spec.requirements import PINNED
from conformance.traffic.clip import clipped
from conformance.traffic.exchange import ABSENT, Exchange, Json, dig

MOST_AROUND = 10
"""Lines of a place that are shown below what was seen of it."""


def other_lines(finding: FindingEntry, evidence: RunEvidence) -> list[BodyLine]:
    """What the other answer shows; none where no other shows it, or its record is not at hand."""
    other = finding.other
    exchange = None if other is None else evidence.exchanges.get(other.exchange)
    if other is None or exchange is None or exchange.envelope is None:
        return []
    lines = around(exchange.envelope, _place_of(exchange.envelope, other.record, other.field))
    shown = [replace(line, kind="expected") if line.kind == "seen" else line for line in lines]
    return shown if _is_expected(finding, exchange) else [*_value_lines(finding.expected, "expected"), *shown]


def _is_expected(finding: FindingEntry, exchange: Exchange) -> bool:
    """Whether the other answer shows what was expected; else it shows what rules this one out."""
    other = finding.other
    if other is None or exchange.envelope is None:
        return False
    place_there = _place_of(exchange.envelope, other.record, other.field)
    return bool(clipped(dig(exchange.envelope, place_there)) == finding.expected)


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
        return [BodyLine(0, "status", outcome(exchange), "seen"), *_code_line(exchange)]
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
    """What was seen where it is not the value at the place: a claim of a token, the length of a list."""
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


def _value_lines(value: Json, kind: str) -> list[BodyLine]:
    if isinstance(value, dict | list) and value and len(literal(value)) > 60:
        return [
            replace(line, kind="seen" if kind == "seen" else "expected") for line in marked(value, most=24)
        ]
    return [BodyLine(0, "", expectation(value), "seen" if kind == "seen" else "expected")]


def _code_line(exchange: Exchange) -> list[BodyLine]:
    return [BodyLine(0, "code", literal(exchange.code))] if exchange.code is not None else []
