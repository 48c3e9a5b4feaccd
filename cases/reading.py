"""How each endpoint that only reads is asked: with ids that exist, with bodies that the samples show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from conformance.cases import (
    ABSENT,
    OPERATIONS,
    RECORD_OF_PARAMETER,
    UNFILTERED,
    Exchange,
    Json,
    Operation,
    Portal,
    Untestable,
    op,
)

READABLE: tuple[Operation, ...] = tuple(
    row for row in OPERATIONS if row.impact == "read-only" and (row.method == "GET" or not row.is_prelogin)
)
"""What a signed-in caller can read without changing anything: the GETs and the queries."""

NO_FILTER: Mapping[str, Json] = {
    name: value for name, value in UNFILTERED[op.ACCOUNTS_QUERY].items() if name not in ("page", "size")
}

PENDING = "10050301"
QUERIES: Mapping[str, Mapping[str, str]] = {op.OWN_INVITATIONS: {"statuses": PENDING}}
"""The document marks ``statuses`` as required in one place, so it is sent."""


def known_ids(portal: Portal, row: Operation) -> dict[str, str]:
    """The path's parameters with ids that exist. Raises Untestable where one is unknown."""
    return {name: portal.record(RECORD_OF_PARAMETER[name]) for name in row.parameters}


def ids_where_known(portal: Portal, row: Operation) -> dict[str, str]:
    """As ``known_ids``, and ids of nothing where one is unknown."""
    try:
        return known_ids(portal, row)
    except Untestable:
        return some_ids(row)


def some_ids(row: Operation) -> dict[str, str]:
    """The path's parameters with ids of nothing, for requests that are turned away before any look-up."""
    return dict.fromkeys(row.parameters, "00000000-0000-4000-8000-000000000000")


def body_of(row: Operation) -> Json:
    """The body of a query, and an empty object where a body belongs."""
    return UNFILTERED.get(row.key, {} if row.needs_body else ABSENT)


def read(
    portal: Portal,
    row: Operation,
    *,
    token: str | None = None,
    headers: Mapping[str, str | None] | None = None,
    ids: Mapping[str, str] | None = None,
    query: Mapping[str, str | Sequence[str]] | None = None,
) -> Exchange:
    """Asks an endpoint as it is meant to be asked; ``ids`` in place of those that exist."""
    parameters: dict[str, Json] = dict(known_ids(portal, row) if ids is None else ids)
    return portal.call(
        row.key,
        json=body_of(row),
        query=query if query is not None else QUERIES.get(row.key),
        token=token,
        headers=headers,
        **parameters,
    )
