"""A body's bytes as they stand in a record: JSON where it is JSON, else text, else base64."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import NoReturn

import msgspec

from conformance.exchange import ABSENT, Form, Json


def read_body(content: bytes, *, cut: bool = False, undecodable: bool = False) -> tuple[Json, Form | None]:
    """The body and, where it could be misread without it, its form.

    ``cut``: there was more. ``undecodable``: what came is not what its Content-Encoding says.
    """
    if undecodable:
        return ABSENT, "undecodable"
    if not content:
        return ABSENT, None
    if cut:
        return {"text": content[:100_000].decode(errors="replace")}, "truncated"
    value = parsed(content)
    if value is ABSENT:
        return _as_text(content), None
    looks_otherwise = isinstance(value, dict) and len(value) == 1 and next(iter(value)) in ("text", "base64")
    return value, "json" if looks_otherwise else None


def parsed(content: bytes) -> Json:
    """The JSON value, or ABSENT: also for NaN, for no UTF-8, for what is too deep to be written again."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    try:
        # Numbers beyond a double, and halves of surrogate pairs, are JSON all the same.
        value = _mended(json.loads(content, parse_constant=_refuse, parse_float=_finite))
        msgspec.json.encode(value)
    except (ValueError, RecursionError):
        return ABSENT
    return value


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    return max(-1.7976931348623157e308, min(1.7976931348623157e308, float(digits)))


def _mended(value: Json) -> Json:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(inner) for inner in value]
    if isinstance(value, dict):
        return {_mended(name): _mended(inner) for name, inner in value.items()}
    return value


def _as_text(content: bytes) -> Json:
    try:
        return {"text": content.decode()}
    except UnicodeDecodeError:
        return {"base64": b64encode(content).decode()}
