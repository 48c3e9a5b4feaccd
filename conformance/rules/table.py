"""Rules in TOML: what holds at a place of the answers of an endpoint, without any Python."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal

from conformance.checks.records import moment
from conformance.errors import RuleError
from conformance.rules.rule import OwnRule, Statement, answers, errors, own_rule, successes
from conformance.target.profile.errors import hint_at
from conformance.target.profile.positions import Positions
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.traffic.patterns import MATCH_SECONDS, compiled
from conformance.traffic.values import is_integer, is_number, is_redacted
from conformance.verdicts.comparisons import holds, same
from conformance.verdicts.findings import Comparison, shown

SELECTIONS = {"success": successes, "error": errors, "any": answers}

FORMS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "id": ((str,), 'a text such as "OWN-1"'),
    "statement": ((str,), "a sentence that says what the portal does"),
    "level": ((str,), '"must" or "should"'),
    "on": ((str, list), "an endpoint, or a list of endpoints"),
    "answers": ((str,), '"success", "error" or "any"'),
    "each": ((str,), 'a place such as "data[*].balance"'),
    "holds": ((dict,), "a table such as { at-least = 0 }"),
    "lawful": ((dict, list, str), "an example such as { data = [{ balance = 5 }] }"),
    "unlawful": ((dict, list, str), "an example such as { data = [{ balance = -5 }] }"),
}
"""The keys of a rule, with the types that each may have, and what it is."""

OPTIONAL = frozenset({"level", "answers"})

PLACE = re.compile(r"status|headers\.[\w-]+|[^\s.\[\]]+(?:\.[^\s.\[\]]+|\[(?:\*|[0-9]{1,6})\])*")

NUMBER = re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?")

TYPES: Mapping[str, Callable[[Json], bool]] = {
    "string": lambda value: isinstance(value, str),
    "number": is_number,
    "integer": is_integer,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


@dataclass(frozen=True, slots=True)
class Operator:
    """A way to compare the value of a place with an operand. ``takes`` says whether an operand is one, and
    ``form`` what it has to be. ``of_null``: it also judges null, as others do not."""

    takes: Callable[[Json], bool]
    form: str
    holds: Callable[[Json, Json], bool]
    expected: Callable[[Json], Json]
    of_null: bool = False


def _size(value: Json) -> Decimal | datetime | None:
    """A number, also one in a text, or a time; None where a value is neither."""
    if is_number(value):
        number = Decimal(str(value))
        return number if number.is_finite() else None
    if isinstance(value, str) and NUMBER.fullmatch(value):
        return Decimal(value)
    return moment(value)


def _order(actual: Json, operand: Json) -> int | None:
    """-1, 0 or 1: a value is less than another, equal to it or greater; None where they have no order."""
    left, right = _size(actual), _size(operand)
    if left is None or right is None or type(left) is not type(right):
        return None
    return (left > right) - (left < right)  # type: ignore[operator]  # both are of one type


def _matches(actual: Json, pattern: str) -> bool:
    """RuleError: the pattern takes too long."""
    try:
        return isinstance(actual, str) and bool(compiled(pattern).fullmatch(actual, timeout=MATCH_SECONDS))
    except TimeoutError:
        raise RuleError(
            f"the pattern {pattern} takes longer than {MATCH_SECONDS:.0f} s. Write it without a repetition "
            "within a repetition."
        ) from None


def _is_pattern(operand: Json) -> bool:
    try:
        return isinstance(operand, str) and bool(compiled(operand))
    except ValueError:
        return False


def _types(operand: Json) -> Sequence[Json]:
    return operand if isinstance(operand, list) else [operand]


OPERATORS: Mapping[str, Operator] = {
    "equals": Operator(lambda operand: True, "a value", same, lambda operand: operand, of_null=True),
    "in": Operator(
        lambda operand: isinstance(operand, list) and bool(operand),
        "a list of values",
        lambda actual, operand: any(same(actual, each) for each in operand),
        lambda operand: {"one of": operand},
        of_null=True,
    ),
    "matches": Operator(
        _is_pattern, "a regular expression", _matches, lambda operand: f"a text that matches {operand}"
    ),
    "at-least": Operator(
        lambda operand: _size(operand) is not None,
        'a number, a time, or { field = "…" }',
        lambda actual, operand: _order(actual, operand) in (0, 1),
        lambda operand: f"at least {operand}",
    ),
    "at-most": Operator(
        lambda operand: _size(operand) is not None,
        'a number, a time, or { field = "…" }',
        lambda actual, operand: _order(actual, operand) in (0, -1),
        lambda operand: f"at most {operand}",
    ),
    "before": Operator(
        lambda operand: False,
        "the name of a field beside the place",
        lambda actual, operand: _order(actual, operand) == -1,
        lambda operand: f"before {operand}",
    ),
    "after": Operator(
        lambda operand: False,
        "the name of a field beside the place",
        lambda actual, operand: _order(actual, operand) == 1,
        lambda operand: f"after {operand}",
    ),
    "present": Operator(
        lambda operand: isinstance(operand, bool),
        "true or false",
        lambda actual, operand: (actual is not ABSENT) is operand,
        lambda operand: "a value there" if operand else "no value there",
        of_null=True,
    ),
    "type": Operator(
        lambda operand: (
            bool(_types(operand)) and all(isinstance(each, str) and each in TYPES for each in _types(operand))
        ),
        f"one of {', '.join(TYPES)}, or a list of them",
        lambda actual, operand: any(TYPES[each](actual) for each in _types(operand)),
        lambda operand: f"a value of the type {' or '.join(_types(operand))}",
        of_null=True,
    ),
}
"""The comparisons of a rule."""

BESIDE = frozenset({"before", "after"})
"""The operators whose operand names a field beside the place."""


@dataclass(frozen=True, slots=True)
class Test:
    """An operator with its operand; or with the ``field`` beside the place that holds the operand."""

    name: str
    operand: Json = None
    field: str = ""

    def compare(self, exchange: Exchange, path: str) -> Comparison | None:
        """None where nothing can be said: a value is absent, null or redacted."""
        operator, actual, operand = OPERATORS[self.name], exchange.at(path), self.operand
        if self.field:
            operand = exchange.at(f"{path.rpartition('.')[0]}.{self.field}".lstrip("."))
        is_there = self.name == "present" or actual is not ABSENT
        is_null = not operator.of_null and (actual is None or operand is None)
        is_hidden = self.name != "present" and (is_redacted(actual) or is_redacted(operand))
        if not is_there or operand is ABSENT or is_null or is_hidden:
            return None
        expected = operator.expected(operand)
        if self.field and isinstance(expected, str):
            expected = f"{expected} ({self.field})"
        return holds(exchange, path, operator.holds(actual, operand), expected, actual=actual)


@dataclass(frozen=True, slots=True)
class PlaceRule:
    """Judges each place of an answer by some tests."""

    place: str
    tests: tuple[Test, ...]

    def __call__(self, exchange: Exchange) -> Iterator[Comparison]:
        for path in places_of(exchange, self.place):
            for test in self.tests:
                comparison = test.compare(exchange, path)
                if comparison is not None:
                    yield comparison


def places_of(exchange: Exchange, place: str) -> Iterator[str]:
    """The places of an answer that a pattern such as ``data[*].balance`` means."""
    before, star, after = place.partition("[*]")
    if not star:
        yield place
        return
    listed = exchange.at(before)
    for index in range(len(listed) if isinstance(listed, list) else 0):
        yield from places_of(exchange, f"{before}[{index}]{after}")


def rules_in(text: str, name: str) -> Iterator[OwnRule]:
    """The rules of a file. RuleError: it is not TOML, or a rule has a mistake."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as broken:
        line = re.search(r"at line (\d+)", str(broken))
        raise RuleError(f"{name}{f':{line[1]}' if line else ''}: this is not TOML: {broken}.") from None
    positions, rows = Positions(name, text), document.get("rule")
    if not isinstance(rows, list) or not rows or document.keys() != {"rule"}:
        raise RuleError(f"{name}: rules stand under [[rule]], with two brackets, and nothing else does.")
    for number, row in enumerate(rows):
        where = positions.of(("rule", number))
        try:
            yield _rule(row, where)
        except RuleError as mistake:
            raise RuleError(f"{where}: {mistake}") from None


