"""Field tables: whether ``data`` is what it is stated to be (chapter "Resources and their fields")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec
from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from conformance.judging.structs import Degree, quick
from conformance.spec import Operation
from conformance.spec.resources import RESOURCES, Enumeration
from conformance.spec.tables import CODED_FIELDS
from conformance.traffic.exchange import ABSENT, Exchange, Json, dig
from conformance.verdicts.findings import Contradiction

EXTRAS_KEPT = 200
CLOSELY = 200
"""So many first answers are gone through field by field, and then one in sixteen."""

INEXACT_IN_A_ROW = 16
"""After so many answers with more than is stated, no other is taken for exact."""


class Shape:
    """The model of one operation's ``data``, and what of it has been seen to hold.

    Memory is bounded by the model, not by the traffic.
    """

    def __init__(self, operation: Operation) -> None:
        resource = RESOURCES[(operation.data or "").removesuffix("[]")]
        self.root = operation.requirement
        self.annotation: Any = list[resource] if (operation.data or "").endswith("[]") else resource  # type: ignore[valid-type]
        self.node = _node(self.annotation)
        self.quick = _quick(self.annotation)
        self.holds_codes = self.node.holds_codes
        self.exact = _quick(self.annotation, "exact")
        self.open = {self.root, *requirements_of(self.annotation)}
        self.extras: set[str] = set()
        self._nulls: set[str] = set() if self.node.may_lack_fields else {"left out"}
        self.answers = 0
        self._inexact = 0

    @cached_property
    def adapter(self) -> TypeAdapter[Any]:
        return TypeAdapter(self.annotation)

    @cached_property
    def whole(self) -> Any:
        return _quick(self.annotation, "whole")

    def contradictions(self, exchange: Exchange) -> list[tuple[str, Contradiction]]:
        """Each place that is not as stated, with the requirement that states it."""
        data = exchange.data
        if self.annotation is Any:
            return [] if data is not None else [(self.root, Contradiction(exchange, "data", "a value", None))]
        if _takes(self.quick, data):
            return []
        try:
            self.adapter.validate_python(data)
        except ValidationError as error:
            found: dict[str, tuple[str, Contradiction]] = {}
            for detail in error.errors(include_url=False, include_context=False):
                place = _place(detail["loc"], data)
                requirement, at = self._requirement(place)
                path = "data" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at)
                found.setdefault(
                    path, (requirement, Contradiction(exchange, path, _words(detail["msg"]), dig(data, at)))
                )
            return list(found.values())
        return []

    def is_exact_in(self, exchange: Exchange) -> bool:
        """Whether the data surely holds nothing but what is stated; False also where that is not certain.

        Then its enumeration objects are found where they are stated, and need not be looked for.
        """
        if self._inexact == INEXACT_IN_A_ROW or self.exact is None:
            return False
        data = exchange.data
        try:
            msgspec.convert(data, self.exact)
        except msgspec.ValidationError:
            self._inexact += 1
            return False
        self._inexact = 0
        found: list[tuple[str, dict[str, Json]]] = []
        if self.holds_codes:
            _codes(self.node, "", data, found)
        exchange.__dict__["coded"] = found
        return True

    def newly_satisfied(self, exchange: Exchange, contradicted: set[str]) -> Iterator[str]:
        """The requirements that this answer is the first to satisfy."""
        if not self.open:
            return
        seen = {self.root} | {requirement for requirement, value in _fields(self.node, exchange.data)}
        for requirement in sorted((seen & self.open) - contradicted):
            self.open.discard(requirement)
            yield requirement

    def new_extras(self, exchange: Exchange) -> list[str]:
        """Fields that the specification does not show, each once, without indexes."""
        if len(self.extras) >= EXTRAS_KEPT or self.is_exact_in(exchange):
            return []
        new = sorted(set(_extras(self.node, exchange.data, "data")) - self.extras)
        self.extras.update(new)
        return new

    def null_fields(self, exchange: Exchange) -> list[str]:
        """Whether nullable fields are sent as null or left out; each form once."""
        data, new = exchange.data, []
        if "left out" not in self._nulls and not _takes(self.whole, data):
            new = ["left out"] if _shows("left out", self.node, data) else []
        if "null" not in self._nulls and b"null" in msgspec.json.encode(data):
            new += ["null"] if _shows("null", self.node, data) else []
        self._nulls.update(new)
        return new

    def _requirement(self, place: Sequence[str | int]) -> tuple[str, tuple[str | int, ...]]:
        """The deepest field on the way to a place that a requirement states, and the way to it."""
        found: str = self.root
        at: tuple[str | int, ...] = ()
        annotation: Any = self.annotation
        for depth, step in enumerate(place):
            model = _model(annotation)
            if isinstance(step, int):
                annotation = _item(annotation)
                continue
            field = _field(model, step) if model else None
            if field is None:
                break
            found, at = _id(field) or found, tuple(place[: depth + 1])
            annotation = field.annotation
        return found, at


def _quick(annotation: Any, degree: Degree = "loose") -> Any:
    """A stand-in of the model; None where there is none, or what it takes would say nothing."""
    if annotation is Any and degree != "loose":
        return None
    with suppress(TypeError):
        return quick(annotation, degree)
    return None


def _takes(stand_in: Any, data: Json) -> bool:
    """Whether a stand-in takes some data; None takes nothing."""
    try:
        msgspec.convert(data, stand_in)
    except msgspec.ValidationError:
        return False
    return stand_in is not None


def shape_of(operation: Operation) -> Shape:
    """A fresh shape of an operation whose data is shown."""
    return Shape(operation)


def requirements_of(annotation: Any) -> set[str]:
    """Every requirement that a model's fields state, those of nested models included."""
    model = _model(annotation)
    if model is None:
        item = _item(annotation)
        return requirements_of(item) if item is not None else set()
    return {
        requirement
        for field in model.model_fields.values()
        for requirement in ({_id(field)} | requirements_of(field.annotation))
        if requirement
    }


