"""Exchanges with one value made another, drawn by dice: what a judge must see however it judges."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator

from msgspec.structs import replace

from conformance.traffic.exchange import ABSENT, Exchange, Json

SPOILT: tuple[Json, ...] = (
    None,
    ABSENT,
    "",
    "x",
    0,
    -1,
    1.5,
    True,
    [],
    {},
    "1999-01-01T00:00:00Z",
    {"code": "X", "value": 1},
)


def spoilt(exchange: Exchange, dice: random.Random) -> Exchange:
    """The exchange with one value of its envelope or of the request's body made another."""
    assert exchange.response is not None
    request, response = exchange.request, exchange.response
    if isinstance(request.body, dict) and request.body and dice.random() < 0.2:
        return replace(exchange, request=replace(request, body=_spoilt(request.body, dice)))
    return replace(exchange, response=replace(response, body=_spoilt(response.body, dice)))


def _spoilt(body: Json, dice: random.Random) -> Json:
    changed = copy.deepcopy(body)
    places = list(_places(changed))
    if places:
        holder, key = dice.choice(places)
        value = dice.choice(SPOILT)
        if value is ABSENT:
            del holder[key]
        else:
            holder[key] = value
    return changed


def _places(value: Json) -> Iterator[tuple[Json, Json]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield value, key
        yield from _places(inner)
