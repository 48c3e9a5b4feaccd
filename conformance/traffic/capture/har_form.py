"""HAR 1.2 as tools write it: the parts that a capture needs, every one of them optional or of two types."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Struct, field

from conformance.traffic.exchange import Json, Plain

Number: TypeAlias = int | float | None
"""Numbers are null or -1 where the source does not know them."""


Unread: TypeAlias = msgspec.Raw | msgspec.UnsetType
"""A part that is rarely looked into: it stays as its bytes until then."""


class Pair(Struct, gc=False):
    """A header, or a field of a query."""

    name: str = ""
    value: str = ""


class Parameter(Pair, gc=False):
    """A field of a form."""

    fileName: str | None = None


class PostData(Struct, gc=False):
    mimeType: str | None = None
    text: str | None = None
    params: list[Parameter] | None = None
    encoding: str | None = None
    comment: str | None = None
    file: str | None = field(name="_file", default=None)


class Content(Struct, gc=False):
    size: Number = None
    text: str | None = None
    encoding: str | None = None
    comment: str | None = None
    file: str | None = field(name="_file", default=None)
    form: str | None = field(name="_form", default=None)
    kept: Json = field(name="_kept", default=None)


class HarRequest(Struct, gc=False):
    method: str = "GET"
    url: str = ""
    headers: list[Pair] | None = None
    queryString: list[Pair] | None = None
    postData: PostData | None = None
    bodySize: Number = None
    form: str | None = field(name="_form", default=None)
    kept: Json = field(name="_kept", default=None)
    lacks: tuple[str, ...] = field(name="_lacks", default=())


class HarResponse(Struct, gc=False):
    status: Number = None
    headers: list[Pair] | None = None
    content: Content | None = None
    bodySize: Number = None
    error: str | None = field(name="_error", default=None)
    lacks: tuple[str, ...] = field(name="_lacks", default=())
    viaServiceWorker: bool | None = field(name="_fetchedViaServiceWorker", default=None)


class Entry(Struct, gc=False):
    startedDateTime: str | None = None
    time: Number = None
    timings: Unread = UNSET
    request: HarRequest | None = None
    response: HarResponse | None = None
    kind: str | None = field(name="_resourceType", default=None)
    fromCache: str | bool | None = field(name="_fromCache", default=None)
    fetchType: str | None = field(name="_fetchType", default=None)
    viaServiceWorker: bool | None = field(name="_fetchedViaServiceWorker", default=None)
    webSocketMessages: Unread = field(name="_webSocketMessages", default=UNSET)
    error: str | None = field(name="_error", default=None)
    client: str = field(name="_client", default="")
    plain: Plain | None = field(name="_plain", default=None)
    hidden: dict[str, Json] | None = field(name="_hidden", default=None)


class Started(Struct, gc=False):
    startedDateTime: str | None = None


def mended(entry: Any) -> Any:
    """An entry of a tool that takes liberties, in the types of the standard: headers as pairs or as one
    object, numbers and statuses as strings, a string where an object belongs, a body as its JSON value."""
    if not isinstance(entry, dict):
        raise ValueError("it is no JSON object")
    for name in ("request", "response"):
        entry[name] = _message(entry.get(name))
    entry["time"] = _number(entry.get("time"))
    entry["timings"] = msgspec.Raw(msgspec.json.encode(entry.get("timings")))
    return entry


def _message(message: Any) -> Any:
    if not isinstance(message, dict):
        return None
    message["headers"] = _pairs(message.get("headers"))
    message["queryString"] = _pairs(message.get("queryString"))
    for number in ("status", "bodySize"):
        message[number] = _number(message.get(number))
    if isinstance(message.get("postData"), str):
        message["postData"] = {"text": message["postData"]}
    for name in ("postData", "content"):
        holder = message.get(name)
        if isinstance(holder, dict):
            holder["text"] = _text(holder.get("text"))
            holder["params"] = _pairs(holder.get("params"))
            holder["size"] = _number(holder.get("size"))
    return message


def _text(body: Any) -> str | None:
    """A body as text; a JSON value in its place is written out."""
    return body if body is None or isinstance(body, str) else json.dumps(body, ensure_ascii=False)


def _pairs(value: Any) -> list[dict[str, str]] | None:
    if isinstance(value, dict):
        value = list(value.items())
    if not isinstance(value, list):
        return None
    return [_pair(item) for item in value if isinstance(item, (dict, list, tuple))]


def _pair(item: Any) -> dict[str, Any]:
    if isinstance(item, dict):
        value = item.get("value")
        return {
            "name": str(item.get("name", "")),
            "value": "" if value is None else str(value),
            "fileName": item.get("fileName"),
        }
    name, value = (*item, "", "")[:2]
    return {"name": str(name), "value": str(value), "fileName": None}


def _number(value: Any) -> int | float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return value
    try:
        return int(value)
    except (TypeError, ValueError):
        return None
