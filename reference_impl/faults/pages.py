"""The three pagination forms and the limits of pages (chapters "Pagination forms", "Limits")."""

from collections.abc import Callable
from math import ceil
from typing import Any

from reference_impl.changes import handled, limited, together
from reference_impl.faults.fault import asked, fault, ignoring, reported, turned, turned_by_page
from reference_impl.faults.operations import ACCOUNTS_QUERY, CHANNELS_QUERY, HISTORY, ORDERS, TYPES_QUERY
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body

Data = dict[str, Any]


def _rounded_down(records: str, size: str) -> Callable[[Data], None]:
    def turn(page: Data) -> None:
        page["totalPages"] = page[records] // page[size]

    return turn


def _one_more_at_the_end(page: Data) -> None:
    page["totalRecords"] += page["currentPage"] == page["totalPages"] > 2


def _never_next(page: Data) -> None:
    page["hasNext"] = False


def _next_where_full(page: Data) -> None:
    page["hasNext"] = page["hasNext"] or page["totalRecords"] > 0


def _empty_where_single(page: Data) -> None:
    page["empty"] = page["totalRecords"] <= 1


def _next_page_too(listing: str, page: str) -> Callable[[Handler], Handler]:
    """A page begins with the last item of the one before."""

    def around(handler: Handler) -> Handler:
        def overlapping(portal: Portal, caller: Caller, body: Body) -> Any:
            data = handler(portal, caller, body)
            if data[page] > 0 and data[listing]:
                before = handler(portal, caller, body | {"page": data[page] - 1})
                data[listing] = [before[listing][-1], *data[listing][:-1]]
            return data

        return overlapping

    return around


def _last_page_short(listing: str, page: str) -> Callable[[Data], None]:
    """Past the first page the last item is dropped."""

    def turn(data: Data) -> None:
        if data[page] > 0:
            data[listing] = data[listing][:-1]

    return turn


def _first_page_again(listing: str) -> Callable[[Handler], Handler]:
    """Past page 1 the items of page 0 come again, under the right number."""

    def around(handler: Handler) -> Handler:
        def again(portal: Portal, caller: Caller, body: Body) -> Any:
            data = handler(portal, caller, body)
            if (body.get("page") or 0) > 1:
                data[listing] = handler(portal, caller, body | {"page": 0})[listing]
            return data

        return again

    return around


def _one_item_twice(listing: str) -> Callable[[Data], None]:
    def turn(data: Data) -> None:
        if len(data[listing]) > 1:
            data[listing][-1] = data[listing][0]

    return turn


def _another_default(operation: str, **defaults: int) -> Any:
    return asked(operation, lambda body: defaults | {k: v for k, v in body.items() if v is not None})


def _at_least(operation: str, size: int) -> Any:
    """Smaller pages than this are not given."""
    return asked(operation, lambda body: body | {"size": max(body.get("size") or 20, size)})


def _everything(operation: str) -> Any:
    return together(limited(max_page_size=10_000), asked(operation, lambda body: body | {"size": 10_000}))


