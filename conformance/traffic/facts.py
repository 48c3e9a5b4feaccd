"""Facts: values derived from an exchange, a request or a response, each computed at most once for a record.

A fact is declared in the class of its record, and read as an attribute:

    class Request(Message):
        @fact
        def path(self) -> str: ...

or in any other module, for records of a class declared elsewhere, as a function:

    @called
    @data_fact
    def records(exchange: Exchange) -> tuple[Record, ...]: ...

``data_fact`` declares a fact that depends on nothing but the data, the code and the success of a response.
Two responses that differ in their time only share such facts, which ``copy_data_facts`` copies.

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
    """A derived value of a record, computed at its first use and without a lock.

    ``in_data``: the value depends on nothing but the data, the code and the success of a response.
    """

    def __init__(self, compute: Callable[[Record], Value], *, in_data: bool = False) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__
        self.name = f"{compute.__module__}.{compute.__qualname__}"
        if in_data:
            _DATA_FACTS.append(self)

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

    def stored(self, record: Record) -> Value | None:
        """The value where it is stored, else None. It is not computed."""
        return _values_of(record).get(self.name)

    def store(self, record: Record, value: Value) -> None:
        """Stores a value that the caller computed by a shorter way. It must equal what the fact computes."""
        _values_of(record)[self.name] = value


_DATA_FACTS: list[fact[Any, Any]] = []


def data_fact(compute: Callable[[Record], Value]) -> fact[Record, Value]:
    """Declares a fact that depends on nothing but the data, the code and the success of a response."""
    return fact(compute, in_data=True)


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


class Facts:
    """Some stored facts of one record, to be copied to others that share them."""

    __slots__ = ("_values",)

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def copy_to(self, target: object) -> None:
        _values_of(target).update(self._values)


def data_facts(source: object) -> Facts:
    """The stored facts of an exchange that a repeated one shares, whose response has the same data."""
    values = _values_of(source)
    return Facts({each.name: values[each.name] for each in _DATA_FACTS if each.name in values})


def copy_data_facts(source: object, target: object) -> None:
    """Copies the stored facts of an exchange to a repeated one, whose response has the same data."""
    data_facts(source).copy_to(target)


def copy_request_facts(source: object, target: object) -> None:
    """Copies all stored facts of a request to a repeated one, which differs in values of its headers only."""
    _values_of(target).update(_values_of(source))
