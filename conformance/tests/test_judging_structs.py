"""Structs that stand in for the models: whatever they take, the models take too."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from conformance.judging.shapes import Shape
from conformance.judging.structs import struct_of
from conformance.spec import OPERATIONS, Operation
from conformance.spec.endpoints import ROLES
from conformance.spec.resources import CountryCode, Email, Instant, Integer, Number, Text
from conformance.tests import traffic
from conformance.traffic.exchange import ABSENT, Json

SHOWN = [operation for operation in OPERATIONS if operation.data]
VALUES: tuple[Json, ...] = (
    None, ABSENT, "", "x", "2026-01-01T00:00:00Z", "a@b", "DE", 0, 1, 1.0, 1.5, 2**70, True, [], [None], {},
    {"code": "A", "value": 1, "label": "a"}, {"code": "A", "value": 1.0, "label": None},
)  # fmt: skip


def takes(shape: Any, value: Json) -> bool:
    try:
        msgspec.convert(value, shape)
    except msgspec.ValidationError:
        return False
    return True


def is_lawful(shape: Any, value: Json) -> bool:
    try:
        TypeAdapter(shape).validate_python(value)
    except ValidationError:
        return False
    return True


def filled(model: Any, dice: random.Random) -> Json:
    """Something of a model's fields, each with a value that may or may not suit it."""
    fields = getattr(model, "model_fields", {})
    made = {name: dice.choice(VALUES) for name in fields}
    return {name: value for name, value in made.items() if value is not ABSENT}


def test_every_resource_has_a_stand_in() -> None:
    shapes = {operation.key: Shape(operation) for operation in SHOWN}

    assert [key for key, shape in shapes.items() if shape.loose is None] == []
    assert {shape.annotation for shape in shapes.values() if shape.exact is None} <= {Any}


@pytest.mark.parametrize("operation", SHOWN, ids=lambda operation: operation.key)
def test_a_stand_in_takes_nothing_that_the_model_refuses(operation: Operation) -> None:
    shape: Shape = Shape(operation)
    dice = random.Random(operation.number)
    for _ in range(200):
        made = filled(shape.node.model or (shape.node.item and shape.node.item.model), dice)
        for value in (made, [made], dice.choice(VALUES)):
            data = {"data": value}
            if takes(shape.loose, data) or (shape.exact is not None and takes(shape.exact, data)):
                shape.adapter.validate_python(value)


@pytest.mark.parametrize("stated", [Text, Integer, Number, Instant, Email, CountryCode])
def test_a_plain_stand_in_takes_nothing_that_is_refused(stated: Any) -> None:
    values = [*VALUES, "a@b\n", "@b", "a@", "a@b@", "a@b@c", "DE\n", "D", "dé"]
    taken = [value for value in values if takes(struct_of(stated), value)]

    assert [value for value in taken if not is_lawful(stated, value)] == []


DATES = st.from_regex(
    r"\d{4}-?\d\d-?\d\d[Tt _]\d\d:?\d\d(:?\d\d([.,]\d{1,12})?)?([Zz]|[+-]\d\d(:?\d\d)?)?\n?"
)


@settings(deadline=None)
@given(st.one_of(DATES, st.datetimes().map(str), st.text(max_size=30)))
def test_a_time_that_is_taken_is_an_instant(text: str) -> None:
    if takes(struct_of(Instant), text):
        assert is_lawful(Instant, text)


def test_what_a_stand_in_refuses_is_asked_of_the_model() -> None:
    listing = ROLES
    whole = {"code": "OWNER", "value": 10010901.0, "label": "Owner"}
    assert traffic.contradicted_by(traffic.answer(listing, [traffic.role(roleType=whole)])) == set()
    assert not takes(struct_of(Integer), 1.0)