def _one_more(handler: Handler) -> Handler:
    """The next page's first order stands at the end."""

    def more(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        following = handler(portal, caller, body | {"page": data["number"] + 1})
        data["content"] += following["content"][:1]
        return data

    return more


def _off_by_one_from(number: int) -> Callable[[Data, int], None]:
    """The page number that is told is off by one from this page on."""

    def turn(data: Data, page: int) -> None:
        if page >= number:
            name = "currentPage" if "currentPage" in data else "number"
            data[name] += 1

    return turn


def _further_while_full(data: Data) -> None:
    data["pagination"]["hasNext"] = len(data["items"]) == data["pagination"]["pageSize"]


FAULTS = (
    # The object.
    fault("PAGE-010", "a-full-page-has-a-next-one", turned(HISTORY, "", _further_while_full)),
    fault(
        "PAGE-008",
        "history-counts-one-more-on-its-last-page",
        turned(HISTORY, "pagination", _one_more_at_the_end),
    ),
    fault(
        "PAGE-008",
        "history-pages-rounded-down",
        turned(HISTORY, "pagination", _rounded_down("totalRecords", "pageSize")),
    ),
    fault(
        "PAGE-008",
        "channel-pages-one-too-many",
        turned(
            CHANNELS_QUERY,
            "pagination",
            lambda page: page.update(totalPages=ceil(page["totalRecords"] / page["pageSize"]) + 1),
        ),
    ),
    fault(
        "PAGE-009",
        "history-page-from-zero",
        reported(HISTORY, "pagination", currentPage=lambda page: page - 1),
    ),
    fault(
        "PAGE-009",
        "types-page-from-zero",
        reported(TYPES_QUERY, "pagination", currentPage=lambda page: page - 1),
    ),
    fault(
        "PAGE-009",
        "channels-page-from-zero",
        reported(CHANNELS_QUERY, "pagination", currentPage=lambda page: page - 1),
    ),
    fault("PAGE-010", "types-never-have-a-next-page", turned(TYPES_QUERY, "pagination", _never_next)),
    fault(
        "PAGE-010", "channels-always-have-a-next-page", turned(CHANNELS_QUERY, "pagination", _next_where_full)
    ),
    fault("PAGE-011", "types-page-of-one-is-empty", turned(TYPES_QUERY, "pagination", _empty_where_single)),
    fault("PAGE-011", "history-always-empty", reported(HISTORY, "pagination", empty=True)),
    fault("PAGE-013", "history-holds-more-than-its-size", reported(HISTORY, "pagination", pageSize=10)),
    fault(
        "PAGE-014",
        "types-page-before-another-is-short",
        turned(TYPES_QUERY, "", lambda data: data.update(items=data["items"][:19])),
    ),
    # The account query.
    fault(
        "PAGE-026", "accounts-page-from-one", reported(ACCOUNTS_QUERY, "", currentPage=lambda page: page + 1)
    ),
    fault("PAGE-026", "accounts-page-always-zero", reported(ACCOUNTS_QUERY, "", currentPage=0)),
    fault(
        "PAGE-026", "accounts-page-wrong-past-the-first", turned_by_page(ACCOUNTS_QUERY, _off_by_one_from(1))
    ),
    fault(
        "PAGE-027",
        "account-pages-rounded-down",
        turned(ACCOUNTS_QUERY, "", _rounded_down("totalElements", "pageSize")),
    ),
    fault("PAGE-028", "accounts-size-ignored", _at_least(ACCOUNTS_QUERY, 20)),
    fault("PAGE-028", "accounts-all-on-one-page", _everything(ACCOUNTS_QUERY)),
    fault("PAGE-029", "accounts-size-told-is-twenty", reported(ACCOUNTS_QUERY, "", pageSize=20)),
    fault("PAGE-025", "account-counts-as-text", reported(ACCOUNTS_QUERY, "", totalElements=str)),
    fault(
        "PAGE-039",
        "account-pages-overlap",
        handled(ACCOUNTS_QUERY, _next_page_too("accounts", "currentPage")),
    ),
    fault(
        "PAGE-039",
        "account-pages-past-the-first-are-short",
        turned(ACCOUNTS_QUERY, "", _last_page_short("accounts", "currentPage")),
    ),
    fault(
        "PAGE-039", "third-account-page-is-the-first", handled(ACCOUNTS_QUERY, _first_page_again("accounts"))
    ),
    fault(
        "ACCOUNT-029", "an-account-twice-on-a-page", turned(ACCOUNTS_QUERY, "", _one_item_twice("accounts"))
    ),
    fault("LIMIT-010", "accounts-begin-with-page-one", _another_default(ACCOUNTS_QUERY, page=1)),
    fault("LIMIT-011", "accounts-default-size-ten", _another_default(ACCOUNTS_QUERY, size=10)),
    # The transfer orders.
    fault("PAGE-035", "orders-page-from-one", reported(ORDERS, "", number=lambda page: page + 1)),
    fault("PAGE-035", "orders-page-ignored", ignoring(ORDERS, "page")),
    fault("PAGE-035", "orders-page-wrong-past-the-first", turned_by_page(ORDERS, _off_by_one_from(1))),
    fault("PAGE-036", "order-pages-one-too-many", reported(ORDERS, "", totalPages=lambda pages: pages + 1)),
    fault("PAGE-037", "orders-size-ignored", _at_least(ORDERS, 20)),
    fault("PAGE-037", "orders-one-more-than-asked", handled(ORDERS, _one_more)),
    fault("PAGE-038", "orders-size-told-is-twenty", reported(ORDERS, "", size=20)),
    fault("PAGE-025", "order-counts-as-text", reported(ORDERS, "", totalElements=str)),
    fault("PAGE-040", "order-pages-overlap", handled(ORDERS, _next_page_too("content", "number"))),
    fault(
        "PAGE-040",
        "order-pages-past-the-first-are-short",
        turned(ORDERS, "", _last_page_short("content", "number")),
    ),
    fault(
        "ORDER-032",
        "an-order-twice-on-a-page",
        turned(ORDERS, "", _one_item_twice("content")),
        also="ORDER-023 ORDER-024",
    ),
    fault("LIMIT-012", "orders-begin-with-page-one", _another_default(ORDERS, page=1)),
    fault("LIMIT-013", "orders-default-size-fifty", _another_default(ORDERS, size=50)),
    # The login history.
    fault("HISTORY-012", "history-pages-of-ten", asked(HISTORY, lambda body: {"pageSize": 10} | body)),
    fault("HISTORY-014", "an-entry-twice-on-a-page", turned(HISTORY, "", _one_item_twice("items"))),
    fault("CHANNEL-058", "a-channel-twice-on-a-page", turned(CHANNELS_QUERY, "", _one_item_twice("items"))),
    fault("CHANNEL-058", "a-channel-type-twice-on-a-page", turned(TYPES_QUERY, "", _one_item_twice("items"))),
)
