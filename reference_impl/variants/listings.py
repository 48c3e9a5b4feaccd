"""Pages, filters, sorts, and what a deployment holds (chapters "Pagination forms" and of the listings)."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from reference_impl.changes import Change, chosen, limited, together
from reference_impl.faults import operations as op
from reference_impl.faults.fault import asked, fielded, first, reported, ruled, turned
from reference_impl.limits import Limits
from reference_impl.portal import Caller, Portal, Record
from reference_impl.shapes import Body, Unfit
from reference_impl.variants.variant import enveloped, may, permitted, refuse, refused, seeing
from reference_impl.wrappers import Answer, Seen

DAY = 86400.0
PAGED = (op.HISTORY, op.TYPES_QUERY, op.CHANNELS_QUERY)


def _one_empty_page(page: Record) -> None:
    """An empty listing has one page, which is empty."""
    if 0 in (page.get("totalElements"), page.get("totalRecords")):
        page["totalPages"] = 1


def _no_first_page(page: Record) -> None:
    """Gives an empty listing the page number 0."""
    if page.get("totalRecords") == 0:
        page["currentPage"] = 0


def _nothing_is_no_page(seen: Seen, answer: Answer) -> None:
    """A page of nothing is refused, the first one too."""
    data = answer.body["data"]
    if answer.body["success"] and not data.get("items", data.get("accounts")):
        refuse(answer, 400, "VALIDATION.INVALID_PARAMETER")


def _ten_at_least(body: Body) -> Body:
    size = body.get("size")
    return body | {"size": 10} if isinstance(size, int) and 0 < size < 10 else body


def _filters_by(is_right: Callable[[Any], bool]) -> Change:
    """Coded filters take some values only."""

    def rule(value: Any, limits: Limits) -> Any:
        if not is_right(value):
            raise Unfit
        return value

    return together(
        ruled(op.ACCOUNTS_QUERY, "accountStatus", rule),
        ruled(op.ACCOUNTS_QUERY, "accountPortal", rule),
        ruled(op.TYPES_QUERY, "typeStatus", rule),
    )


def _not_null(operation: str, *names: str) -> Change:
    return together(
        *(fielded(operation, name, lambda field: replace(field, nullable=False)) for name in names)
    )


def _with_those_beneath(portal: Portal, caller: Caller, body: Body, account: Record) -> bool:
    """Filters by institution: the platform includes all accounts, other institutions only their own."""
    wanted = body.get("institutionBizId") or ""
    is_platform = portal.records["institution"].get(wanted, {}).get("institutionType") == "PLATFORM"
    return not wanted or account["institutionBizId"] == wanted or is_platform


_LETTERS = str.maketrans("админcp", "admincp")


def _written_in_other_letters(portal: Portal, caller: Caller, body: Body) -> None:
    for account in portal.records["account"].values():
        if account["accountName"] == "Person 07":
            account["accountName"] = "Админ"


def _by_sound(portal: Portal, caller: Caller, body: Body, account: Record) -> bool:
    """Names are looked for as they sound."""
    return (body.get("name") or "").casefold() in account["accountName"].casefold().translate(_LETTERS)


def _words(text: str | None) -> set[str]:
    return set(re.findall(r"\w+", (text or "").casefold()))


def _by_words(portal: Portal, caller: Caller, body: Body, account: Record) -> bool:
    """Filters by the words of an address; one common word suffices."""
    words = _words(body.get("email"))
    return not words or not words.isdisjoint(_words(account["accountEmail"]))


def _by_time_only(body: Body) -> Body:
    return {name: value for name, value in body.items() if name != "sort" or value.startswith("createdAt")}


def _completed_late(portal: Portal, caller: Caller, body: Body) -> None:
    """Some orders took weeks, and some days."""
    now = portal.now()
    for at, order in enumerate(portal.records["transfer order"].values()):
        if at % 7 == 0 and order["createdAt"] < now - 41 * DAY and order["completedAt"]:
            order["completedAt"] = order["createdAt"] + 40 * DAY
        elif at % 7 == 1 and order["completedAt"]:
            order["completedAt"] = min(order["createdAt"] + 3 * DAY, now)


def _completed_within(portal: Portal, caller: Caller, body: Body, order: Record) -> bool:
    """Filters orders by completion time, or by creation time if incomplete."""
    now = portal.now()
    start, end = body.get("startTime", now - 30 * DAY), body.get("endTime", now)
    return bool(start <= (order["completedAt"] or order["createdAt"]) <= end)


def _over_a_month(portal: Portal, caller: Caller, body: Body) -> bool:
    now = portal.now()
    return bool(body.get("endTime", now) - body.get("startTime", now - 30 * DAY) > 31 * DAY)


VARIANTS = permitted(
    "pages out of range and large sizes are not described",
    may("last-page-for-one-out-of-range: page-range", chosen(page_out_of_range="last")),
    may("page-out-of-range-refused: page-range", chosen(page_out_of_range="refused")),
    may("negative-page-is-the-first: negative", chosen(page_negative="first")),
    "the maximum page size is not shown",
    may("large-size-refused: large-size", chosen(size_above_max="refused")),
    may("pages-of-twenty-at-most: large-size", limited(max_page_size=20)),
    may("pages-without-bound: large-size", limited(max_page_size=1_000_000)),
    "the least page size is not shown",
    may(
        "pages-of-ten-at-least: small-size",
        asked(op.ACCOUNTS_QUERY, _ten_at_least),
        asked(op.ORDERS, _ten_at_least),
        departs="PAGE-029 PAGE-038",
    ),
    "the page size of these listings is not stated",
    may(
        "pages-of-fifty-by-default: default-size",
        asked(op.TYPES_QUERY, lambda body: {"pageSize": 50} | body),
        asked(op.CHANNELS_QUERY, lambda body: {"pageSize": 50} | body),
    ),
    "how many pages an empty listing has is not stated",
    may(
        "one-empty-page",
        turned(op.ACCOUNTS_QUERY, "", _one_empty_page),
        turned(op.ORDERS, "", _one_empty_page),
        *(turned(operation, "pagination", _one_empty_page) for operation in PAGED),
    ),
    "which page an empty listing has is not stated",
    may(
        "no-first-page-of-nothing: empty-page",
        *(turned(operation, "pagination", _no_first_page) for operation in PAGED),
    ),
    may(
        "nothing-is-no-page: empty-page",
        enveloped(_nothing_is_no_page, op.ACCOUNTS_QUERY, op.CHANNELS_QUERY, op.TYPES_QUERY),
    ),
    "what paginated says is not stated",
    may("never-paginated", *(reported(operation, "pagination", paginated=False) for operation in PAGED)),
    # Filters.
    "how the text filters match is not stated",
    may("texts-are-matched-whole", chosen(text_filters="equals")),
    "how a text is matched is not stated",
    may(
        "emails-by-words", seeing(op.ACCOUNTS_QUERY, "account", _by_words, email=None), departs="ACCOUNT-044"
    ),
    "the form of coded filters is not stated",
    may("filters-by-number: filter-form", _filters_by(lambda value: type(value) is int)),
    may(
        "filters-by-code: filter-form",
        _filters_by(lambda value: isinstance(value, str) and not value.isdigit()),
    ),
    "nullable stands behind the last of several names",
    may(
        "only-the-status-is-nullable",
        _not_null(op.TYPES_QUERY, "bizId", "typeCode"),
        _not_null(op.CHANNELS_QUERY, "bizId", "institutionBizId", "channelCategory"),
    ),
    "how a list is written in a query is not stated",
    may("statuses-repeated: statuses", chosen(statuses_form="repeated")),
    may("statuses-by-commas: statuses", chosen(statuses_form="comma")),
    "the parameter table marks it required",
    may("statuses-required: statuses-required", chosen(statuses_required=True)),
    "what a filter takes is not stated",
    may(
        "institutions-with-those-beneath: account-institutions",
        seeing(op.ACCOUNTS_QUERY, "account", _with_those_beneath, institutionBizId=None),
    ),
    may(
        "names-by-their-sound: account-names",
        seeing(op.ACCOUNTS_QUERY, "account", _by_sound, name=None),
        first(op.ACCOUNTS_QUERY, _written_in_other_letters),
    ),
    "whether a listing holds the caller is not stated",
    may(
        "caller-is-not-listed: listed-accounts",
        seeing(op.ACCOUNTS_QUERY, "account", lambda _, caller, __, row: row["bizId"] != caller.account_id),
    ),
    # Transfer orders.
    "how an unknown sort is answered is not stated",
    may("unknown-sort-ignored: sort", chosen(sort_unknown="ignored")),
    "by which fields orders can be sorted is not stated",
    may("orders-are-sorted-by-time-only: sort", asked(op.ORDERS, _by_time_only)),
    "how an unknown workspace is answered is not stated",
    may("unknown-workspace-has-no-orders", chosen(orders_of_unknown_workspace="empty")),
    "which time a range is of is not stated",
    may(
        "range-of-completion",
        seeing(op.ORDERS, "transfer order", _completed_within, startTime=0.0, endTime=float("inf")),
        first(op.ORDERS, _completed_late),
    ),
    "how wide a range may be is not stated",
    may("ranges-of-a-month-at-most: range", refused(op.ORDERS, "4000", _over_a_month)),
    "an order that is not completed has no time of completion",
    may("unfinished-orders", chosen(unfinished_orders=True)),
    # What a deployment holds.
    "what a deployment holds is not stated; listings are empty in samples",
    may("empty-system: records", chosen(empty_system=True)),
    may("few-records: records", chosen(few_records=True)),
)