def _rule(row: Json, where: str) -> OwnRule:
    if not isinstance(row, dict):
        raise RuleError("a rule is a table. Write its keys below [[rule]].")
    for key, value in row.items():
        if key not in FORMS:
            raise RuleError(f'a rule has no key "{key}".{hint_at(key, FORMS, KEYS)}')
        if not isinstance(value, FORMS[key][0]):
            raise RuleError(f"{key} must be {FORMS[key][1]}, not {shown(value)}.")
    for key in FORMS.keys() - OPTIONAL - row.keys():
        raise RuleError(f"{row.get('id', 'the rule')} has no {key}. Write {FORMS[key][1]}.")
    name, place, wanted = row["id"], row["each"], row.get("answers", "success")
    if wanted not in SELECTIONS:
        raise RuleError(f"{name}: answers must be {FORMS['answers'][1]}, not {shown(wanted)}.")
    if not PLACE.fullmatch(place):
        raise RuleError(f"{name}: {shown(place)} is no place. Write one such as data.items[*].balance")
    endpoints = [row["on"]] if isinstance(row["on"], str) else row["on"]
    rule = own_rule(
        Statement(name, row["statement"], row.get("level", "must")),
        SELECTIONS[wanted](*endpoints),
        PlaceRule(place, tuple(_tests(name, row["holds"]))),
        where,
    )
    return replace(rule, lawful=row["lawful"], unlawful=row["unlawful"])


KEYS = f" The keys are {', '.join(FORMS)}."


def _tests(rule: str, tests: Mapping[str, Json]) -> Iterator[Test]:
    if not tests:
        raise RuleError(f"{rule}: holds is empty. Compare the place: {FORMS['holds'][1]}.")
    for name, operand in tests.items():
        if name not in OPERATORS:
            known = f" There are {', '.join(OPERATORS)}."
            raise RuleError(f'{rule}: holds has no comparison "{name}".{hint_at(name, OPERATORS, known)}')
        field = operand if name in BESIDE else operand.get("field") if isinstance(operand, dict) else None
        is_beside = isinstance(field, str) and (name in BESIDE or operand.keys() == {"field"})
        if is_beside and PLACE.fullmatch(str(field)):
            yield Test(name, field=str(field))
        elif OPERATORS[name].takes(operand):
            yield Test(name, operand)
        else:
            raise RuleError(f"{rule}: {name} takes {OPERATORS[name].form}, not {shown(operand)}.")
