"""Requests without a valid token that are wrong in everything else as well (chapter "Authentication", 2).

Each endpoint is asked by an id that exists, by one that nobody has, and by one that is none; with a body that
is no JSON, one of wrong types, and an array; as JSON and as other media types: in pairs, and not in all ways.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cases.every_endpoint.test_tokens import HARMLESS, PROTECTED, ask
from cases.every_endpoint.tokens import changed_signature, forged
from cases.premises import answered, granted, texts_within
from cases.reading import READABLE, ids_where_known, known_ids, read, some_ids
from conformance.cases import (
    Account,
    Exchange,
    Json,
    Operation,
    ParameterSet,
    Portal,
    Untestable,
    Verify,
    equal,
    holds,
    is_refused,
    mark,
    may_keep_a_rate,
    op,
)

BODIES = (b'{"bizId": ', b'{"userBizId": [], "ids": 1, "page": {}, "size": "x", "bizId": [null]}', b"[]")
MEDIA_TYPES = ("application/json", "text/plain", "application/xml")
SQUARE = ((0, 0, 0), (0, 1, 1), (0, 2, 2), (1, 0, 1), (1, 1, 2), (1, 2, 0), (2, 0, 2), (2, 1, 0), (2, 2, 1))
"""Every pair of an id, a body and a media type, once."""

SENT_TO_EACH = 2
"""Of these requests, so many are sent to an endpoint; neighbours differ in the body and the media type."""

COOKIE = {"Cookie": "suite=none"}
"""With a cookie the request is none of those that checks judge as lacking a token and no more."""


def wrong_requests(portal: Portal, row: Operation) -> Iterator[dict[str, Json]]:
    """What some calls of an endpoint send beside a token. An id that exists stands only where nothing is
    changed by it."""
    for turn in range(SENT_TO_EACH):
        of_ids, of_bodies, of_media_types = SQUARE[(row.number + turn) % len(SQUARE)]
        ids = (ids_where_known(portal, row), some_ids(row), dict.fromkeys(row.parameters, "%"))[of_ids]
        has_body = row.method != "GET"
        yield {
            **(some_ids(row) if of_ids == 0 and row.impact != "read-only" else ids),
            "raw": BODIES[of_bodies] if has_body else None,
            "query": None if has_body else {"page": "first", "size": "-1", "statuses": "none"},
            "content_type": MEDIA_TYPES[of_media_types],
            "headers": COOKIE,
        }


def rows() -> list[ParameterSet]:
    rules = {"jwt": ("AUTHN-001", "AUTHN-007", "AUTHN-023"), "unmarked": ("AUTHN-004", "AUTHN-013")}
    return [
        pytest.param(row, id=row.key, marks=[mark.requirement(*rules[row.auth]), mark.impact(row.impact)])
        for row in PROTECTED
        if row.key != op.LOGOUT
    ]


@pytest.mark.parametrize("row", rows())
def test_a_token_is_asked_for_whatever_else_is_wrong(
    portal: Portal, verify: Verify, admin: Account, row: Operation
) -> None:
    tokens: dict[str, str | None] = {("AUTHN-001" if row.auth == "jwt" else "AUTHN-004"): None}
    if row in HARMLESS:
        rule = "AUTHN-007" if row.auth == "jwt" else "AUTHN-013"
        tokens[rule] = forged(portal, admin.token, changed_signature)
    for rule, token in tokens.items():
        for wrong in wrong_requests(portal, row):
            refused = answered(portal.call(row.key, token=token, **wrong))
            if refused.success and row.impact != "read-only":
                portal.changes.leave(row.key, f"{row.key} accepted a request that it had to refuse")
            if verify(rule, is_refused(refused)) and row.auth == "jwt" and is_decided(portal, row, refused):
                message = "what else is wrong was told to whom has no valid token"
                verify("AUTHN-023", equal(refused, "status", 401, message=message))


OF_THE_REQUEST = (400, 404, 405, 406, 415, 422)
"""Statuses that speak of a request's form, or of what it asks for."""


def is_decided(portal: Portal, row: Operation, refused: Exchange) -> bool:
    """Whether a refusal shows what is looked at first: where nothing else is wrong, the token is refused."""
    if refused.status == 401:
        return True
    speaks_of_it = refused.envelope is not None and refused.code != "4030" and not may_keep_a_rate(refused)
    if refused.status not in OF_THE_REQUEST or not speaks_of_it:
        return False
    return ask(portal, row, token=refused.request.bearer).status == 401


RECORDS = tuple(row for row in READABLE if row.parameters)
"""The endpoints that show what is asked for by its id."""


@mark.requirement("AUTHN-026")
@pytest.mark.parametrize("row", [pytest.param(row, id=row.key) for row in RECORDS])
def test_a_refusal_shows_nothing_of_the_record(
    portal: Portal, verify: Verify, admin: Account, row: Operation
) -> None:
    ids = known_ids(portal, row)
    shown = granted(read(portal, row, token=admin.token, ids=ids))
    refused = answered(read(portal, row, ids=ids))
    is_refused_for_its_token = not refused.success and refused.status == 401
    if not is_refused_for_its_token:
        raise Untestable("the request was not refused for want of a token", "target")
    texts = set(long_texts(shown.data)) - set(ids.values())
    told = sorted(text for text in texts if text in " ".join(long_texts(refused.envelope)))
    expected = "nothing of the record"
    verify("AUTHN-026", holds(refused, "message", not told, expected, shown))


LONG = 8
"""Letters from which on a text of a record is surely its own, and no word of a message."""


def long_texts(value: Json) -> Iterator[str]:
    return (text for text in texts_within(value) if len(text) >= LONG)
