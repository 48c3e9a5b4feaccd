"""The models as msgspec structs: whatever a struct takes is of the stated shape, and it decides much faster.

They take less than the models: of what they refuse (a whole number written as a fraction, a time in the basic
format, the other of two names, a country in mixed case) nothing follows. Exact ones take no further fields
either, and no arrays and objects where anything may stand: what they take has enumeration objects only where
the models have them. Whole ones are exact, and take nothing that lacks a field; but a description may be left
out.
"""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from itertools import product
from string import ascii_lowercase, ascii_uppercase
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta
from pydantic import BaseModel

from conformance.spec.resources import (
    Boolean,
    CountryCode,
    Email,
    Instant,
    InstantOrDay,
    Integer,
    Number,
    Text,
)

Degree = Literal["loose", "exact", "whole"]

Scalar = str | int | float | bool | None


COUNTRIES = tuple(
    first + second
    for letters in (ascii_uppercase, ascii_lowercase)
    for first, second in product(letters, repeat=2)
)

PLAIN: tuple[tuple[Any, Any], ...] = (
    (NoneType, None),
    (Text, str),
    (Integer, int),
    (Number, float),
    (Boolean, bool),
    (Instant, datetime),
    (InstantOrDay, datetime),
    (Email, Annotated[str, Meta(pattern=r"\A[^@]+@[^@]+\Z")]),
    (CountryCode, Literal[COUNTRIES]),
)


def struct_of(annotation: Any, degree: Degree = "loose") -> Any:
    """The type for ``msgspec.convert`` that stands for an annotation of the models.

    TypeError: there is none; what may be held against the model has to be asked of the model.
    """
    if annotation is Any:
        return Any if degree == "loose" else Scalar
    plain = next((stand_in for stated, stand_in in PLAIN if annotation == stated), None)
    if plain is not None or annotation is NoneType:
        return plain
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin in (Union, UnionType):
        return Union[tuple(struct_of(part, degree) for part in parts)]  # noqa: UP007 - of as many as there are
    if origin is list:
        return list[struct_of(parts[0], degree)]  # type: ignore[misc]
    if origin is dict and parts == (str, Any):
        return dict[str, struct_of(Any, degree)]  # type: ignore[misc]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return _struct(annotation, degree)
    raise TypeError(f"{annotation} has no struct")


@lru_cache(maxsize=256)
def _struct(model: type[BaseModel], degree: Degree) -> type[msgspec.Struct]:
    hints = _hints(model)
    stand_ins = {name: struct_of(hints[name], degree) for name in model.model_fields}
    fields = [
        (name, stand_ins[name])
        if field.is_required() or (degree == "whole" and name != "description")
        else (name, stand_ins[name], field.default)
        for name, field in model.model_fields.items()
    ]
    return msgspec.defstruct(
        model.__name__, fields, kw_only=True, gc=False, forbid_unknown_fields=degree != "loose"
    )


@lru_cache(maxsize=256)
def _hints(model: type[BaseModel]) -> dict[str, Any]:
    """As annotated: what pydantic keeps of it lacks the metadata."""
    return get_type_hints(model, include_extras=True)
