"""Roles, files and transfer orders (chapters of these names)."""

from typing import Any

from reference_impl.changes import handled, limited, refused_with, row
from reference_impl.errors import INVALID
from reference_impl.faults.fault import asked, fault, ignoring, renamed, reported, turned
from reference_impl.faults.operations import FILE, ORDERS, ROLE, ROLES
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body

DAY = 86400


def _first_role(handler: Handler) -> Handler:
    """Whichever role is asked for, the oldest is given."""

    def reading(portal: Portal, caller: Caller, body: Body) -> Any:
        portal.find("role", body["roleBizId"])
        return handler(portal, caller, body | {"roleBizId": next(iter(portal.records["role"]))})

    return reading


def _twice(handler: Handler) -> Handler:
    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        roles = handler(portal, caller, body)
        return [*roles, *roles[:1]]

    return listing


def _total_alone(order: dict[str, Any]) -> None:
    order["totalAmount"] = order["amount"]


def _fee_taken_off(order: dict[str, Any]) -> None:
    """The fee is subtracted where it is more than a unit."""
    if order["feeAmount"] > 1:
        order["totalAmount"] = order["amount"] - order["feeAmount"]


def _completed_first(order: dict[str, Any]) -> None:
    if order["completedAt"]:
        order["createdAt"], order["completedAt"] = order["completedAt"], order["createdAt"]


def _never_completed(order: dict[str, Any]) -> None:
    order["completedAt"] = None


def _reason_always(order: dict[str, Any]) -> None:
    order["failureReason"] = order["failureReason"] or "None"


def _by_page(body: Body) -> Body:
    """Past the first page the sort is forgotten."""
    if body.get("page"):
        body.pop("sort", None)
    return body


def _only_the_day(handler: Handler) -> Handler:
    """Times are cut to their day: the first day comes whole."""

    def querying(portal: Portal, caller: Caller, body: Body) -> Any:
        if "startTime" in body:
            body = body | {"startTime": body["startTime"] // DAY * DAY - DAY}
        return handler(portal, caller, body)

    return querying


def _reversed(body: Body) -> Body:
    """Ascending and descending are taken for each other."""
    field, _, direction = (body.get("sort") or "createdAt,desc").partition(",")
    body["sort"] = f"{field},{'asc' if direction == 'desc' else 'desc'}"
    return body


def _ascending_always(body: Body) -> Body:
    body["sort"] = f"{(body.get('sort') or 'createdAt').partition(',')[0]},asc"
    return body


def _descending_always(body: Body) -> Body:
    body["sort"] = f"{(body.get('sort') or 'createdAt').partition(',')[0]},desc"
    return body


FAULTS = (
    # Roles.
    fault("ROLE-010", "another-role-is-read", handled(ROLE, _first_role)),
    fault("ROLE-010", "role-is-read-under-another-name", reported(ROLE, "", roleName="Role")),
    fault("ROLE-011", "unknown-role-is-400", renamed(ROLE, "RESOURCE.NOT_FOUND", INVALID)),
    fault("ROLE-013", "a-role-twice", handled(ROLES, _twice)),
    # Files.
    fault("FILE-020", "file-needs-no-permission", row(FILE, permission=None), also="FILE-021"),
    fault(
        "FILE-021",
        "missing-permission-is-404",
        renamed(FILE, "ACCESS.PERMISSION_DENIED", "RESOURCE.NOT_FOUND"),
    ),
    fault(
        "ERROR-005",
        "permission-denied-is-401",
        refused_with("ACCESS.PERMISSION_DENIED", status=401),
        also="FILE-021",
    ),
    fault("FILE-023", "another-file-is-read", reported(FILE, "", bizId=lambda id: id[::-1])),
    fault("FILE-024", "unknown-file-is-400", renamed(FILE, "RESOURCE.NOT_FOUND", INVALID)),
    fault("FILE-026", "file-of-negative-size", reported(FILE, "", fileSize=lambda size: size - 2**33)),
    fault(
        "FILE-027",
        "content-type-is-a-file-extension",
        reported(FILE, "", contentType=lambda media_type: media_type.rpartition("/")[2]),
    ),
    fault(
        "ERROR-006",
        "not-found-is-400",
        refused_with("RESOURCE.NOT_FOUND", status=400),
        also="ACCOUNT-031 ACCOUNT-039 INSTITUTION-010 INVITATION-031 INVITE-005 ROLE-011 FILE-024",
    ),
    # Transfer orders.
    fault("ORDER-020", "default-range-is-90-days", limited(default_range_days=90), ORDERS, also="ORDER-029"),
    fault(
        "ORDER-029", "default-range-is-seven-days", limited(default_range_days=7), ORDERS, also="ORDER-020"
    ),
    fault(
        "ORDER-021",
        "start-time-ignored",
        asked(ORDERS, lambda body: body | ({"startTime": 0.0} if "startTime" in body else {})),
        also="ORDER-029",
    ),
    fault("ORDER-021", "start-time-cut-to-the-day-before", handled(ORDERS, _only_the_day)),
    fault("ORDER-022", "end-time-ignored", ignoring(ORDERS, "endTime")),
    fault("ORDER-023 ORDER-024", "sort-reversed", asked(ORDERS, _reversed)),
    fault("ORDER-023", "sort-always-ascending", asked(ORDERS, _ascending_always)),
    fault("ORDER-024", "sort-always-descending", asked(ORDERS, _descending_always)),
    fault("ORDER-024", "sort-forgotten-past-the-first-page", asked(ORDERS, _by_page), also="PAGE-040"),
    fault("ORDER-025", "total-without-the-fee", turned(ORDERS, "content[]", _total_alone)),
    fault("ORDER-025", "fee-taken-off-large-orders", turned(ORDERS, "content[]", _fee_taken_off)),
    fault(
        "ORDER-026", "order-completed-before-it-was-created", turned(ORDERS, "content[]", _completed_first)
    ),
    fault("ORDER-027", "completed-order-does-not-say-when", turned(ORDERS, "content[]", _never_completed)),
    fault("ORDER-028", "orders-ask-for-no-challenge", row(ORDERS, bot="")),
    fault("ORDER-034", "completed-order-has-a-reason-to-fail", turned(ORDERS, "content[]", _reason_always)),
)
