"""The three pagination forms and their relations (chapter "Pagination forms")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from math import ceil
from operator import itemgetter

from conformance.checks.registry import Selection, check, has, reading, successes, with_data
from conformance.spec.endpoints import (
    ACCOUNTS_QUERY,
    CHANNEL_TYPES_QUERY,
    CHANNELS_QUERY,
    ROLES,
    SESSIONS,
    SESSIONS_HISTORY,
    TRANSFER_ORDERS,
)
from conformance.spec.operations import UNDESCRIBED
from conformance.spec.tables import LIMITS
from conformance.traffic.exchange import ABSENT, Exchange, Json
from conformance.traffic.values import is_integer
from conformance.verdicts.comparisons import contradicts, equal, holds
from conformance.verdicts.findings import HELD, Comparison

PAGED = (*with_data("LoginHistoryPage", "ChannelTypePage", "ChannelPage"), UNDESCRIBED)
"""Where the object ``pagination`` is shown, and where it may be met."""


def _on(keys: tuple[str, ...], *names: str, under: str = "data") -> Selection:
    """Selects answers in which all these counts are integers that can be reckoned with."""
    selected = successes(*keys)
    for name in names:
        selected = selected.where(has(f"{under}.{name}", is_integer))
    return selected if under == "data" else selected.where(has("data.items", list))


def counted(exchange: Exchange, name: str) -> int:
    return int(exchange.at(f"data.{name}"))


def items(exchange: Exchange, name: str = "items") -> list[Json]:
    listing = exchange.at(f"data.{name}" if name else "data")
    return listing if isinstance(listing, list) else []


def pages_for(total: int, size: int) -> tuple[int, ...]:
    """The page counts that fit; an empty listing has none, or one empty page."""
    return (0, 1) if total == 0 else (ceil(total / size),)


# The object ``pagination``, beside ``items``.


FIELDS_OF_PAGINATION = {
    "totalPages": "PAGE-001",
    "totalRecords": "PAGE-002",
    "currentPage": "PAGE-003",
    "pageSize": "PAGE-004",
    "hasNext": "PAGE-005",
    "empty": "PAGE-006",
    "paginated": "PAGE-007",
}
"""Four integers and three booleans, by name with their rules. Where a listing is described its shape decides
them."""


def _type_rule(name: str, requirement: str) -> None:
    path, is_count = f"data.pagination.{name}", name not in ("hasNext", "empty", "paginated")

    @check(requirement, on=successes(UNDESCRIBED).where(has_a_pagination_object))
    def field_of_the_pagination_object_has_its_type(exchange: Exchange) -> Iterator[Comparison]:
        value = exchange.at(path)
        if value is not ABSENT and not (is_integer(value) if is_count else isinstance(value, bool)):
            yield contradicts(exchange, path, "an integer" if is_count else "a boolean", value)


def has_a_pagination_object(exchange: Exchange) -> bool:
    """Whether ``pagination`` stands beside ``items``, and has more than half of its fields."""
    pagination = exchange.at("data.pagination")
    is_paginated = type(pagination) is dict and type(exchange.at("data.items")) is list
    return is_paginated and len(FIELDS_OF_PAGINATION.keys() & pagination.keys()) > 3


for _name, _requirement in FIELDS_OF_PAGINATION.items():
    _type_rule(_name, _requirement)


@check("PAGE-008", on=_on(PAGED, "totalPages", "totalRecords", "pageSize", under="data.pagination"))
def total_pages_of_the_pagination_object(exchange: Exchange) -> Iterator[Comparison]:
    size, total = counted(exchange, "pagination.pageSize"), counted(exchange, "pagination.totalRecords")
    if size > 0 and total >= 0:
        right = pages_for(total, size)
        pages = counted(exchange, "pagination.totalPages")
        message = f"{pages} pages of {size} for {total} records, which make {right[-1]}: one number is wrong"
        yield holds(exchange, "data.pagination.totalPages", pages in right, right[-1], message=message)


def asks_for_a_page(exchange: Exchange) -> bool:
    """Whether the request may select a page by any field, or its body is unknown."""
    if exchange.request.is_unknown:
        return True
    sent = exchange.sent if isinstance(exchange.sent, dict) else {}
    return any("page" in name.lower() for name in sent) or "page" in exchange.request.parts.query.lower()


@check(
    "PAGE-009",
    on=_on(PAGED, "currentPage", under="data.pagination").where(
        lambda exchange: not asks_for_a_page(exchange)
    ),
)
def first_page_of_the_pagination_object_is_one(exchange: Exchange) -> Iterator[Comparison]:
    """An empty listing may have no first page."""
    is_empty = exchange.at("data.pagination.totalRecords") == 0 and not items(exchange)
    if not is_empty or exchange.at("data.pagination.currentPage") != 0:
        yield equal(exchange, "data.pagination.currentPage", 1)


@check("PAGE-010", on=_on(PAGED, "currentPage", "totalPages", under="data.pagination"))
def has_next_until_the_last_page(exchange: Exchange) -> Iterator[Comparison]:
    """Zero-based pages are PAGE-009's matter; their last page precedes ``totalPages``. With only full pages,
    the requested page number may mean either base."""
    if isinstance(exchange.at("data.pagination.hasNext"), bool):
        page, pages = (counted(exchange, f"pagination.{name}") for name in ("currentPage", "totalPages"))
        if page == pages - 1 > 0 and asks_for_a_page(exchange) and _are_all_full(exchange, pages):
            return
        is_empty = exchange.at("data.pagination.totalRecords") == 0
        before_the_end = pages - 1 if _is_counted_from_zero(exchange, page) else pages
        yield equal(exchange, "data.pagination.hasNext", page < before_the_end and not is_empty)


def _are_all_full(exchange: Exchange, pages: int) -> bool:
    size = len(items(exchange))
    at = {name: exchange.at(f"data.pagination.{name}") for name in ("pageSize", "totalRecords")}
    return at == {"pageSize": size, "totalRecords": pages * size}


def _is_counted_from_zero(exchange: Exchange, page: int) -> bool:
    """Whether a page of items has the number 0, or holds the few that are left after as many full pages."""
    number = len(items(exchange))
    size, total = (exchange.at(f"data.pagination.{name}") for name in ("pageSize", "totalRecords"))
    if page == 0 or not is_integer(size) or not is_integer(total):
        return page == 0 and number > 0
    return bool(0 < number < size and page * size + number == total)


@check("PAGE-011", on=_on(PAGED, "totalRecords", under="data.pagination"))
def empty_says_whether_there_is_something(exchange: Exchange) -> Iterator[Comparison]:
    if not isinstance(exchange.at("data.pagination.empty"), bool):
        return
    if counted(exchange, "pagination.totalRecords") == 0:
        yield equal(exchange, "data.pagination.empty", True)
    elif items(exchange):
        yield equal(exchange, "data.pagination.empty", False)


@check("PAGE-013", on=_on(PAGED, "pageSize", under="data.pagination"))
def a_page_holds_no_more_than_its_size(exchange: Exchange) -> Iterator[Comparison]:
    size, number = counted(exchange, "pagination.pageSize"), len(items(exchange))
    yield holds(exchange, "data.items", number <= size, f"at most {size} items", actual=f"{number} items")


@check("PAGE-014", on=_on(PAGED, "pageSize", under="data.pagination"))
def a_page_before_another_is_full(exchange: Exchange) -> Iterator[Comparison]:
    if exchange.at("data.pagination.hasNext") is True:
        size, number = counted(exchange, "pagination.pageSize"), len(items(exchange))
        message = f"a page before the last has {number} of {size} items: {size - number} may be on no page"
        wanted, actual = f"{size} items", f"{number} items"
        yield holds(exchange, "data.items", number >= size, wanted, actual=actual, message=message)


@reading("paginated", on=successes(*PAGED))
def what_paginated_says(exchange: Exchange) -> Iterator[Json]:
    value = exchange.at("data.pagination.paginated")
    if value is not ABSENT:
        yield value


# The account query and the transfer orders.


def asked(exchange: Exchange, name: str, default: int) -> int | None:
    """The page or size that a request asks for; None where that is not known, or no plain number, so that
    nothing follows."""
    if exchange.request.method == "POST":
        if exchange.request.is_unknown:
            return None
        value = exchange.sent.get(name) if isinstance(exchange.sent, dict) else None
        return default if value is None else value if is_integer(value) else None
    parts = [part.partition("=") for part in exchange.request.parts.query.split("&")]
    values = [value for key, _, value in parts if key == name]
    if not values:
        return default
    return int(values[0]) if len(values) == 1 and values[0].isascii() and values[0].isdigit() else None


def has_the_page_asked_for(exchange: Exchange) -> bool:
    """Whether the page that was asked for exists: past the last one anything may be answered."""
    page, size = asked(exchange, "page", LIMITS.page), asked(exchange, "size", LIMITS.size)
    total = exchange.at("data.totalPages")
    if page is None or size is None or not is_integer(total):
        return False
    return size > 0 and 0 <= page < max(int(total), 1)


def has_a_usual_size(exchange: Exchange) -> bool:
    """Whether the size asked for lies within the default, so that no maximum can have cut it."""
    size = asked(exchange, "size", LIMITS.size)
    return size is not None and 0 < size <= LIMITS.size


def asks_for_none(exchange: Exchange, name: str) -> bool:
    """Whether a request surely leaves the page or size to the default."""
    if exchange.request.method == "POST":
        if exchange.request.is_unknown:
            return False
        sent = exchange.sent
        return sent is ABSENT or (isinstance(sent, dict) and name not in sent)
    return f"{name}=" not in exchange.request.parts.query


@check("PAGE-025", on=successes(ACCOUNTS_QUERY, TRANSFER_ORDERS))
def counts_are_integers(exchange: Exchange) -> Iterator[Comparison]:
    data = exchange.data if isinstance(exchange.data, dict) else {}
    for name in ("totalElements", "totalPages", "currentPage", "pageSize", "size", "number"):
        if name in data:
            yield holds(exchange, f"data.{name}", is_integer(data[name]), "an integer")


def _page_rules(
    key: str, listing: str, page: str, size: str, *, ids: tuple[str, str, str, str, str, str]
) -> None:
    echoed_id, total_id, bound_id, size_id, page_default_id, size_default_id = ids
    _page_number_rules(key, page, size, ids=(echoed_id, page_default_id, total_id))
    _page_size_rules(key, listing, size, ids=(size_default_id, bound_id, size_id))


def _page_number_rules(key: str, page: str, size: str, *, ids: tuple[str, str, str]) -> None:
    echoed_id, page_default_id, total_id = ids
    by_page = _on((key,), page, "totalPages").where(has_the_page_asked_for)

    @check(echoed_id, on=by_page.where(lambda exchange: not asks_for_none(exchange, "page")))
    def the_page_is_the_one_asked_for(exchange: Exchange) -> Iterator[Comparison]:
        yield equal(exchange, f"data.{page}", asked(exchange, "page", LIMITS.page))

    @check(page_default_id, on=_on((key,), page).where(lambda exchange: asks_for_none(exchange, "page")))
    def the_first_page_is_the_default(exchange: Exchange) -> Iterator[Comparison]:
        yield equal(exchange, f"data.{page}", LIMITS.page)

    @check(total_id, on=_on((key,), "totalPages", "totalElements", size))
    def total_pages_follows_from_total_elements(exchange: Exchange) -> Iterator[Comparison]:
        """By the size that the answer shows, or by the size that was asked for: one of them may be wrong."""
        per_page, total = counted(exchange, size), counted(exchange, "totalElements")
        if per_page > 0 and total >= 0:
            pages, right = counted(exchange, "totalPages"), pages_for(total, per_page)
            by_asked = pages_for(total, asked(exchange, "size", LIMITS.size) or per_page)
            yield holds(exchange, "data.totalPages", pages in right or pages in by_asked, right[-1])


def _page_size_rules(key: str, listing: str, size: str, *, ids: tuple[str, str, str]) -> None:
    size_default_id, bound_id, size_id = ids

    @check(size_default_id, on=_on((key,), size).where(lambda exchange: asks_for_none(exchange, "size")))
    def the_default_size_is_twenty(exchange: Exchange) -> Iterator[Comparison]:
        yield equal(exchange, f"data.{size}", LIMITS.size)

    @check(bound_id, on=successes(key).where(has_a_usual_size))
    def a_page_holds_no_more_than_asked_for(exchange: Exchange) -> Iterator[Comparison]:
        """The announced size also counts if below the default: portals may enforce a minimum size."""
        wanted, number = asked(exchange, "size", LIMITS.size) or 0, len(items(exchange, listing))
        if is_integer(announced := exchange.at(f"data.{size}")) and announced < LIMITS.size:
            wanted = max(wanted, int(announced))
        place, actual = f"data.{listing}", f"{number} items"
        yield holds(exchange, place, number <= wanted, f"at most {wanted}", actual=actual)

    @check(
        size_id,
        on=_on((key,), size)
        .where(has_a_usual_size)
        .where(lambda exchange: not asks_for_none(exchange, "size")),
    )
    def the_size_is_the_one_asked_for(exchange: Exchange) -> Iterator[Comparison]:
        yield equal(exchange, f"data.{size}", asked(exchange, "size", LIMITS.size))


def no_id_twice(exchange: Exchange, path: str, listed: list[Json], name: str = "bizId") -> Comparison:
    """No two records of a listing have the same id; records without a text there say nothing."""
    try:
        if len(set(map(itemgetter(name), listed))) == len(listed):
            return HELD
    except (KeyError, TypeError):
        pass  # some are no records, or have no id, or another than a text
    ids = [
        record[name] for record in listed if isinstance(record, dict) and isinstance(record.get(name), str)
    ]
    twice = [value for value, times in Counter(ids).items() if times > 1]
    message = "a record is listed twice: another may be on no page" if path != "data" else ""
    return holds(exchange, path, not twice, f"each {name} once", actual={"twice": twice}, message=message)


def _unique_rule(requirement: str, *keys: str, listing: str = "", id: str = "bizId") -> None:
    """``listing``: the field of the data that has the records; empty where the data is a list itself."""

    @check(requirement, on=successes(*keys))
    def nothing_is_listed_twice(exchange: Exchange) -> Iterator[Comparison]:
        path = f"data.{listing}" if listing else "data"
        yield no_id_twice(exchange, path, items(exchange, listing), id)


_unique_rule("ACCOUNT-029", ACCOUNTS_QUERY, listing="accounts")
_unique_rule("ORDER-032", TRANSFER_ORDERS, listing="content")
_unique_rule("CHANNEL-058", CHANNEL_TYPES_QUERY, CHANNELS_QUERY, listing="items")
_unique_rule("HISTORY-014", SESSIONS_HISTORY, listing="items")
_unique_rule("SESSION-024", SESSIONS, id="sessionId")
_unique_rule("ROLE-013", ROLES)

_page_rules(
    ACCOUNTS_QUERY, "accounts", "currentPage", "pageSize",
    ids=("PAGE-026", "PAGE-027", "PAGE-028", "PAGE-029", "LIMIT-010", "LIMIT-011"),
)  # fmt: skip
_page_rules(
    TRANSFER_ORDERS, "content", "number", "size",
    ids=("PAGE-035", "PAGE-036", "PAGE-037", "PAGE-038", "LIMIT-012", "LIMIT-013"),
)  # fmt: skip
