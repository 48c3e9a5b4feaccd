"""The queries of channels and their types as the cases ask them, and what they take from the answers."""

from __future__ import annotations

from cases.premises import authorized, count, granted, listed
from conformance.cases import UNFILTERED, Account, Exchange, Json, Portal, Untestable

ITEMS = "data.items"


def asked(portal: Portal, caller: Account, key: str, **fields: Json) -> Exchange:
    """The query's answer, whatever it is: every filter null but those given."""
    return authorized(portal.call(key, json={**UNFILTERED[key], **fields}, token=caller.token))


def matching(portal: Portal, caller: Account, key: str, **fields: Json) -> Exchange:
    return granted(asked(portal, caller, key, **fields))


def items(exchange: Exchange) -> list[dict[str, Json]]:
    return listed(exchange, ITEMS)


def ids(exchange: Exchange) -> set[Json]:
    return {record["bizId"] for record in items(exchange) if isinstance(record.get("bizId"), str)}


def total(exchange: Exchange) -> int:
    """Total of records on all pages, at least the items of this page. Raises Untestable."""
    return max(count(exchange, "data.pagination.totalRecords"), len(items(exchange)))


def any_record(exchange: Exchange, *fields: str) -> dict[str, Json]:
    """A listed record with these fields as text. Raises Untestable where there is none."""
    for record in items(exchange):
        if all(isinstance(record.get(field), str) and record[field] for field in fields):
            return record
    raise Untestable("the target lists none to compare with", "environment")


def record_of(portal: Portal, caller: Account, key: str, id: str) -> tuple[Exchange, dict[str, Json] | None]:
    """The listing of one id, and the record in it; without null filters where those find nothing.

    Raises Untestable where listed records show no id.
    """
    listing = matching(portal, caller, key, bizId=id)
    if not items(listing):
        bare = authorized(portal.call(key, json={"bizId": id}, token=caller.token))
        listing = bare if bare.success and items(bare) else listing
    if len(ids(listing)) < len(items(listing)):
        raise Untestable("the listing does not show an id of each record", "target")
    return listing, next((record for record in items(listing) if record.get("bizId") == id), None)
