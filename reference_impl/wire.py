"""JSON as octets, both ways; strict, so that nothing malformed gets past this door."""

from typing import Any

import msgspec


class Malformed(ValueError):
    """Octets that are not JSON, or that nest deeper than anyone means."""


def decoded(octets: bytes) -> Any:
    """Raises Malformed: also on lone surrogates, NaN, numbers out of range and bad UTF-8."""
    try:
        return msgspec.json.decode(octets)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise Malformed from None


def encoded(data: Any) -> bytes:
    return msgspec.json.encode(data)
