"""The three pagination forms and the limits of pages (chapters "Pagination forms", "Limits")."""

from collections.abc import Callable

from reference_impl.changes import Change, limited, together
from reference_impl.faults import operations as op
from reference_impl.faults.fault import answered, asked, ignoring, reported, turned
from reference_impl.portal import Record


def _rounded_down(page: Record) -> None:
    page["totalPages"] = page.get("totalRecords", page.get("totalElements")) // page["pageSize"]


def _last_page_short(listing: str, page: str) -> Callable[[Record], None]:
    """Past the first page the last item is dropped."""

    def turn(data: Record) -> None:
        if data[page] > 0:
            data[listing] = data[listing][:-1]

    return turn


def _another_default(operation: str, **defaults: int) -> Change:
    return asked(operation, lambda body: defaults | {k: v for k, v in body.items() if v is not None})


ROWS = {
    "PAGE-008 history-pages-rounded-down": turned(op.HISTORY, "pagination", _rounded_down),
    "PAGE-009 history-page-from-zero": reported(op.HISTORY, "pagination", currentPage=lambda page: page - 1),
    "PAGE-010 types-never-have-a-next-page": reported(op.TYPES_QUERY, "pagination", hasNext=False),
    "PAGE-011 history-always-empty": reported(op.HISTORY, "pagination", empty=True),
    "PAGE-013 history-holds-more-than-its-size": reported(op.HISTORY, "pagination", pageSize=10),
    "PAGE-014 types-page-before-another-is-short": turned(
        op.TYPES_QUERY, "", lambda data: data.update(items=data["items"][:19])
    ),
    "PAGE-026 accounts-page-from-one": reported(op.ACCOUNTS_QUERY, "", currentPage=lambda page: page + 1),
    "PAGE-027 account-pages-rounded-down": turned(op.ACCOUNTS_QUERY, "", _rounded_down),
    "PAGE-028 accounts-all-on-one-page": together(
        limited(max_page_size=10_000), asked(op.ACCOUNTS_QUERY, lambda body: body | {"size": 10_000})
    ),
    "PAGE-029 accounts-size-told-is-twenty": reported(op.ACCOUNTS_QUERY, "", pageSize=20),
    "PAGE-039 account-pages-past-the-first-are-short": turned(
        op.ACCOUNTS_QUERY, "", _last_page_short("accounts", "currentPage")
    ),
    "LIMIT-010 accounts-begin-with-page-one": _another_default(op.ACCOUNTS_QUERY, page=1),
    "LIMIT-011 accounts-default-size-ten": _another_default(op.ACCOUNTS_QUERY, size=10),
    "PAGE-035 orders-page-ignored": ignoring(op.ORDERS, "page"),
    "PAGE-036 order-pages-one-too-many": reported(op.ORDERS, "", totalPages=lambda pages: pages + 1),
    "PAGE-037 orders-one-more-than-asked": answered(
        op.ORDERS,
        lambda call, data: (
            data | {"content": data["content"] + call.run(page=data["number"] + 1)["content"][:1]}
        ),
    ),
    "PAGE-038 orders-size-told-is-twenty": reported(op.ORDERS, "", size=20),
    "PAGE-025 order-counts-as-text": reported(op.ORDERS, "", totalElements=str),
    "PAGE-040 order-pages-past-the-first-are-short": turned(
        op.ORDERS, "", _last_page_short("content", "number")
    ),
    "LIMIT-012 orders-begin-with-page-one": _another_default(op.ORDERS, page=1),
    "LIMIT-013 orders-default-size-fifty": _another_default(op.ORDERS, size=50),
}
