"""The three forms in which listings come in pages (chapter "Pagination forms")."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from reference_impl.errors import INVALID, Refusal
from reference_impl.portal import Portal, Record
from reference_impl.shapes import Body


class Window(NamedTuple):
    """A page, counted from 0, and how many items one has."""

    page: int
    size: int

    def of(self, items: Sequence[Record]) -> Sequence[Record]:
        return items[self.page * self.size : (self.page + 1) * self.size]


def window(portal: Portal, total: int, *, page: int | None, size: int | None) -> Window:
    """The page to show; raises Refusal on what this portal does not accept."""
    size = _size(portal, size)
    page = _page(portal, page or 0, last=max(pages(total, size) - 1, 0))
    return Window(page, size)


def pages(total: int, size: int) -> int:
    return -(-total // size)


def _size(portal: Portal, size: int | None) -> int:
    if size is None:
        return portal.limits.default_page_size
    too_large = size > portal.limits.max_page_size
    if size < 1 or (too_large and portal.choices.size_above_max == "refused"):
        raise Refusal(INVALID)
    return min(size, portal.limits.max_page_size)


def _page(portal: Portal, page: int, *, last: int) -> int:
    if page < 0:
        if portal.choices.page_negative == "refused":
            raise Refusal(INVALID)
        return 0
    if page <= last or portal.choices.page_out_of_range == "empty":
        return page
    if portal.choices.page_out_of_range == "refused":
        raise Refusal(INVALID)
    return last


def with_pagination(portal: Portal, resource: str, records: Sequence[Record], body: Body) -> dict[str, Any]:
    """``items`` and ``pagination``; ``page`` counts from 1."""
    page = body.get("page")
    asked = None if page is None else page - 1
    at = window(portal, len(records), page=asked, size=body.get("pageSize"))
    shown, total = at.of(records), pages(len(records), at.size)
    return {
        "items": portal.views(resource, shown),
        "pagination": {
            "totalPages": total,
            "totalRecords": len(records),
            "currentPage": at.page + 1,
            "pageSize": at.size,
            "hasNext": at.page + 1 < total,
            "empty": not shown,
            "paginated": True,
        },
    }


def of_accounts(portal: Portal, records: Sequence[Record], body: Body) -> dict[str, Any]:
    at = window(portal, len(records), page=body.get("page"), size=body.get("size"))
    return {
        "accounts": portal.views("account", at.of(records)),
        "totalElements": len(records),
        "totalPages": pages(len(records), at.size),
        "currentPage": at.page,
        "pageSize": at.size,
    }


def of_orders(portal: Portal, records: Sequence[Record], body: Body) -> dict[str, Any]:
    at = window(portal, len(records), page=body.get("page"), size=body.get("size"))
    return {
        "content": portal.views("transfer order", at.of(records)),
        "totalElements": len(records),
        "totalPages": pages(len(records), at.size),
        "size": at.size,
        "number": at.page,
    }
