"""The query of transfer orders by workspace (chapter "Transfer orders")."""

from typing import Any

from reference_impl.errors import INVALID, Refusal
from reference_impl.paging import of_orders
from reference_impl.portal import Caller, Portal, Record
from reference_impl.shapes import Body

DAY = 86400
NEWEST_FIRST = "createdAt,desc"
DESCENDING = {"asc": False, "desc": True}


def orders(portal: Portal, caller: Caller, body: Body) -> Any:
    workspace = _workspace(portal, body["workspaceId"])
    now = portal.now()
    start = body.get("startTime", now - portal.limits.default_range_days * DAY)
    end = body.get("endTime", now)
    orders = [
        order
        for order in portal.newest("transfer order")
        if order["workspaceBizId"] == workspace and start <= order["createdAt"] <= end
    ]
    ordered = _sorted(portal, orders, body.get("sort") or NEWEST_FIRST)
    return of_orders(portal, ordered, body)


def _workspace(portal: Portal, id: str) -> str:
    if portal.choices.orders_of_unknown_workspace == "refused":
        portal.find("workspace", id)
    return id


def _sorted(portal: Portal, records: list[Record], sort: str) -> list[Record]:
    field, _, direction = (part.strip() for part in sort.partition(","))
    fields = {name for name, _ in portal.fields["transfer order"]}
    if field not in fields or (direction or "asc").lower() not in DESCENDING:
        if portal.choices.sort_unknown == "refused":
            raise Refusal(INVALID)
        return _sorted(portal, records, NEWEST_FIRST)
    reverse = DESCENDING[(direction or "asc").lower()]
    return sorted(records, key=lambda record: (record[field] is None, record[field]), reverse=reverse)
