"""Filters on coded fields, asked in both forms that a code has: which is meant is open."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from cases.premises import code_of, is_invalid
from conformance.cases import Comparison, Exchange, Json, holds

Answers = Mapping[str, Mapping[str, Exchange]]
"""By form, ``code`` and ``value``, the answers to what was asked for, by code."""

ONLY_MATCHES = "by the totals all records match anyway, so that a filter that is passed over gives the same"
"""Why a filter stays untested where nothing was left out."""


def state_of(record: dict[str, Json], field: str) -> str | None:
    """The code of a state, also where it stands as plain text."""
    value = record.get(field)
    return value if isinstance(value, str) else code_of(record, field)


def asked_in_both_forms(ask: Callable[[Json], Exchange], family: Mapping[str, int]) -> Answers:
    """Asks the filter for each code twice: by symbol and by number."""
    answers: dict[str, dict[str, Exchange]] = {"code": {}, "value": {}}
    for code, value in family.items():
        answers["code"][code] = ask(code)
        answers["value"][code] = ask(value)
    return answers


def passed_over(
    answers: Answers, field: str, rows: Callable[[Exchange], list[dict[str, Json]]], listing: str
) -> Iterator[Comparison]:
    """Yields contradictions of a filter that accepts a form and ignores it. A form is the right one if the
    other form is refused for every code, including codes that occur."""
    for form, other in (("code", "value"), ("value", "code")):
        refused = answers[other].values()
        if not refused or not all(is_invalid(answer) for answer in refused):
            continue
        for code, answer in answers[form].items():
            shown = [state_of(record, field) for record in rows(answer)] if answer.success else []
            others = [state for state in shown if state not in (None, code)]
            if others:
                at = f"{listing}[{shown.index(others[0])}].{field}"
                yield holds(answer, at, False, code, *refused, actual=others[0])
