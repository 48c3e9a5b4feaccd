"""Other ways to an endpoint that reads: another spelling of its address, or a header that names it (chapter
"Authentication")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlencode

import pytest

from cases.every_endpoint.test_ended_tokens import READ_BY_TOKEN
from cases.every_endpoint.test_ingress import ACCESS_CODE
from cases.premises import answered, form, granted
from cases.reading import QUERIES, read
from conformance.cases import (
    BY_KEY,
    HELD,
    Account,
    Comparison,
    Exchange,
    Operation,
    Portal,
    Untestable,
    Verify,
    holds,
    is_refused,
    mark,
    op,
    operation_of,
)

PUBLIC = BY_KEY[op.PUBLIC_KEY]


@dataclass(frozen=True)
class Door:
    """A request for an endpoint under another name.

    ``path`` and ``headers`` are templates: ``{path}`` is the endpoint's address, ``{front}`` all but its last
    segment, ``{last}`` that segment."""

    name: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    method: str = "GET"

    def open(
        self, portal: Portal, path: str, *, token: str | None = None, headers: Mapping[str, str | None] = {}
    ) -> Exchange:
        front, _, last = path.rpartition("/")
        words = {
            "path": path,
            "front": front,
            "last": last,
            "upper": last.upper(),
            "encoded": f"%{ord(last[0]):02X}{last[1:]}",
            "inner": path.removeprefix("/web/v1/"),
        }
        naming = {name: value.format(**words) for name, value in self.headers.items()}
        return portal.get(
            self.path.format(**words), token=token, headers={**naming, **headers}, method=self.method
        )


DOORS = (
    Door("slash-behind", "{path}/"),
    Door("double-slash", "{front}//{last}"),
    Door("double-slash-in-front", "/web/v1//{inner}"),
    Door("upper-case", "{front}/{upper}"),
    Door("percent-encoded", "{front}/{encoded}"),
    Door("dot-segments", "/web/v1/secure-channel/%2e%2e/{inner}"),
    Door("dot-segments-with-semicolon", "/web/v1/secure-channel/..;/{inner}"),
    Door("path-parameter", "{path};a=b"),
    Door("extension", "{path}.json"),
    Door("original-url", PUBLIC.path, {"X-Original-URL": "{path}", "X-Rewrite-URL": "{path}"}),
)
OVERRIDE = Door(
    "method-override",
    "{path}",
    {"X-HTTP-Method-Override": "GET", "X-HTTP-Method": "GET", "X-Method-Override": "GET"},
    method="POST",
)
GETS = tuple(row for row in READ_BY_TOKEN if row.method == "GET" and not row.parameters)
"""Endpoints whose address holds no id: a text behind an id makes it that of another record."""


def doors_of(row: Operation, effort: str) -> tuple[Door, ...]:
    """All doors, or three of them, others at each endpoint: what looks at addresses looks at all of them."""
    third = len(DOORS) // 3
    return (
        DOORS
        if effort == "thorough"
        else tuple(DOORS[(row.number + turn) % len(DOORS)] for turn in (0, third, 2 * third))
    )


@mark.requirement("AUTHN-025", "HEADER-025")
@pytest.mark.parametrize("row", [pytest.param(row, id=row.key) for row in GETS])
def test_no_other_door_leads_past_the_token_or_the_ingress(
    portal: Portal, verify: Verify, admin: Account, row: Operation, effort: str
) -> None:
    served = shown_to_its_caller(portal, admin, row)
    for door in doors_of(row, effort):
        verify("AUTHN-025", shows_nothing(row, door.open(portal, row.path), served))
        outside = door.open(portal, row.path, token=admin.token, headers={ACCESS_CODE: None})
        verify("HEADER-025", shows_nothing(row, outside, served))
    address = "?".join(filter(None, (row.path, urlencode(QUERIES.get(row.key, {})))))
    verify("AUTHN-025", shows_no_length(row, answered(portal.get(address, method="HEAD")), served))


def shows_no_length(row: Operation, head: Exchange, served: Exchange) -> Comparison:
    """Whether HEAD without a token is not answered as the GET of whom the endpoint serves."""
    length = served.at("headers.content-length")
    is_told = isinstance(length, str) and head.at("headers.content-length") == length
    is_shown = is_told and head.status == served.status
    message = "HEAD without a token was answered with the length of what the endpoint holds"
    return about(row, holds(head, "status", not is_shown, 401, served, message=message))


def about(row: Operation, comparison: Comparison) -> Comparison:
    """The comparison, of which the endpoint is in question, and not the address of the request."""
    return comparison if comparison is HELD else replace(comparison, about=row.key)


@mark.requirement("AUTHN-025")
@mark.impact("mutating")
@pytest.mark.parametrize(
    "row", [pytest.param(row, id=row.key) for row in GETS if operation_of("POST", row.path) is None][::4]
)
def test_no_other_method_leads_past_the_token(
    portal: Portal, verify: Verify, admin: Account, row: Operation
) -> None:
    """Without a token: one of the endpoints that are not described may stand here."""
    served = shown_to_its_caller(portal, admin, row)
    verify("AUTHN-025", shows_nothing(row, OVERRIDE.open(portal, row.path), served))


def shown_to_its_caller(portal: Portal, admin: Account, row: Operation) -> Exchange:
    """The answer at the endpoint's own address. Raises Untestable where it has no fields to recognise
    it by, or is given to anybody."""
    served = granted(read(portal, row, token=admin.token))
    if form(served.data) in ([], "null"):
        raise Untestable("the endpoint shows nothing by which its answer would be recognised", "environment")
    if read(portal, row).success:
        raise Untestable("the endpoint answers without any token", "target")
    return served


def shows_nothing(row: Operation, answer: Exchange, served: Exchange) -> Comparison:
    """Whether an answer has other fields than the endpoint's; whatever else stands at the address is none."""
    is_shown = answered(answer).success and form(answer.data) == form(served.data)
    message = "an endpoint that asks for it at its own address was served under another one"
    return about(row, is_refused(answer, served, message=message)) if is_shown else HELD
