"""Statements that follow a pattern: a row of a file stands for one of each field, endpoint or list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from conformance.spec import resources
from conformance.spec.operations import OPERATIONS
from conformance.spec.tables import CONSTANT_LISTS

Row = dict[str, Any]
"""Keys and values of one requirement, as they stand in a file of ``requirements.d``."""

ANYTHING = "it may be anything, null or left out, so that no answer contradicts it"
"""Of a field that is only named: that it is lawful can be seen, and nothing else."""

TYPES: Sequence[tuple[tuple[Any, ...], str]] = (
    ((resources.Text,), "a string"),
    ((resources.Integer,), "an integer"),
    ((resources.Boolean,), "a boolean"),
    ((resources.Number, resources.Integer), "a number"),
    ((resources.Present,), "present (no type is given)"),
    ((resources.Instant,), "a string that is an ISO 8601 date and time"),
    ((resources.InstantOrDay,), "a string that is an ISO 8601 date, or date and time"),
    ((resources.Instant, resources.Number, resources.Integer), "an instant: an ISO 8601 string or a number"),
    ((resources.Email,), "a string that is an email address"),
    ((resources.CountryCode,), "a string of two letters, a country code"),
    ((resources.Enumeration,), "an enumeration object"),
    ((resources.Pagination,), "a pagination object"),
    ((resources.EmailConfig,), "an object with the mail settings"),
    ((list[Any],), "an array"),
    ((list[resources.Enumeration],), "an array of enumeration objects"),
    ((list[resources.AccountRecord],), "an array of Account"),
    ((list[resources.LoginHistoryItem],), "an array of LoginHistoryItem"),
    ((list[resources.NotificationChannelType],), "an array of NotificationChannelType"),
    ((list[resources.NotificationChannel],), "an array of NotificationChannel"),
    ((list[resources.TransferOrder],), "an array of TransferOrder"),
)
"""Words for the types of fields, by the alternatives of their annotation in a model."""

NOT_SHOWN = "in the envelope (the content of a successful answer is not shown)"


def of_fields(row: Row) -> Iterator[Row]:
    """Generates a statement for each field of a model, without inherited fields."""
    model = getattr(resources, row["fields"])
    instead = row.get("instead", {})
    keys = [each.key for each in OPERATIONS if each.data and model in SHOWN[each.data]]
    for name, annotation in model.__annotations__.items():
        field = model.model_fields[name]
        kind = tuple(each for each in _alternatives(annotation) if each is not NoneType)
        words = next(words for alternatives, words in TYPES if alternatives == kind)
        if not field.is_required():
            words = f"{'anything' if kind == (resources.Present,) else words}, or null or left out"
        others = [other for other in getattr(field.validation_alias, "choices", ()) if other != name]
        also = f" (in one place of the document `{others[0]}`)" if others else ""
        yield {
            "id": field.json_schema_extra["requirement"],
            "statement": instead.get(name, f"{row['subject']} has `{name}`{also}: {words}."),
            "operations": keys,
            "untestable": ANYTHING if words.startswith("anything") else None,
        }


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    is_union = get_origin(annotation) in (Union, UnionType)
    return get_args(annotation) if is_union else (annotation,)


def _shown(data: str) -> set[Any]:
    """The models of which an answer shows fields, by the name of its data."""
    models: set[Any] = set()
    waiting = [resources.RESOURCES[data.removesuffix("[]")]]
    while waiting:
        annotation = waiting.pop()
        waiting += get_args(annotation)
        if isinstance(annotation, type) and issubclass(annotation, resources.Resource):
            models.update(annotation.__mro__)
            waiting += [field.annotation for field in annotation.model_fields.values()]
    return models


SHOWN = {row.data: _shown(row.data) for row in OPERATIONS if row.data}


def of_endpoints(row: Row) -> Iterator[Row]:
    for operation in OPERATIONS:
        answer = row["answers"].get(operation.data, "an array")
        data = f"and answers with {answer} as `data`" if operation.data else NOT_SHOWN
        statement = f"`{operation.key}` is offered {data}."
        yield {"id": operation.requirement, "statement": statement, "operations": [operation.key]}


def of_values(row: Row) -> Iterator[Row]:
    """A statement of the values that each constants list gives its codes."""
    for each in CONSTANT_LISTS.values():
        words = " and ".join(f"{code} has the value {value}" for code, value in each.codes.items())
        statement = f"In `{each.suffix}` {words}, wherever they are listed."
        yield {"id": each.values, "statement": statement, "operations": [each.endpoint]}


def of_presence(row: Row) -> Iterator[Row]:
    """A statement that each constants list has the codes that the specification shows of it."""
    for each in CONSTANT_LISTS.values():
        statement = f"`{each.suffix}` lists {' and '.join(each.codes)}."
        yield {"id": each.presence, "statement": statement, "operations": [each.endpoint]}


PATTERNS = {"fields": of_fields, "answers": of_endpoints, "values": of_values, "presence": of_presence}


def rows_of(row: Row) -> Iterator[Row]:
    """The requirements that a row of a file stands for: itself, or those of the pattern that it names."""
    pattern = next((PATTERNS[name] for name in PATTERNS if name in row), None)
    if pattern is None:
        yield row
    else:
        shared = {"section": row["section"], "level": row["level"]}
        yield from ({**each, **shared} for each in pattern(row))
