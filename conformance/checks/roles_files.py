"""Roles and file records, as far as the wire shows them (chapters "Roles", "Files")."""

from __future__ import annotations

import re
from collections.abc import Iterator

from conformance.checks.registry import answers, check, reading, successes
from conformance.spec.endpoints import FILE, ROLE_PERMISSIONS
from conformance.traffic.exchange import Exchange, Json
from conformance.traffic.values import is_integer
from conformance.verdicts.comparisons import holds, refused_or_silent
from conformance.verdicts.findings import Comparison

MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+\s*(;.*)?", re.ASCII | re.DOTALL)
"""A type, a subtype, and what parameters there may be (RFC 9110, section 8.3.1)."""


@reading("role-permissions", on=successes(ROLE_PERMISSIONS))
def items_of_permissions(exchange: Exchange) -> Iterator[Json]:
    if not isinstance(exchange.data, list):
        return
    if not exchange.data:
        yield "empty"
        return
    first = exchange.data[0]
    yield sorted(first) if isinstance(first, dict) else type(first).__name__


@check("FILE-026", on=successes(FILE))
def a_file_has_no_negative_size(exchange: Exchange) -> Iterator[Comparison]:
    if is_integer(exchange.at("data.fileSize")):
        yield holds(exchange, "data.fileSize", exchange.at("data.fileSize") >= 0, "0 or more")


@check("FILE-027", on=successes(FILE))
def a_content_type_is_a_media_type(exchange: Exchange) -> Iterator[Comparison]:
    """An empty text decides nothing: a portal may not know what a file is."""
    content_type = exchange.at("data.contentType")
    if isinstance(content_type, str) and content_type.strip():
        held = MEDIA_TYPE.fullmatch(content_type.strip()) is not None
        yield holds(exchange, "data.contentType", held, "a media type, such as application/pdf")


def _has_no_more_than_an_api_key(exchange: Exchange) -> bool:
    request = exchange.request
    has_key = any(request.header(name) is not None for name in ("x-api-key", "api-key"))
    return has_key and all(request.is_without(name) for name in ("authorization", "cookie"))


@check("FILE-022", on=answers(FILE).by_metadata().where(_has_no_more_than_an_api_key))
def an_api_key_opens_no_file(exchange: Exchange) -> Iterator[Comparison]:
    """It holds by the status alone by which somebody who is not signed in is refused."""
    is_right = exchange.status == 401 and not exchange.success
    yield from refused_or_silent(exchange, "an API key was accepted", is_right=is_right)
