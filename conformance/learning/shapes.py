"""The shape of JSON values: types, names and how many values showed them, and never a value."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from conformance.descriptions.operations import WITNESSES
from conformance.spec.operations import is_word
from conformance.traffic.exchange import ABSENT, Json
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
ITEMS, MEMBERS = "items", "additionalProperties"


@dataclass(eq=False)
class LearnedShape:
    """Types and names of the values at one place. ``inner``: the shape of the items of an array, and of the
    values of a map, which is an object whose names are ids."""

    witnesses: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    formats: Counter[str] = field(default_factory=Counter)
    fields: dict[str, LearnedShape] = field(default_factory=dict)
    inner: dict[str, LearnedShape] = field(default_factory=dict)

    def part(self, name: str) -> LearnedShape:
        """The shape of a field, empty at first; beyond MOST_FIELDS the shape of all others."""
        if name not in self.fields and len(self.fields) >= MOST_FIELDS:
            return self.inner.setdefault(MEMBERS, LearnedShape())
        return self.fields.setdefault(name, LearnedShape())

    def add(self, value: Json, depth: int = 0) -> None:
        """Takes a value; ABSENT is a witness that shows nothing."""
        self.witnesses += 1
        if value is ABSENT:
            return
        if is_redacted(value) or depth > DEEPEST:
            self.kinds["unknown"] += 1
            return
        self.kinds[KINDS.get(type(value), "unknown")] += 1
        if isinstance(value, dict):
            is_map = bool(value) and not any(map(is_word, value))
            for name, inner in value.items():
                shape = self.inner.setdefault(MEMBERS, LearnedShape()) if is_map else self.part(name)
                shape.add(inner, depth + 1)
        elif isinstance(value, list):
            for inner in value:
                self.inner.setdefault(ITEMS, LearnedShape()).add(inner, depth + 1)
        elif isinstance(value, str):
            self.formats[next((name for name, form in FORMATS.items() if form.fullmatch(value)), "")] += 1

    def merge(self, other: LearnedShape) -> None:
        self.witnesses += other.witnesses
        self.kinds += other.kinds
        self.formats += other.formats
        for own, further in ((self.fields, other.fields), (self.inner, other.inner)):
            for name, shape in further.items():
                own.setdefault(name, LearnedShape()).merge(shape)

    @property
    def outline(self) -> set[str]:
        """The names two levels deep: what tells the answers of two endpoints apart."""
        rows = ((name, shape.inner.get(ITEMS, shape).fields) for name, shape in self.fields.items())
        return {*self.fields, *(f"{name}.{below}" for name, fields in rows for below in fields)}

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
        objects = self.kinds["object"]
        required = [name for name, shape in self.fields.items() if shape.witnesses == objects]
        if self.fields:
            schema["properties"] = {name: shape.schema() for name, shape in self.fields.items()}
        if required:
            schema["required"] = required
        if len(required) == len(self.fields) and objects >= ALIKE_OBJECTS:
            schema[MEMBERS] = False
        return schema | {name: shape.schema() for name, shape in self.inner.items()}
