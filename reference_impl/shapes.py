"""How a request body or query is declared and checked: a table of fields, each with a rule."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reference_impl.errors import INVALID, Refusal
from reference_impl.fields import seconds
from reference_impl.limits import Limits

Body = dict[str, Any]
Rule = Callable[[Any, Limits], Any]

_EMAIL = re.compile(r"[^@\s<>,;\"]+@[^@\s<>,;\".]+(\.[^@\s<>,;\".]+)+")


class Unfit(ValueError):
    """A value that its rule does not accept."""


@dataclass(frozen=True, slots=True)
class Field:
    rule: Rule
    required: bool = False
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Shape:
    """The fields of a body; ``strict`` turns down unknown ones whatever the portal does elsewhere."""

    fields: Mapping[str, Field] = field(default_factory=dict)
    strict: bool = False


NOTHING = Shape()


def needed(rule: Rule) -> Field:
    return Field(rule, required=True)


def allowed(rule: Rule) -> Field:
    return Field(rule)


def nullable(rule: Rule) -> Field:
    return Field(rule, nullable=True)


def checked(shape: Shape, body: Any, *, limits: Limits, strict: bool) -> Body:
    """The known fields of what was given, as their rules leave them. Raises Refusal."""
    if not isinstance(body, dict):
        raise Refusal(INVALID)
    if (strict or shape.strict) and not body.keys() <= shape.fields.keys():
        raise Refusal(INVALID)
    try:
        return {
            name: _value(body.get(name), declared, limits)
            for name, declared in shape.fields.items()
            if declared.required or name in body
        }
    except Unfit:
        raise Refusal(INVALID) from None


def _value(value: Any, declared: Field, limits: Limits) -> Any:
    if value is None:
        if declared.nullable:
            return None
        raise Unfit
    return declared.rule(value, limits)


# Rules. Each takes a value and the limits, and gives the value to use or raises Unfit.


def text(*, least: int = 0, most: int | None = None, like: str = "") -> Rule:
    pattern = re.compile(like)

    def rule(value: Any, limits: Limits) -> str:
        longest = limits.text_max if most is None else most
        if not isinstance(value, str) or not least <= len(value) <= longest or "\0" in value:
            raise Unfit
        if like and not pattern.fullmatch(value):
            raise Unfit
        return value

    return rule


def address(value: Any, limits: Limits) -> str:
    """An email address by length alone: what is no address is nobody's, and that is not the rule's to say."""
    if not isinstance(value, str) or not 1 <= len(value) <= limits.email_max or "\0" in value:
        raise Unfit
    return value


def email(value: Any, limits: Limits) -> str:
    text = address(value, limits)
    if not _EMAIL.fullmatch(text):
        raise Unfit
    return text


def password(value: Any, limits: Limits) -> str:
    if not isinstance(value, str) or not limits.password_min <= len(value) <= limits.password_max:
        raise Unfit
    return value


def integer(*, least: int = -(2**31), most: int = 2**31 - 1) -> Rule:
    def rule(value: Any, limits: Limits) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise Unfit
        return value

    return rule


def flag(value: Any, limits: Limits) -> bool:
    if not isinstance(value, bool):
        raise Unfit
    return value


def coded(value: Any, limits: Limits) -> str | int:
    """A code by its symbol, its number, its number as text, or as the enumeration object that was read."""
    if isinstance(value, dict):
        value = value.get("code")
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise Unfit
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value


def texts(value: Any, limits: Limits) -> list[str]:
    if not isinstance(value, list) or len(value) > limits.list_max:
        raise Unfit
    rule = text(most=limits.email_max)
    return [rule(item, limits) for item in value]


def anything(value: Any, limits: Limits) -> Any:
    return value


def nested(shape: Shape) -> Rule:
    def rule(value: Any, limits: Limits) -> Body:
        if not isinstance(value, dict):
            raise Unfit
        return checked(shape, value, limits=limits, strict=False)

    return rule


# Rules for query parameters: a value is the list of texts that were sent under its name.


def number_sent(value: Any, limits: Limits) -> int:
    sent = value[-1]
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", sent):
        raise Unfit
    return int(sent)


def numbers_sent(value: Any, limits: Limits) -> list[list[int]]:
    """The integers of each value sent: commas separate within one."""
    return [[number_sent([item.strip()], limits) for item in sent.split(",") if item] for sent in value]


def text_sent(value: Any, limits: Limits) -> str:
    sent: str = value[-1]
    return sent


def instant_sent(value: Any, limits: Limits) -> float:
    try:
        return seconds(value[-1].replace(" ", "+"))  # an unescaped plus sign arrives as a space
    except (ValueError, OverflowError):
        raise Unfit from None
