"""The three pagination forms and the limits of pages (chapters "Pagination forms", "Limits")."""

from collections.abc import Callable
from math import ceil
from typing import Any

from reference_impl.changes import Change, limited, together
from reference_impl.faults import operations as op
from reference_impl.faults.fault import (
    Call,
    Serving,
    asked,
    ignoring,
    reported,
    served,
    turned,
    turned_by_page,
)
from reference_impl.faults.verbs import Data, is_filtered
from reference_impl.shapes import Body


def _size_needs_page(body: Body) -> Body:
    return body if body.get("page") is not None else body | {"size": None}


def _paged_counting_all(call: Call) -> Any:
    data = call.run()
    if is_filtered(call.body):
        data["pagination"] |= {"totalRecords": call.run_with({})["pagination"]["totalRecords"]}
    return data


def _without_null_size(operation: str) -> Change:
    return asked(
        operation,
        lambda body: {
            name: value
            for name, value in _size_needs_page(body).items()
            if value is not None or name != "size"
        },
    )


def _filtered_pages_overlap(call: Call) -> Any:
    """A page of what a filter gives begins with the last of the page before."""
    data = call.run()
    if call.body.get("accountStatus") is not None and call.body.get("page"):
        before = call.run(page=call.body["page"] - 1)["accounts"]
        data = data | {"accounts": [*before[-1:], *data["accounts"][:-1]]}
    return data


def _rounded_down(records: str, size: str) -> Callable[[Data], None]:
    def turn(page: Data) -> None:
        page["totalPages"] = page[records] // page[size]

    return turn


def _one_more_at_the_end(page: Data) -> None:
    page["totalRecords"] += page["currentPage"] == page["totalPages"] > 2


def _next_page_too(listing: str, page: str) -> Serving:
    """A page begins with the last item of the one before."""

    def overlapping(call: Call) -> Any:
        data = call.run()
        if data[page] > 0 and data[listing]:
            before = call.run(page=data[page] - 1)
            data[listing] = [before[listing][-1], *data[listing][:-1]]
        return data

    return overlapping


def _last_page_short(listing: str, page: str) -> Callable[[Data], None]:
    """Past the first page the last item is dropped."""

    def turn(data: Data) -> None:
        if data[page] > 0:
            data[listing] = data[listing][:-1]

    return turn


def _first_page_again(listing: str) -> Serving:
    """Past page 1 the items of page 0 come again, under the right number."""

    def again(call: Call) -> Any:
        data = call.run()
        if (call.body.get("page") or 0) > 1:
            data[listing] = call.run(page=0)[listing]
        return data

    return again


def _another_default(operation: str, **defaults: int) -> Any:
    return asked(operation, lambda body: defaults | {k: v for k, v in body.items() if v is not None})


def _at_least(operation: str, size: int) -> Any:
    """Smaller pages than this are not given."""
    return asked(operation, lambda body: body | {"size": max(body.get("size") or 20, size)})


def _everything(operation: str) -> Any:
    return together(limited(max_page_size=10_000), asked(operation, lambda body: body | {"size": 10_000}))


def _one_more(call: Call) -> Any:
    """The next page's first order stands at the end."""
    data = call.run()
    following = call.run(page=data["number"] + 1)
    data["content"] += following["content"][:1]
    return data


def _off_by_one_from(number: int) -> Callable[[Data, int], None]:
    """The page number that is told is off by one from this page on."""

    def turn(data: Data, page: int) -> None:
        if page >= number:
            name = "currentPage" if "currentPage" in data else "number"
            data[name] += 1

    return turn


