"""Pages and filters that are right each by itself, and wrong together (chapter "Pagination forms")."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from reference_impl.changes import Change, handled, wrapped
from reference_impl.faults.fault import asked, fault
from reference_impl.faults.operations import ACCOUNTS_QUERY, CHANNELS_QUERY, ORDERS, TYPES_QUERY
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body

PAGE = ("page", "size", "sort", "workspaceId")


def _size_needs_page(body: Body) -> Body:
    return body if body.get("page") is not None else body | {"size": None}


def _is_filtered(body: Body) -> bool:
    return any(value not in (None, "", False) for name, value in body.items() if name not in PAGE)


def _unfiltered(body: Body) -> Body:
    return {name: value for name, value in body.items() if name in PAGE}


def _from_the_second_page_on(body: Body) -> Body:
    return _unfiltered(body) if body.get("page") else body


def _counting_all(total: str) -> Callable[[Handler], Handler]:
    """The total and its pages are those without a filter."""

    def around(handler: Handler) -> Handler:
        def listing(portal: Portal, caller: Caller, body: Body) -> Any:
            data = handler(portal, caller, body)
            if _is_filtered(body):
                whole = handler(portal, caller, _unfiltered(body))
                data |= {total: whole[total], "totalPages": whole["totalPages"]}
            return data

        return listing

    return around


def _paged_counting_all(handler: Handler) -> Handler:
    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        if _is_filtered(body):
            data["pagination"] |= {"totalRecords": handler(portal, caller, {})["pagination"]["totalRecords"]}
        return data

    return listing


def _without_null_size(operation: str) -> Change:
    return asked(
        operation,
        lambda body: {
            name: value
            for name, value in _size_needs_page(body).items()
            if value is not None or name != "size"
        },
    )


def _alternatives(handler: Handler) -> Handler:
    """Of two texts to look for, one is enough."""

    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        if not (body.get("email") and body.get("name")):
            return handler(portal, caller, body)
        by_name = handler(portal, caller, body | {"email": None})
        return by_name if by_name["accounts"] else handler(portal, caller, body | {"name": None})

    return listing


OFFSET = re.compile(rb"(%2B|[-+])\d\d(:|%3A)\d\d(?=&|$)", re.IGNORECASE)


@dataclass
class WithoutOffsets:
    """The offset of a time in a query is dropped."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        query = OFFSET.sub(b"Z", scope["query_string"])
        await self.app({**scope, "query_string": query}, receive, send)


FAULTS = (
    fault(
        "ACCOUNT-025",
        "email-and-name-are-alternatives",
        handled(ACCOUNTS_QUERY, _alternatives),
        also="ACCOUNT-024 ACCOUNT-023 ACCOUNT-044",
    ),
    fault("ORDER-039", "offsets-of-a-range-are-dropped", wrapped(WithoutOffsets, ORDERS), also="ORDER-021"),
    fault("PAGE-028 PAGE-029", "a-size-counts-with-a-page-only", _without_null_size(ACCOUNTS_QUERY)),
    fault("PAGE-037 PAGE-038", "a-size-of-orders-counts-with-a-page-only", _without_null_size(ORDERS)),
    fault(
        "ACCOUNT-040",
        "filtered-accounts-are-counted-as-all",
        handled(ACCOUNTS_QUERY, _counting_all("totalElements")),
    ),
    fault(
        "PAGE-008 CHANNELTYPE-024",
        "types-asked-for-are-counted-as-all",
        handled(TYPES_QUERY, _paged_counting_all),
    ),
    fault(
        "PAGE-008 CHANNEL-045",
        "channels-asked-for-are-counted-as-all",
        handled(CHANNELS_QUERY, _paged_counting_all),
    ),
    fault("ACCOUNT-020", "later-pages-are-not-filtered", asked(ACCOUNTS_QUERY, _from_the_second_page_on)),
)
