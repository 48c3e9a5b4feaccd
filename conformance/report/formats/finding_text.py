"""What was expected and seen by a finding, in words that every report uses."""

from __future__ import annotations

from conformance.report.model.marked import literal
from conformance.report.model.run import FindingEntry
from conformance.report.model.severity import compares_answers
from conformance.report.model.visible import one_line
from conformance.traffic.exchange import Json
from conformance.verdicts.wording import expected_in_words, in_words


def expectation(expected: Json) -> str:
    """What was expected: a value as JSON, or in words where it is an object of our own; a text of several
    words is a description and has no quotes."""
    words = expected_in_words(expected, literal)
    return literal(expected, 600) if words is None else one_line(words, 600)


def contrast(finding: FindingEntry) -> str:
    """How what was seen relates to the other value: of two answers that are compared, either may be wrong."""
    return "disagrees with" if compares_answers(finding) else "expected"


def values(finding: FindingEntry, limit: int = 120) -> str:
    """``seen 1, expected 0`` or ``seen "a", disagrees with "b" at GET /… (exchange 7)``."""
    return (
        f"seen {seen(finding, limit)}, {contrast(finding)} {expectation(finding.expected)}{at_other(finding)}"
    )


def at_other(finding: FindingEntry) -> str:
    """Where the other of two answers stands that a finding compares; empty where it compares none."""
    if finding.other is None or not compares_answers(finding):
        return ""
    return f" at {one_line(finding.other.endpoint, 160)} (exchange {finding.other.exchange})"


def message_of(finding: FindingEntry) -> str:
    """The finding's message; if it only repeats the values, the words of ``values``."""
    if own_message(finding) or not compares_answers(finding):
        return finding.message
    return f"{finding.path or 'the answer'}: {values(finding)}"


def seen(finding: FindingEntry, limit: int = 300) -> str:
    """What was seen, in one line."""
    if finding.missing:
        return "nothing (missing)"
    words = in_words(finding.actual, literal)
    return literal(finding.actual, limit) if words is None else one_line(words, limit)


def times_of(finding: FindingEntry) -> str:
    """How often a finding was seen, in words."""
    return f"{finding.times:,} times{', also with other values' if finding.varies else ''}"


def own_message(finding: FindingEntry, limit: int = 600) -> str:
    """The message where it says more than place, expected and seen do; else nothing."""
    repeats = finding.message.startswith(f"{finding.path or 'the answer'}: expected ")
    return "" if repeats else one_line(finding.message, limit)
