"""Expected and seen values that are objects of our own, in words: ``{"one of": [1, 2]}`` is "1 or 2"."""

from __future__ import annotations

from collections.abc import Callable

from conformance.traffic.exchange import Json

Literal = Callable[[Json], str]
"""A value as a report writes it."""

PATTERNS = {
    "one of": ("", " or ", ""),
    "none of": ("neither ", " nor ", ""),
    "codes": ("the codes ", ", ", ""),
    "missing": ("no ", ", no ", ""),
    "twice": ("", ", ", " twice"),
    "others": ("", ", ", " as well"),
}
"""By the only name of an object: what stands before, between and behind its items."""

OF_A_BODY = {"length", "content-type"}

OF_AN_ANSWER = frozenset({"status", "success", "code", "body"})


def in_words(value: Json, literal: Literal) -> str | None:
    """Words for an object of the suite; None for other values and objects from the target."""
    if not isinstance(value, dict):
        return None
    if len(value) == 1:
        ((name, items),) = value.items()
        return _listed(name, items, literal)
    if value.keys() == OF_A_BODY:
        return _body(value)
    return _answer(value, literal) if "status" in value and value.keys() <= OF_AN_ANSWER else None


def expected_in_words(expected: Json, literal: Literal) -> str | None:
    """As ``in_words``, and a text of several words as it is: it describes what was expected."""
    is_description = isinstance(expected, str) and " " in expected.strip()
    return str(expected) if is_description else in_words(expected, literal)


def _listed(name: str, items: Json, literal: Literal) -> str | None:
    if name not in PATTERNS or not isinstance(items, list) or not items:
        return None
    before, between, behind = PATTERNS[name]
    return before + between.join(map(literal, items)) + behind


def _body(value: dict[str, Json]) -> str:
    """``a body of 4 bytes that is no JSON object (text/plain)``."""
    kind = "without a content type" if value["content-type"] is None else value["content-type"]
    return f"a body of {value['length']:,} bytes that is no JSON object ({kind})"


def _answer(value: dict[str, Json], literal: Literal) -> str:
    """``status 404 with code "RESOURCE.NOT_FOUND"``."""
    status = _alternatives(value["status"], literal)
    if "body" in value:
        return f"status {status} with {value['body']}"
    code = _alternatives(value["code"], literal) if value.get("code") is not None else ""
    parts = ["success"] * (value.get("success") is True) + [f"code {code}"] * bool(code)
    return f"status {status}" + (f" with {' and '.join(parts)}" if parts else " without a code")


def _alternatives(value: Json, literal: Literal) -> str:
    """The value, or its permitted alternatives; an empty list means any value."""
    if isinstance(value, list):
        return " or ".join(map(literal, value)) or "any"
    return in_words(value, literal) or literal(value)
