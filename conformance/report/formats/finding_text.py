"""What was expected and seen by a finding, in words that every report uses."""

from __future__ import annotations

from conformance.report.model.marked import literal
from conformance.report.model.run import FindingEntry
from conformance.report.model.severity import compares_answers
from conformance.report.model.visible import one_line
from conformance.traffic.exchange import Json


def expectation(expected: Json) -> str:
    """What was expected: a value as JSON, a description in its words."""
    if isinstance(expected, dict) and len(expected) == 1:
        ((name, value),) = expected.items()
        if name in ("one of", "none of") and isinstance(value, list):
            word = " or " if name == "one of" else " nor "
            return ("neither " if name == "none of" else "") + word.join(literal(item) for item in value)
    return in_words(expected)


def contrast(finding: FindingEntry) -> str:
    """How what was seen relates to the other value: of two answers that are compared, either may be wrong."""
    return "disagrees with" if compares_answers(finding) else "expected"


def values(finding: FindingEntry, limit: int = 120) -> str:
    """``seen 1, expected 0`` or ``seen "a", disagrees with "b"``."""
    return f"seen {seen(finding, limit)}, {contrast(finding)} {expectation(finding.expected)}"


def message_of(finding: FindingEntry) -> str:
    """The message, in the words of ``values`` where it says nothing else."""
    if own_message(finding) or not compares_answers(finding):
        return finding.message
    return f"{finding.path or 'the answer'}: {values(finding)}"


def seen(finding: FindingEntry, limit: int = 300) -> str:
    """What was seen, in one line."""
    return "nothing (missing)" if finding.missing else literal(finding.actual, limit)


def own_message(finding: FindingEntry, limit: int = 600) -> str:
    """The message where it says more than place, expected and seen do; else nothing."""
    repeats = finding.message.startswith(f"{finding.path or 'the answer'}: expected ")
    return "" if repeats else one_line(finding.message, limit)


def in_words(value: Json) -> str:
    """The value as JSON; a text of several words is a description and has no quotes."""
    return one_line(value, 600) if isinstance(value, str) and " " in value.strip() else literal(value, 600)
