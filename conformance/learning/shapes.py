"""The shape of JSON values: types, names and how many values showed them, and never a value."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from conformance.descriptions.operations import WITNESSES
from conformance.spec.operations import is_word
from conformance.traffic.exchange import Json
from conformance.traffic.values import is_redacted

DEEPEST = 30
MOST_FIELDS = 200
"""Names of an object that are told apart; one with more of them is a map."""

WHOLE_NUMBERS = 50
"""Witnesses that are all whole numbers, from which on a field is an integer."""

ALIKE_OBJECTS = 10
"""Witnesses that have the same names, from which on a further name differs."""

FORMATS = {
    "date-time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"),
    "date": re.compile(r"\d{4}-\d\d-\d\d"),
    "uuid": re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
}
KINDS: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


@dataclass(eq=False)
class LearnedShape:
    """Types and names of the values at one place of answers. ``member`` is the shape of the values of a map:
    of an object whose names are ids."""

    witnesses: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    fields: dict[str, LearnedShape] = field(default_factory=dict)
    member: LearnedShape | None = None
    item: LearnedShape | None = None

    def add(self, value: Json, depth: int = 0) -> None:
        self.witnesses += 1
        if is_redacted(value) or depth > DEEPEST:
            self.kinds["unknown"] += 1
            return
        self.kinds[KINDS.get(type(value), "unknown")] += 1
        if isinstance(value, dict):
            self._add_fields(value, depth)
        elif isinstance(value, list):
            self.item = self.item or LearnedShape()
            for inner in value:
                self.item.add(inner, depth + 1)
        elif isinstance(value, str):
            self.formats[next((name for name, form in FORMATS.items() if form.fullmatch(value)), "")] += 1

    def _add_fields(self, value: dict[str, Json], depth: int) -> None:
        is_map = bool(value) and not any(map(is_word, value))
        for name, inner in value.items():
            if is_map or (name not in self.fields and len(self.fields) >= MOST_FIELDS):
                self.member = self.member or LearnedShape()
                self.member.add(inner, depth + 1)
            else:
                self.fields.setdefault(name, LearnedShape()).add(inner, depth + 1)

    def merge(self, other: LearnedShape) -> None:
        self.witnesses += other.witnesses
        self.kinds += other.kinds
        self.formats += other.formats
        for name, shape in other.fields.items():
            self.fields.setdefault(name, LearnedShape()).merge(shape)
        for inner in ("member", "item"):
            shape = getattr(other, inner)
            if shape is not None:
                own = getattr(self, inner) or LearnedShape()
                own.merge(shape)
                setattr(self, inner, own)

    @property
    def outline(self) -> set[str]:
        """The names two levels deep: what tells the answers of two endpoints apart."""
        inner = (f"{name}.{below}" for name, shape in self.fields.items() for below in shape.names)
        return {*self.fields, *inner}

    @property
    def names(self) -> set[str]:
        return set(self.item.fields if self.item is not None else self.fields)

    def schema(self) -> dict[str, Json]:
        """JSON Schema 2020-12, as OpenAPI 3.1 has it."""
        schema: dict[str, Json] = {WITNESSES: self.witnesses}
        if "unknown" in self.kinds or self.kinds.keys() <= {"null"}:
            return schema
        kinds = dict.fromkeys(self.kinds)
        if "number" in kinds or self.kinds["integer"] < WHOLE_NUMBERS:
            kinds = dict.fromkeys("number" if kind == "integer" else kind for kind in kinds)
        schema["type"] = next(iter(kinds)) if len(kinds) == 1 else sorted(kinds)
        formats = [name for name in self.formats if self.formats[name] == self.kinds["string"]]
        if formats and formats[0]:
            schema["format"] = formats[0]
        if "array" in kinds and self.item is not None:
            schema["items"] = self.item.schema()
        return schema | (self._of_object() if "object" in kinds else {})

    def _of_object(self) -> dict[str, Json]:
        objects = self.kinds["object"]
        required = [name for name, shape in self.fields.items() if shape.witnesses == objects]
        parts: dict[str, Json] = {}
        if self.fields:
            parts["properties"] = {name: shape.schema() for name, shape in self.fields.items()}
        if required:
            parts["required"] = required
        if self.member is not None:
            parts["additionalProperties"] = self.member.schema()
        elif len(required) == len(self.fields) and objects >= ALIKE_OBJECTS:
            parts["additionalProperties"] = False
        return parts