def _id(field: FieldInfo) -> str | None:
    extra = field.json_schema_extra
    found = extra.get("requirement") if isinstance(extra, dict) else None
    return found if isinstance(found, str) else None


@dataclass(frozen=True)
class Node:
    """A model, an array of something, or neither, ready to be walked."""

    model: type[BaseModel] | None = None
    fields: tuple[tuple[tuple[str, ...], str | None, bool, Node], ...] = ()
    """Of each field its names, its requirement, whether it is required, and what it holds."""
    item: Node | None = None

    @cached_property
    def known(self) -> frozenset[str]:
        return frozenset(name for names, *_ in self.fields for name in names)

    @cached_property
    def coded(self) -> dict[str, Node]:
        """The fields that are coded, or in which coded ones stand."""
        return {
            name: inner
            for names, _, _, inner in self.fields
            for name in names
            if inner.holds_codes
            or (name in CODED_FIELDS and Enumeration in (inner.model, inner.item and inner.item.model))
        }

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


def _node(annotation: Any) -> Node:
    model, item = _model(annotation), _item(annotation)
    if model is not None:
        fields = (
            (
                tuple(dict.fromkeys([*_names(name, field), name])),
                _id(field),
                field.is_required(),
                _node(field.annotation),
            )
            for name, field in model.model_fields.items()
        )
        return Node(model, tuple(fields))
    return Node(item=_node(item)) if item is not None else Node()


def _parts(annotation: Any) -> list[Any]:
    if get_origin(annotation) is Annotated:
        return _parts(get_args(annotation)[0])
    if get_origin(annotation) in (Union, UnionType):
        return [part for choice in get_args(annotation) for part in _parts(choice)]
    return [annotation]


def _model(annotation: Any) -> type[BaseModel] | None:
    return next(
        (part for part in _parts(annotation) if isinstance(part, type) and issubclass(part, BaseModel)), None
    )


def _item(annotation: Any) -> Any:
    return next((get_args(part)[0] for part in _parts(annotation) if get_origin(part) is list), None)


def _names(name: str, field: FieldInfo) -> list[str]:
    alias = field.validation_alias
    choices = getattr(alias, "choices", None)
    return [choice for choice in choices if isinstance(choice, str)] if choices else [name]


def _field(model: type[BaseModel], step: str) -> FieldInfo | None:
    return next(
        (field for name, field in model.model_fields.items() if step == name or step in _names(name, field)),
        None,
    )


def _fields(node: Node, data: Json) -> Iterator[tuple[str, Json]]:
    """Each field that stands in the data, or may be left out, with the requirement that states it."""
    if isinstance(data, list) and node.item is not None:
        for entry in data:
            yield from _fields(node.item, entry)
    if not isinstance(data, dict):
        return
    for names, requirement, required, inner in node.fields:
        value = data.get(names[0], ABSENT)
        if value is ABSENT and len(names) > 1:
            value = next((data[name] for name in names if name in data), ABSENT)
        if requirement and (value is not ABSENT or not required):
            yield requirement, value
        if value is not ABSENT and value is not None:
            yield from _fields(inner, value)


def _codes(node: Node, name: str, data: Json, found: list[tuple[str, dict[str, Json]]]) -> None:
    """Collects the enumeration objects of exact data, in their order."""
    if node.model is Enumeration:
        found.append((name, data))
        return
    if node.item is not None:
        for entry in data:
            _codes(node.item, name, entry, found)
        return
    coded = node.coded
    for field in data:
        if field in coded and (inner := data[field]) is not None:
            if type(inner) is dict and coded[field].model is Enumeration:
                found.append((field, inner))
            else:
                _codes(coded[field], field, inner, found)


def _extras(node: Node, data: Json, path: str) -> Iterator[str]:
    if isinstance(data, list) and node.item is not None:
        for entry in data[:20]:
            yield from _extras(node.item, entry, f"{path}[]")
    if not isinstance(data, dict) or node.model is None:
        return
    yield from (f"{path}.{name}" for name in data if name not in node.known)
    for names, _, _, inner in node.fields:
        if (inner.model or inner.item) and names[0] in data:
            yield from _extras(inner, data[names[0]], f"{path}.{names[0]}")


def _shows(form: str, node: Node, data: Json) -> bool:
    """Whether some nullable field is sent as null, or left out."""
    if isinstance(data, list):
        return node.item is not None and any(_shows(form, node.item, entry) for entry in data)
    if not isinstance(data, dict):
        return False
    for names, requirement, required, inner in node.fields:
        value = data.get(names[0], ABSENT)
        if value is ABSENT and len(names) > 1:
            value = next((data[name] for name in names if name in data), ABSENT)
        if value is None:
            if form == "null" and requirement:
                return True
        elif value is ABSENT:
            if form == "left out" and requirement and not required and requirement != "ENUM-004":
                return True
        elif (inner.fields or inner.item) and _shows(form, inner, value):
            return True
    return False


def _place(location: Sequence[str | int], data: Json) -> list[str | int]:
    """A validation error's location without what pydantic adds to it for unions."""
    place: list[str | int] = []
    for step in location:
        inside = dig(data, place)
        if isinstance(inside, dict if isinstance(step, str) else list):
            place.append(step)
    return place


def _words(message: str) -> str:
    text = message.removeprefix("Value error, ").removeprefix("Input should be ")
    return {"Field required": "the field to be present"}.get(text, text)