ROWS = {
    "PAGE-028 PAGE-029 a-size-counts-with-a-page-only": _without_null_size(op.ACCOUNTS_QUERY),
    "PAGE-008 CHANNELTYPE-024 types-asked-for-are-counted-as-all": served(
        op.TYPES_QUERY, _paged_counting_all
    ),
    "PAGE-008 CHANNEL-045 channels-asked-for-are-counted-as-all": served(
        op.CHANNELS_QUERY, _paged_counting_all
    ),
    "PAGE-039 pages-of-a-filter-overlap": served(op.ACCOUNTS_QUERY, _filtered_pages_overlap),
    "PAGE-010 a-full-page-has-a-next-one": turned(
        op.HISTORY,
        "",
        lambda data: data["pagination"].update(hasNext=len(data["items"]) == data["pagination"]["pageSize"]),
    ),
    "PAGE-008 history-counts-one-more-on-its-last-page": turned(
        op.HISTORY, "pagination", _one_more_at_the_end
    ),
    "PAGE-008 history-pages-rounded-down": turned(
        op.HISTORY, "pagination", _rounded_down("totalRecords", "pageSize")
    ),
    "PAGE-008 channel-pages-one-too-many": turned(
        op.CHANNELS_QUERY,
        "pagination",
        lambda page: page.update(totalPages=ceil(page["totalRecords"] / page["pageSize"]) + 1),
    ),
    "PAGE-009 history-page-from-zero": reported(op.HISTORY, "pagination", currentPage=lambda page: page - 1),
    "PAGE-009 types-page-from-zero": reported(
        op.TYPES_QUERY, "pagination", currentPage=lambda page: page - 1
    ),
    "PAGE-009 channels-page-from-zero": reported(
        op.CHANNELS_QUERY, "pagination", currentPage=lambda page: page - 1
    ),
    "PAGE-010 types-never-have-a-next-page": turned(
        op.TYPES_QUERY, "pagination", lambda page: page.update(hasNext=False)
    ),
    "PAGE-010 channels-always-have-a-next-page": turned(
        op.CHANNELS_QUERY,
        "pagination",
        lambda page: page.update(hasNext=page["hasNext"] or page["totalRecords"] > 0),
    ),
    "PAGE-011 types-page-of-one-is-empty": turned(
        op.TYPES_QUERY, "pagination", lambda page: page.update(empty=page["totalRecords"] <= 1)
    ),
    "PAGE-011 history-always-empty": reported(op.HISTORY, "pagination", empty=True),
    "PAGE-013 history-holds-more-than-its-size": reported(op.HISTORY, "pagination", pageSize=10),
    "PAGE-014 types-page-before-another-is-short": turned(
        op.TYPES_QUERY, "", lambda data: data.update(items=data["items"][:19])
    ),
    "PAGE-026 accounts-page-from-one": reported(op.ACCOUNTS_QUERY, "", currentPage=lambda page: page + 1),
    "PAGE-026 accounts-page-wrong-past-the-first": turned_by_page(op.ACCOUNTS_QUERY, _off_by_one_from(1)),
    "PAGE-027 account-pages-rounded-down": turned(
        op.ACCOUNTS_QUERY, "", _rounded_down("totalElements", "pageSize")
    ),
    "PAGE-028 accounts-size-ignored": _at_least(op.ACCOUNTS_QUERY, 20),
    "PAGE-028 accounts-all-on-one-page": _everything(op.ACCOUNTS_QUERY),
    "PAGE-029 accounts-size-told-is-twenty": reported(op.ACCOUNTS_QUERY, "", pageSize=20),
    "PAGE-025 account-counts-as-text": reported(op.ACCOUNTS_QUERY, "", totalElements=str),
    "PAGE-039 account-pages-overlap": served(op.ACCOUNTS_QUERY, _next_page_too("accounts", "currentPage")),
    "PAGE-039 account-pages-past-the-first-are-short": turned(
        op.ACCOUNTS_QUERY, "", _last_page_short("accounts", "currentPage")
    ),
    "PAGE-039 third-account-page-is-the-first": served(op.ACCOUNTS_QUERY, _first_page_again("accounts")),
    "LIMIT-010 accounts-begin-with-page-one": _another_default(op.ACCOUNTS_QUERY, page=1),
    "LIMIT-011 accounts-default-size-ten": _another_default(op.ACCOUNTS_QUERY, size=10),
    "PAGE-035 orders-page-from-one": reported(op.ORDERS, "", number=lambda page: page + 1),
    "PAGE-035 orders-page-ignored": ignoring(op.ORDERS, "page"),
    "PAGE-035 orders-page-wrong-past-the-first": turned_by_page(op.ORDERS, _off_by_one_from(1)),
    "PAGE-036 order-pages-one-too-many": reported(op.ORDERS, "", totalPages=lambda pages: pages + 1),
    "PAGE-037 orders-one-more-than-asked": served(op.ORDERS, _one_more),
    "PAGE-038 orders-size-told-is-twenty": reported(op.ORDERS, "", size=20),
    "PAGE-025 order-counts-as-text": reported(op.ORDERS, "", totalElements=str),
    "PAGE-040 order-pages-past-the-first-are-short": turned(
        op.ORDERS, "", _last_page_short("content", "number")
    ),
    "LIMIT-012 orders-begin-with-page-one": _another_default(op.ORDERS, page=1),
    "LIMIT-013 orders-default-size-fifty": _another_default(op.ORDERS, size=50),
}
