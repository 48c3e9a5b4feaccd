"""What is wrong only where a filter has company, or on another page than the first (several chapters)."""

from collections.abc import Callable
from typing import Any

from reference_impl.changes import handled
from reference_impl.faults.fault import asked, fault
from reference_impl.faults.operations import (
    ACCOUNTS_QUERY,
    CHANNELS_QUERY,
    HISTORY,
    ORDERS,
    OWN_INVITATIONS,
    TYPES_QUERY,
)
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body


def _given_up_for(name: str, other: str) -> Callable[[Body], Body]:
    """A filter that is passed over where another is given."""

    def change(body: Body) -> Body:
        return body | {name: None} if body.get(other) not in (None, "", False) else body

    return change


def _nothing_for(*names: str) -> Callable[[Body], Body]:
    """These filters together find nothing."""

    def change(body: Body) -> Body:
        return body | {names[0]: "nothing"} if all(body.get(name) for name in names) else body

    return change


def _the_first_alone(body: Body) -> Body:
    """Of several statuses the first one counts."""
    sent = body.get("statuses")
    return body | {"statuses": [values[:1] for values in sent[:1]]} if sent else body


def _filtered_pages_overlap(handler: Handler) -> Handler:
    """A page of what a filter gives begins with the last of the page before."""

    def querying(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        if body.get("accountStatus") is not None and body.get("page"):
            before = handler(portal, caller, body | {"page": body["page"] - 1})["accounts"]
            data = data | {"accounts": [*before[-1:], *data["accounts"][:-1]]}
        return data

    return querying


def _the_first_page_again(body: Body) -> Body:
    """The second page of the history is the first, and says that it is the second."""
    return body | {"page": 1} if body.get("page") == 2 else body


def _named_as_asked(handler: Handler) -> Handler:
    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, _the_first_page_again(body))
        page = body.get("page") or 1
        return data | {"pagination": data["pagination"] | {"currentPage": page}} if page == 2 else data

    return listing


def _for_a_month(body: Body) -> Body:
    """A range that has a start alone ends thirty days after it."""
    is_open = "startTime" in body and "endTime" not in body
    return body | {"endTime": body["startTime"] + 30 * 86_400} if is_open else body


def _of_all_workspaces(handler: Handler) -> Handler:
    """The orders of every workspace are given for each."""

    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        orders = portal.records["transfer order"]
        owners = {id: record["workspaceBizId"] for id, record in orders.items()}
        for record in orders.values():
            record["workspaceBizId"] = body["workspaceId"]
        try:
            return handler(portal, caller, body)
        finally:
            for id, record in orders.items():
                record["workspaceBizId"] = owners[id]

    return listing


FAULTS = (
    fault(
        "CHANNEL-062",
        "active-channels-are-of-any-institution",
        asked(CHANNELS_QUERY, _given_up_for("institutionBizId", "activeOnly")),
    ),
    fault(
        "CHANNEL-062",
        "channels-in-a-state-are-of-any-institution",
        asked(CHANNELS_QUERY, _given_up_for("institutionBizId", "channelStatus")),
    ),
    fault(
        "CHANNEL-044",
        "a-channel-asked-for-by-id-may-be-inactive",
        asked(CHANNELS_QUERY, _given_up_for("activeOnly", "bizId")),
    ),
    fault(
        "CHANNELTYPE-023",
        "a-type-asked-for-by-code-may-be-disabled",
        asked(TYPES_QUERY, _given_up_for("enabledOnly", "typeCode")),
    ),
    fault(
        "CHANNELTYPE-021",
        "a-type-asked-for-by-id-may-have-any-code",
        asked(TYPES_QUERY, _given_up_for("typeCode", "bizId")),
    ),
    fault(
        "CHANNEL-065",
        "active-channels-of-an-institution-are-none",
        asked(CHANNELS_QUERY, _nothing_for("institutionBizId", "activeOnly")),
    ),
    fault(
        "CHANNELTYPE-035",
        "an-enabled-type-is-not-found-by-its-code",
        asked(TYPES_QUERY, _nothing_for("typeCode", "enabledOnly")),
    ),
    fault(
        "ACCOUNT-050",
        "nobody-has-both-a-name-and-an-institution",
        asked(ACCOUNTS_QUERY, _nothing_for("name", "institutionBizId")),
        also="ACCOUNT-025",
    ),
    fault("INVITATION-037", "of-several-statuses-the-first-counts", asked(OWN_INVITATIONS, _the_first_alone)),
    fault("PAGE-039", "pages-of-a-filter-overlap", handled(ACCOUNTS_QUERY, _filtered_pages_overlap)),
    fault("HISTORY-014", "the-second-page-of-the-history-is-the-first", handled(HISTORY, _named_as_asked)),
    fault("ORDER-041", "a-range-lasts-thirty-days-at-most", asked(ORDERS, _for_a_month)),
    fault("ORDER-040", "every-workspace-has-all-orders", handled(ORDERS, _of_all_workspaces)),
)
