"""Transfer orders (chapter "Transfer orders")."""

import re
from typing import Any

from starlette.types import Scope

from reference_impl.changes import limited, row, wrapped
from reference_impl.faults import operations as op
from reference_impl.faults.fault import Call, asked, ignoring, reported, served, turned
from reference_impl.faults.verbs import DAY, one_item_twice
from reference_impl.portal import Portal
from reference_impl.shapes import Body
from reference_impl.wrappers import BeforeEach

OFFSET = re.compile(rb"(%2B|[-+])\d\d(:|%3A)\d\d(?=&|$)", re.IGNORECASE)


def _without_offsets(scope: Scope, portal: Portal) -> None:
    """The offset of a time in a query is dropped."""
    scope["query_string"] = OFFSET.sub(b"Z", scope["query_string"])


def _for_a_month(body: Body) -> Body:
    """A range that has a start alone ends thirty days after it."""
    is_open = "startTime" in body and "endTime" not in body
    return body | {"endTime": body["startTime"] + 30 * DAY} if is_open else body


def _of_all_workspaces(call: Call) -> Any:
    """Lists the orders of all workspaces for each workspace."""
    own, asked_for = call.portal.records["transfer order"], {"workspaceBizId": call.body["workspaceId"]}
    call.portal.records["transfer order"] = {id: record | asked_for for id, record in own.items()}
    try:
        return call.run()
    finally:
        call.portal.records["transfer order"] = own


def _completed_first(order: dict[str, Any]) -> None:
    if order["completedAt"]:
        order |= {"createdAt": order["completedAt"], "completedAt": order["createdAt"]}


def _reversed(body: Body) -> Body:
    """Ascending and descending are taken for each other."""
    field, _, direction = (body.get("sort") or "createdAt,desc").partition(",")
    body["sort"] = f"{field},{'asc' if direction == 'desc' else 'desc'}"
    return body


def _from_the_end(call: Call) -> Any:
    """Without a start the range begins thirty days before its end."""
    if "endTime" not in call.body or "startTime" in call.body:
        return call.run()
    return call.run(startTime=call.body["endTime"] - call.portal.limits.default_range_days * DAY)


ROWS = {
    "ORDER-035 amounts-only-rise": asked(
        op.ORDERS,
        lambda body: body | ({"sort": "amount,asc"} if body.get("sort", "").startswith("amount") else {}),
    ),
    "ORDER-042 a-range-ends-a-day-early": asked(
        op.ORDERS, lambda body: body | {"endTime": body["endTime"] - DAY} if "endTime" in body else body
    ),
    "ORDER-039 offsets-of-a-range-are-dropped": wrapped(
        lambda app: BeforeEach(app, _without_offsets), op.ORDERS
    ),
    "ORDER-041 a-range-lasts-thirty-days-at-most": asked(op.ORDERS, _for_a_month),
    "ORDER-040 every-workspace-has-all-orders": served(op.ORDERS, _of_all_workspaces),
    "ORDER-032 an-order-twice-on-a-page": turned(op.ORDERS, "", one_item_twice("content")),
    "ORDER-020 default-range-is-90-days": limited(default_range_days=90).at(op.ORDERS),
    "ORDER-029 default-range-is-seven-days": limited(default_range_days=7).at(op.ORDERS),
    "ORDER-021 start-time-ignored": asked(
        op.ORDERS, lambda body: body | ({"startTime": 0.0} if "startTime" in body else {})
    ),
    "ORDER-022 end-time-ignored": ignoring(op.ORDERS, "endTime"),
    "ORDER-023 ORDER-024 sort-reversed": asked(op.ORDERS, _reversed),
    "ORDER-024 sort-forgotten-past-the-first-page": asked(
        op.ORDERS, lambda body: body | ({"sort": ""} if body.get("page") else {})
    ),
    "ORDER-025 total-without-the-fee": turned(
        op.ORDERS, "content[]", lambda order: order.update(totalAmount=order["amount"])
    ),
    "ORDER-026 order-completed-before-it-was-created": turned(op.ORDERS, "content[]", _completed_first),
    "ORDER-027 completed-order-does-not-say-when": reported(op.ORDERS, "content[]", completedAt=None),
    "ORDER-028 orders-ask-for-no-challenge": row(op.ORDERS, bot=""),
    "ORDER-034 completed-order-has-a-reason-to-fail": reported(
        op.ORDERS, "content[]", failureReason=lambda reason: reason or "None"
    ),
    "ORDER-037 a-range-begins-before-its-end": served(op.ORDERS, _from_the_end),
    "ORDER-038 orders-of-the-headers-workspace": served(
        op.ORDERS, lambda call: call.run(workspaceId=call.caller.workspace_id or call.body["workspaceId"])
    ),
}
