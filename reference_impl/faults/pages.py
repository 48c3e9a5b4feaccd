"""The three pagination forms and the limits of pages (chapters "Pagination forms", "Limits")."""

from collections.abc import Callable
from math import ceil
from typing import Any

from reference_impl.changes import handled, limited, together
from reference_impl.faults.fault import asked, ignoring, of, reported, turned, turned_by_page
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
    return together((limited(max_page_size=10_000), asked(operation, lambda body: body | {"size": 10_000})))


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
    of(
        "PAGE-010",
        "a-full-page-has-a-next-one",
        HISTORY,
        apply=turned(HISTORY, "", _further_while_full),
    ),
    of(
        "PAGE-008",
        "history-counts-one-more-on-its-last-page",
        HISTORY,
        apply=turned(HISTORY, "pagination", _one_more_at_the_end),
    ),
    of(
        "PAGE-008",
        "history-pages-rounded-down",
        HISTORY,
        apply=turned(HISTORY, "pagination", _rounded_down("totalRecords", "pageSize")),
    ),
    of(
        "PAGE-008",
        "channel-pages-one-too-many",
        CHANNELS_QUERY,
        apply=turned(
            CHANNELS_QUERY,
            "pagination",
            lambda page: page.update(totalPages=ceil(page["totalRecords"] / page["pageSize"]) + 1),
        ),
    ),
    of(
        "PAGE-009",
        "history-page-from-zero",
        HISTORY,
        apply=reported(HISTORY, "pagination", currentPage=lambda page: page - 1),
    ),
    of(
        "PAGE-009",
        "types-page-from-zero",
        TYPES_QUERY,
        apply=reported(TYPES_QUERY, "pagination", currentPage=lambda page: page - 1),
    ),
    of(
        "PAGE-009",
        "channels-page-from-zero",
        CHANNELS_QUERY,
        apply=reported(CHANNELS_QUERY, "pagination", currentPage=lambda page: page - 1),
    ),
    of(
        "PAGE-010",
        "types-never-have-a-next-page",
        TYPES_QUERY,
        apply=turned(TYPES_QUERY, "pagination", _never_next),
    ),
    of(
        "PAGE-010",
        "channels-always-have-a-next-page",
        CHANNELS_QUERY,
        apply=turned(CHANNELS_QUERY, "pagination", _next_where_full),
    ),
    of(
        "PAGE-011",
        "types-page-of-one-is-empty",
        TYPES_QUERY,
        apply=turned(TYPES_QUERY, "pagination", _empty_where_single),
    ),
    of("PAGE-011", "history-always-empty", HISTORY, apply=reported(HISTORY, "pagination", empty=True)),
    of(
        "PAGE-013",
        "history-holds-more-than-its-size",
        HISTORY,
        apply=reported(HISTORY, "pagination", pageSize=10),
    ),
    of(
        "PAGE-014",
        "types-page-before-another-is-short",
        TYPES_QUERY,
        apply=turned(TYPES_QUERY, "", lambda data: data.update(items=data["items"][:19])),
    ),
    # The account query.
    of(
        "PAGE-026",
        "accounts-page-from-one",
        ACCOUNTS_QUERY,
        apply=reported(ACCOUNTS_QUERY, "", currentPage=lambda page: page + 1),
    ),
    of(
        "PAGE-026",
        "accounts-page-always-zero",
        ACCOUNTS_QUERY,
        apply=reported(ACCOUNTS_QUERY, "", currentPage=0),
    ),
    of(
        "PAGE-026",
        "accounts-page-wrong-past-the-first",
        ACCOUNTS_QUERY,
        apply=turned_by_page(ACCOUNTS_QUERY, _off_by_one_from(1)),
    ),
    of(
        "PAGE-027",
        "account-pages-rounded-down",
        ACCOUNTS_QUERY,
        apply=turned(ACCOUNTS_QUERY, "", _rounded_down("totalElements", "pageSize")),
    ),
    of("PAGE-028", "accounts-size-ignored", ACCOUNTS_QUERY, apply=_at_least(ACCOUNTS_QUERY, 20)),
    of("PAGE-028", "accounts-all-on-one-page", ACCOUNTS_QUERY, apply=_everything(ACCOUNTS_QUERY)),
    of(
        "PAGE-029",
        "accounts-size-told-is-twenty",
        ACCOUNTS_QUERY,
        apply=reported(ACCOUNTS_QUERY, "", pageSize=20),
    ),
    of(
        "PAGE-025",
        "account-counts-as-text",
        ACCOUNTS_QUERY,
        apply=reported(ACCOUNTS_QUERY, "", totalElements=str),
    ),
    of(
        "PAGE-039",
        "account-pages-overlap",
        ACCOUNTS_QUERY,
        apply=handled(ACCOUNTS_QUERY, _next_page_too("accounts", "currentPage")),
    ),
    of(
        "PAGE-039",
        "account-pages-past-the-first-are-short",
        ACCOUNTS_QUERY,
        apply=turned(ACCOUNTS_QUERY, "", _last_page_short("accounts", "currentPage")),
    ),
    of(
        "PAGE-039",
        "third-account-page-is-the-first",
        ACCOUNTS_QUERY,
        apply=handled(ACCOUNTS_QUERY, _first_page_again("accounts")),
    ),
    of(
        "ACCOUNT-029",
        "an-account-twice-on-a-page",
        ACCOUNTS_QUERY,
        apply=turned(ACCOUNTS_QUERY, "", _one_item_twice("accounts")),
    ),
    of(
        "LIMIT-010",
        "accounts-begin-with-page-one",
        ACCOUNTS_QUERY,
        apply=_another_default(ACCOUNTS_QUERY, page=1),
    ),
    of(
        "LIMIT-011",
        "accounts-default-size-ten",
        ACCOUNTS_QUERY,
        apply=_another_default(ACCOUNTS_QUERY, size=10),
    ),
    # The transfer orders.
    of("PAGE-035", "orders-page-from-one", ORDERS, apply=reported(ORDERS, "", number=lambda page: page + 1)),
    of("PAGE-035", "orders-page-ignored", ORDERS, apply=ignoring(ORDERS, "page")),
    of(
        "PAGE-035",
        "orders-page-wrong-past-the-first",
        ORDERS,
        apply=turned_by_page(ORDERS, _off_by_one_from(1)),
    ),
    of(
        "PAGE-036",
        "order-pages-one-too-many",
        ORDERS,
        apply=reported(ORDERS, "", totalPages=lambda pages: pages + 1),
    ),
    of("PAGE-037", "orders-size-ignored", ORDERS, apply=_at_least(ORDERS, 20)),
    of("PAGE-037", "orders-one-more-than-asked", ORDERS, apply=handled(ORDERS, _one_more)),
    of("PAGE-038", "orders-size-told-is-twenty", ORDERS, apply=reported(ORDERS, "", size=20)),
    of("PAGE-025", "order-counts-as-text", ORDERS, apply=reported(ORDERS, "", totalElements=str)),
    of("PAGE-040", "order-pages-overlap", ORDERS, apply=handled(ORDERS, _next_page_too("content", "number"))),
    of(
        "PAGE-040",
        "order-pages-past-the-first-are-short",
        ORDERS,
        apply=turned(ORDERS, "", _last_page_short("content", "number")),
    ),
    of(
        "ORDER-032",
        "an-order-twice-on-a-page",
        ORDERS,
        apply=turned(ORDERS, "", _one_item_twice("content")),
        also="ORDER-023 ORDER-024",
    ),
    of("LIMIT-012", "orders-begin-with-page-one", ORDERS, apply=_another_default(ORDERS, page=1)),
    of("LIMIT-013", "orders-default-size-fifty", ORDERS, apply=_another_default(ORDERS, size=50)),
    # The login history.
    of(
        "HISTORY-012",
        "history-pages-of-ten",
        HISTORY,
        apply=asked(HISTORY, lambda body: {"pageSize": 10} | body),
    ),
    of(
        "HISTORY-014",
        "an-entry-twice-on-a-page",
        HISTORY,
        apply=turned(HISTORY, "", _one_item_twice("items")),
    ),
    of(
        "CHANNEL-058",
        "a-channel-twice-on-a-page",
        CHANNELS_QUERY,
        apply=turned(CHANNELS_QUERY, "", _one_item_twice("items")),
    ),
    of(
        "CHANNEL-058",
        "a-channel-type-twice-on-a-page",
        TYPES_QUERY,
        apply=turned(TYPES_QUERY, "", _one_item_twice("items")),
    ),
)
