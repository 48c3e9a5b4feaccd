"""What a listing counts beside what it lists."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from conformance.checks.pages import PAGED, asked, asks_for_a_page, asks_for_none, counted
from conformance.checks.registry import check, key_of, successes
from conformance.spec.endpoints import ACCOUNTS_QUERY, TRANSFER_ORDERS
from conformance.spec.tables import LIMITS
from conformance.traffic.exchange import Exchange
from conformance.traffic.values import is_integer
from conformance.verdicts.comparisons import holds
from conformance.verdicts.findings import Comparison

FORMS = {ACCOUNTS_QUERY: ("accounts", "pageSize"), TRANSFER_ORDERS: ("content", "size")}
"""Where the listing stands, and what names the size of its pages."""


@check("MODEL-004", on=successes(*PAGED).where(lambda exchange: not asks_for_a_page(exchange)))
def an_only_page_holds_what_is_counted(exchange: Exchange) -> Iterator[Comparison]:
    names = ("pagination.totalRecords", "pagination.totalPages", "pagination.pageSize")
    listed = exchange.at("data.items")
    if isinstance(listed, list) and all(is_integer(exchange.at(f"data.{name}")) for name in names):
        total, pages, size = (counted(exchange, name) for name in names)
        if pages == 1 and 0 < total <= size:
            yield _as_many(exchange, "data.pagination.totalRecords", total, len(listed))


@check("MODEL-004", on=successes(*FORMS))
def the_last_page_holds_what_is_left(exchange: Exchange) -> Iterator[Comparison]:
    listing, size_name = FORMS[key_of(exchange)]
    names, page = ("totalElements", "totalPages", size_name), asked(exchange, "page", LIMITS.page)
    listed = exchange.at(f"data.{listing}")
    if not isinstance(listed, list) or not all(is_integer(exchange.at(f"data.{name}")) for name in names):
        return
    total, pages, size = (counted(exchange, name) for name in names)
    is_of_its_size = asks_for_none(exchange, "size") or asked(exchange, "size", LIMITS.size) == size
    if is_of_its_size and size > 0 and page == pages - 1 and pages == ceil(total / size):
        yield _as_many(exchange, "data.totalElements", total, page * size + len(listed))


def _as_many(exchange: Exchange, path: str, total: int, number: int) -> Comparison:
    message = f"the count is {total}, and {number} are listed"
    return holds(exchange, path, total == number, number, message=message)
