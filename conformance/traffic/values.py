"""What a JSON value is: a number (in Python ``True`` is one as well), or redacted; and the texts in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
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


A_NUMBER = "a number"


def hidden_number(placeholder: str) -> Json:
    """What stands in a recorded answer in place of a secret that is a number: no text, as it was none."""
    return {placeholder: A_NUMBER}


def is_hidden_number(value: Json) -> bool:
    return isinstance(value, dict) and list(value.values()) == [A_NUMBER] and all(map(is_redacted, value))


def placed_texts(value: Json, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text in a JSON value, behind its place."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from placed_texts(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from placed_texts(inner, f"{path}[{index}]")
