"""Rules in TOML: what holds at a place of the answers of an endpoint, without any Python."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationError

from conformance.checks.records import moment
from conformance.errors import RuleError
from conformance.rules.rule import OwnRule, answers, check, errors, successes
from conformance.target.profile.errors import hint_at, sentences
from conformance.target.profile.positions import Positions
from conformance.traffic.documents import toml_tables
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.traffic.patterns import MATCH_SECONDS, compiled
from conformance.traffic.values import is_integer, is_number, is_redacted
from conformance.verdicts.comparisons import holds, same
from conformance.verdicts.findings import Comparison, shown

SELECTIONS = {"success": successes, "error": errors, "any": answers}
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


def _size(value: Json) -> Any:
    """A number, or a number in a text, as Decimal; a time as datetime; other values as None."""
    if is_number(value):
        number = Decimal(str(value))
        return number if number.is_finite() else None
    if isinstance(value, str) and NUMBER.fullmatch(value):
        return Decimal(value)
    return moment(value) or moment(f"{value}T00:00:00Z")


def _order(actual: Json, bound: Json) -> int | None:
    """-1, 0 or 1: a value is less than another, equal to it or greater; None where they have no order."""
    left, right = _size(actual), _size(bound)
    return (left > right) - (left < right) if left is not None and type(left) is type(right) else None


def _matches(actual: Json, pattern: str) -> bool:
    """RuleError: the pattern takes too long."""
    try:
        return isinstance(actual, str) and bool(compiled(pattern).fullmatch(actual, timeout=MATCH_SECONDS))
    except TimeoutError:
        raise RuleError(f"the pattern {pattern} takes longer than {MATCH_SECONDS:.0f} s.") from None


def _is_of_type(actual: Json, types: str | Sequence[str]) -> bool:
    """RuleError: a type is none."""
    names = [types] if isinstance(types, str) else types
    for name in names:
        if name not in TYPES:
            raise RuleError(f"there is no type {shown(name)}, but {', '.join(TYPES)}")
    return any(TYPES[name](actual) for name in names)


OPERATORS: Mapping[str, tuple[Callable[[Json], Json], Callable[[Json, Json], bool]]] = {
    "equals": (lambda value: value, same),
    "in": (lambda values: {"one of": values}, lambda actual, values: any(same(actual, x) for x in values)),
    "matches": ("a text that matches {}".format, _matches),
    "at-least": ("at least {}".format, lambda actual, bound: _order(actual, bound) in (0, 1)),
    "at-most": ("at most {}".format, lambda actual, bound: _order(actual, bound) in (0, -1)),
    "before": ("before {}".format, lambda actual, bound: _order(actual, bound) == -1),
    "after": ("after {}".format, lambda actual, bound: _order(actual, bound) == 1),
    "present": (
        lambda is_there: "a value there" if is_there else "no value there",
        lambda actual, is_there: (actual is not ABSENT) is is_there,
    ),
    "type": ("a value of the type {}".format, _is_of_type),
}
"""The comparisons of a rule: what is expected of a value by an operand, and whether it holds."""

OF_NULL = frozenset({"equals", "in", "present", "type"})
"""The comparisons that judge null; for the others it decides nothing."""


def _operands(tests: Mapping[str, Json]) -> Mapping[str, Json]:
    """ValueError: a comparison is none. What it cannot be compared with, the examples show."""
    if not tests:
        raise ValueError("is empty. Compare the place, such as { at-least = 0 }")
    for name in tests:
        if name not in OPERATORS:
            listing = f" There are {', '.join(OPERATORS)}."
            raise ValueError(f'has no comparison "{name}".{hint_at(name, OPERATORS, listing)}')
    return tests


BESIDE = frozenset({"before", "after"})
"""The comparisons whose operand is the name of a field beside the place."""


def _is_place(place: str) -> str:
    if not PLACE.fullmatch(place):
        raise ValueError(f"{shown(place)} is no place. Write one such as data.items[*].balance")
    return place


class RuleRow(BaseModel):
    """A rule as a file has it."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    id: str
    statement: str
    level: Literal["must", "should"] = "must"
    on: Annotated[list[str], BeforeValidator(lambda on: [on] if isinstance(on, str) else on)]
    answers: Literal["success", "error", "any"] = "success"
    each: Annotated[str, AfterValidator(_is_place)]
    holds: Annotated[dict[str, Json], AfterValidator(_operands)]
    lawful: Json
    unlawful: Json


class RuleTable(BaseModel):
    rule: RuleRow


@dataclass(frozen=True, slots=True)
class PlaceRule:
    """Judges each place of an answer by the comparisons of a rule."""

    place: str
    tests: Mapping[str, Json]
    where: str

    def __call__(self, exchange: Exchange) -> Iterator[Comparison]:
        for path in places_of(exchange, self.place):
            for name, operand in self.tests.items():
                yield from _compared(exchange, path, name, operand)


def places_of(exchange: Exchange, place: str) -> Iterator[str]:
    """The places of an answer that a pattern such as ``data[*].balance`` means."""
    before, star, after = place.partition("[*]")
    if not star:
        yield place
        return
    listed = exchange.at(before)
    for index in range(len(listed) if isinstance(listed, list) else 0):
        yield from places_of(exchange, f"{before}[{index}]{after}")


def _compared(exchange: Exchange, path: str, name: str, operand: Json) -> Iterator[Comparison]:
    """Nothing where nothing can be said: a value is absent, null or redacted."""
    words, is_held = OPERATORS[name]
    is_reference = isinstance(operand, dict) and operand.keys() == {"field"}
    field = operand if name in BESIDE else operand["field"] if is_reference else ""
    bound = exchange.at(f"{path.rpartition('.')[0]}.{field}".lstrip(".")) if field else operand
    actual, nothing = exchange.at(path), (ABSENT,) if name in OF_NULL else (ABSENT, None)
    is_unsaid = any(value is each for value in (actual, bound) for each in nothing)
    if name == "present" or not (is_unsaid or is_redacted(actual) or is_redacted(bound)):
        expected = words(bound)
        expected = f"{expected} ({field})" if field and isinstance(expected, str) else expected
        yield holds(exchange, path, is_held(actual, bound), expected, actual=actual)


def rules_in(text: str, name: str) -> Iterator[OwnRule]:
    """The rules of a file. RuleError: it is not TOML, or a rule has a mistake."""
    document = toml_tables(text, name, error=RuleError)
    rows, positions = document.get("rule"), Positions(name, text)
    if not isinstance(rows, list) or document.keys() != {"rule"}:
        raise RuleError(f"{name}: rules stand under [[rule]], with two brackets, and nothing else does.")
    for number, row in enumerate(rows):
        where = positions.of(("rule", number))
        try:
            rule = RuleTable.model_validate({"rule": row}).rule
            examples = {"lawful": rule.lawful, "unlawful": rule.unlawful}
            on = SELECTIONS[rule.answers](*rule.on)
            made = check(rule.id, rule.statement, on=on, level=rule.level, **examples)
            yield made(PlaceRule(rule.each, rule.holds, where))
        except ValidationError as problem:
            raise RuleError("\n".join(sentences(problem, RuleTable, Positions(where, "")))) from None
        except RuleError as mistake:
            raise RuleError(f"{where}: {mistake}") from None
