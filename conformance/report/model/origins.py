"""Where the secrets of an exchange came from, and how the suite altered them, by their placeholders."""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec

from conformance.traffic.exchange import Exchange
from conformance.traffic.values import REDACTED

Origins = Mapping[str, str]
"""By placeholder (``[token-3]``), the origin of its secret: ``token-1, another signature``."""


def origins_in(text: str, origins: Origins) -> dict[str, str]:
    """Origins of a text's placeholders, including the secrets that altered secrets came from."""
    waiting = list(dict.fromkeys(REDACTED.findall(text)))
    for placeholder in waiting:
        source = f"[{origins.get(placeholder, '').partition(',')[0]}]"
        waiting += [source] if source in origins and source not in waiting else []
    return {placeholder: origins[placeholder] for placeholder in waiting if placeholder in origins}


def with_origin(placeholder: str, origins: Origins) -> str:
    """``[token-3: token-1, another signature]``; the placeholder itself where its origin is unknown."""
    origin = origins.get(placeholder)
    return placeholder if origin is None else f"{placeholder[:-1]}: {origin}]"


def explained(exchange: Exchange, origins: Origins) -> Exchange:
    """The exchange, in which each placeholder says where its secret came from."""
    text = msgspec.json.encode(exchange).decode()
    text = REDACTED.sub(lambda found: json.dumps(with_origin(found[0], origins))[1:-1], text)
    return msgspec.json.decode(text, type=Exchange)
