"""What a JSON value is: a number (in Python ``True`` is one as well, in JSON it is none), or redacted."""

from __future__ import annotations

import re
from typing import TypeGuard

from conformance.traffic.exchange import Json


def is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_integer(value: Json) -> bool:
    """Whether a number has no fraction; ``1.0`` has none."""
    return type(value) is int or (isinstance(value, float) and value.is_integer())


REDACTED = re.compile(r"\[[a-z-]+-\d+\]")
"""What stands in a recording in place of a secret: equal for equal secrets."""


def is_redacted(value: Json) -> bool:
    """Whether a recording holds a placeholder in place of the value, so that nothing shows of its form."""
    return isinstance(value, str) and REDACTED.fullmatch(value) is not None
