"""What kind of number a JSON value is: in Python ``True`` is an integer as well, in JSON it is none."""

from __future__ import annotations

from typing import TypeGuard

from conformance.traffic.exchange import Json


def is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_integer(value: Json) -> bool:
    """Whether a number has no fraction; ``1.0`` has none."""
    return type(value) is int or (isinstance(value, float) and value.is_integer())
