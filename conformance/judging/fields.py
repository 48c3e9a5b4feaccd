"""The stated fields of a resource as a tree, and what is looked up along it in the data of a response."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, cast, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from conformance.spec import Operation
from conformance.spec.resources import RESOURCES, Enumeration
from conformance.spec.tables import CODED_FIELDS
from conformance.traffic.exchange import ABSENT, Json, dig
from conformance.verdicts.coverage import parts_of


def requirements_of(annotation: Any) -> set[str]:
    """Every requirement that a model's fields state, those of nested models included."""
    model = model_of(annotation)
    if model is None:
        item = item_of(annotation)
        return requirements_of(item) if item is not None else set()
    return {
        requirement
        for field in model.model_fields.values()
        for requirement in ({requirement_of(field)} | requirements_of(field.annotation))
        if requirement
    }


def requirement_of(field: FieldInfo) -> str | None:
    extra = field.json_schema_extra
    requirement = extra.get("requirement") if isinstance(extra, dict) else None
    return requirement if isinstance(requirement, str) else None


@dataclass(frozen=True)
class Node:
    """Node of a resource's field tree: a model with fields, an array with an item, or a leaf."""

    model: type[BaseModel] | None = None
    fields: tuple[tuple[tuple[str, ...], str | None, bool, Node], ...] = ()
    """Of each field its names, its requirement, whether it is required, and what it holds."""
    item: Node | None = None

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(name for names, *_ in self.fields for name in names)

    @cached_property
    def coded(self) -> tuple[tuple[str, Node | None], ...]:
        """The fields that are coded, or in which coded ones stand, with what they hold; None where that is an
        enumeration object."""
        return tuple(
            (name, None if inner.model is Enumeration else inner)
            for names, _, _, inner in self.fields
            for name in names
            if inner.holds_codes
            or (name in CODED_FIELDS and Enumeration in (inner.model, inner.item and inner.item.model))
        )

    @cached_property
    def may_lack_fields(self) -> bool:
        """Whether some nullable field may be left out, here or within."""
        return (self.item is not None and self.item.may_lack_fields) or any(
            (requirement and not required and requirement != "ENUM-004") or inner.may_lack_fields
            for _, requirement, required, inner in self.fields
        )

    @cached_property
    def holds_codes(self) -> bool:
        return bool(self.coded) or (self.item is not None and self.item.holds_codes)


@lru_cache(maxsize=512)
def node_of(annotation: Any) -> Node:
    """Field tree of an annotation; equal models share one node."""
    model, item = model_of(annotation), item_of(annotation)
    if model is not None:
        fields = (
            (
                tuple(dict.fromkeys([*names_of(name, field), name])),
                requirement_of(field),
                field.is_required(),
                node_of(cast(Any, field.annotation)),
            )
            for name, field in model.model_fields.items()
        )
        return Node(model, tuple(fields))
    return Node(item=node_of(item)) if item is not None else Node()


def model_of(annotation: Any) -> type[BaseModel] | None:
    return next(
        (part for part in parts_of(annotation) if isinstance(part, type) and issubclass(part, BaseModel)),
        None,
    )


def item_of(annotation: Any) -> Any:
    return next((get_args(part)[0] for part in parts_of(annotation) if get_origin(part) is list), None)


def names_of(name: str, field: FieldInfo) -> list[str]:
    alias = field.validation_alias
    choices = getattr(alias, "choices", None)
    return [choice for choice in choices if isinstance(choice, str)] if choices else [name]


def field_of(model: type[BaseModel], step: str) -> FieldInfo | None:
    return next(
        (
            field
            for name, field in model.model_fields.items()
            if step == name or step in names_of(name, field)
        ),
        None,
    )


def stated_along(
    annotation: Any, place: Sequence[str | int]
) -> Iterator[tuple[int, type[BaseModel], FieldInfo]]:
    """The stated fields on the way to a place, each with its model and the steps to it, up to one that is not
    stated."""
    for depth, step in enumerate(place, 1):
        if isinstance(step, int):
            annotation = item_of(annotation) or annotation
            continue
        model = model_of(annotation)
        field = field_of(model, step) if model is not None else None
        if model is None or field is None:
            return
        yield depth, model, field
        annotation = field.annotation


def fields_along(
    operation: Operation | None, place: Sequence[str | int]
) -> list[tuple[type[BaseModel], FieldInfo]]:
    """The stated fields on the way to a place in an operation's data, each with its model; none where one of
    them is not stated."""
    if operation is None or operation.data is None or place[:1] != ("data",):
        return []
    resource = RESOURCES.get(operation.data.removesuffix("[]"))
    way = [(model, field) for _, model, field in stated_along(resource, place[1:])]
    return way if len(way) == sum(isinstance(step, str) for step in place[1:]) else []


def _stated(node: Node, data: Json) -> Iterator[tuple[str, bool, Json]]:
    """Each field that a requirement states, of each object in the data: the requirement, whether the field is
    required, and its value, which may be ABSENT."""
    if isinstance(data, list) and node.item is not None:
        for entry in data:
            yield from _stated(node.item, entry)
    for names, requirement, required, inner in node.fields if isinstance(data, dict) else ():
        value = _value_of(names, data)
        if requirement:
            yield requirement, required, value
        if value is not ABSENT and value is not None:
            yield from _stated(inner, value)


def shown_fields(node: Node, data: Json) -> Iterator[str]:
    """The requirement of each field that stands in the data, or may be left out."""
    rows = _stated(node, data)
    return (requirement for requirement, required, value in rows if value is not ABSENT or not required)


def collect_codes(node: Node, name: str, data: Json, entries: list[tuple[str, dict[str, Json]]]) -> None:
    """Collects the enumeration objects of exact data, those of a record in the order of its model."""
    if node.model is Enumeration:
        entries.append((name, data))
        return
    if node.item is not None:
        for entry in data:
            collect_codes(node.item, name, entry, entries)
        return
    for field, within in node.coded:
        inner = data.get(field)
        if inner is None:
            continue
        if within is None:
            entries.append((field, inner))
        else:
            collect_codes(within, field, inner, entries)


def extra_fields(node: Node, data: Json, path: str) -> Iterator[str]:
    if isinstance(data, list) and node.item is not None:
        for entry in data[:20]:
            yield from extra_fields(node.item, entry, f"{path}[]")
    if not isinstance(data, dict) or node.model is None:
        return
    yield from (f"{path}.{name}" for name in data if name not in node.names)
    for names, _, _, inner in node.fields:
        if (inner.model or inner.item) and names[0] in data:
            yield from extra_fields(inner, data[names[0]], f"{path}.{names[0]}")


def shows(form: str, node: Node, data: Json) -> bool:
    """Whether some nullable field is sent as null, or left out."""
    rows = _stated(node, data)
    if form == "null":
        return any(value is None for _, _, value in rows)
    return any(value is ABSENT and not required and name != "ENUM-004" for name, required, value in rows)


def _value_of(names: tuple[str, ...], data: dict[str, Json]) -> Json:
    """Value of a field under its first name, or else under an alias."""
    value = data.get(names[0], ABSENT)
    if value is ABSENT and len(names) > 1:
        value = next((data[name] for name in names if name in data), ABSENT)
    return value


def place_of(location: Sequence[str | int], data: Json) -> list[str | int]:
    """A validation error's location without what pydantic adds to it for unions."""
    place: list[str | int] = []
    for step in location:
        inside = dig(data, place)
        if isinstance(inside, dict if isinstance(step, str) else list):
            place.append(step)
    return place
