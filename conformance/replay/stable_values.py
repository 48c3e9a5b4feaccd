"""Decides whether a difference's values stay equal in every replay of two builds, as a row requires."""

from __future__ import annotations

import re

from conformance.judging.fields import fields_along
from conformance.report.model.run import Regression
from conformance.spec import BY_KEY
from conformance.spec.resources import Constant, Enumeration
from conformance.traffic.exchange import Json, steps

CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
"""What a code of an error or of an enumeration looks like."""
LARGEST = 2**31
SYMBOL, NUMBER = "code", "value"
"""The fields of an enumeration or a constant that do not change."""


def has_stable_values(difference: Regression) -> bool:
    """Whether both values are a status, a code, a boolean, or the symbol or number of an enumeration."""
    values = difference.recorded, difference.replayed
    if difference.kind in ("status", "code"):
        return all(map(_is_number if difference.kind == "status" else _is_code, values))
    if difference.kind != "value":
        return False
    if all(isinstance(value, bool) for value in values):
        return True
    name = _name_in_enumeration(difference.endpoint, difference.path)
    if name == SYMBOL:
        return all(map(_is_code, values))
    return name == NUMBER and all(map(_is_number, values))


def _is_code(value: Json) -> bool:
    return isinstance(value, str) and CODE.fullmatch(value) is not None


def _is_number(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST


def _name_in_enumeration(endpoint: str, path: str) -> str:
    """The last name of a path that ends within an enumeration or a constant; empty of any other."""
    place = steps(path)
    way = fields_along(BY_KEY.get(endpoint), place)
    is_coded = bool(way) and issubclass(way[-1][0], Enumeration | Constant)
    return str(place[-1]) if is_coded else ""
