"""Facts: values derived from an exchange, a request or a response, each computed at most once for a record.

A fact is declared in the class of its record, and read as an attribute:

    class Request(Message):
        @fact
        def path(self) -> str: ...

or in any other module, for records of a class declared elsewhere, as a function:

    @called
    @fact
    def records(exchange: Exchange) -> tuple[Record, ...]: ...

Facts are no fields: they are neither compared nor encoded. This module is the only one that knows where they
are stored.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from operator import attrgetter
from typing import Any, Generic, TypeVar, overload

Record = TypeVar("Record")
Value = TypeVar("Value")

_values_of: Callable[[Any], dict[str, Any]] = attrgetter("__dict__")
"""The stored facts of a record, by their names."""


class fact(Generic[Record, Value]):
    """A derived value of a record, computed at its first use and without a lock."""

    def __init__(self, compute: Callable[[Record], Value]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__
        self.name = f"{compute.__module__}.{compute.__qualname__}"

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name  # so that an attribute is found without a call once it is stored

    @overload
    def __get__(self, record: None, owner: type) -> fact[Record, Value]: ...

    @overload
    def __get__(self, record: Record, owner: type) -> Value: ...

    def __get__(self, record: Record | None, owner: type) -> fact[Record, Value] | Value:
        if record is None:
            return self
        value = record.__dict__[self.name] = self.compute(record)
        return value

    def store(self, record: Record, value: Value) -> None:
        """Stores a value that the caller computed by a shorter way. It must equal what the fact computes."""
        _values_of(record)[self.name] = value


def called(declared: fact[Record, Value]) -> Callable[[Record], Value]:
    """A fact as a function: its value, computed where it is not stored."""
    name, compute = declared.name, declared.compute

    @wraps(compute)
    def value_of(record: Record) -> Value:
        values: dict[str, Value] = _values_of(record)
        if name in values:
            return values[name]
        value = values[name] = compute(record)
        return value

    return value_of
