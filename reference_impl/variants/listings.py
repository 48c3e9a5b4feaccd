"""Listings, filters, permissions, and what a deployment holds."""

from typing import Any

from reference_impl.changes import chosen, data_rewritten, limited, row, together
from reference_impl.faults.fault import reported, ruled, turned
from reference_impl.faults.operations import (
    ACCOUNTS_QUERY,
    CHANNELS_QUERY,
    FILE,
    HISTORY,
    ORDERS,
    ROLES,
    TYPES_QUERY,
)
from reference_impl.limits import Limits
from reference_impl.plan import Plan
from reference_impl.shapes import Unfit
from reference_impl.variants.variant import Variant, everywhere, may


def _number(value: Any, limits: Limits) -> Any:
    if not isinstance(value, int) or isinstance(value, bool):
        raise Unfit
    return value


def _symbol(value: Any, limits: Limits) -> Any:
    if not isinstance(value, str) or value.isdigit():
        raise Unfit
    return value


def _filters_by(rule: Any) -> Any:
    return together(
        ruled(ACCOUNTS_QUERY, "accountStatus", rule),
        ruled(ACCOUNTS_QUERY, "accountPortal", rule),
        ruled(TYPES_QUERY, "typeStatus", rule),
    )


def _all_may_all(plan: Plan) -> None:
    """Only the file read is said to need a permission."""
    for name in plan.rows:
        if name != FILE:
            row(name, permission=None)(plan)


def _one_empty_page(page: dict[str, Any]) -> None:
    """An empty listing has one page, which is empty."""
    for total in ("totalElements", "totalRecords"):
        if page.get(total) == 0:
            page["totalPages"] = 1


def _another_result(item: dict[str, Any]) -> None:
    item["loginResult"] = 10020001 + item["loginResult"]


def _another_mask(value: Any) -> Any:
    return value | {"password": "[hidden]"} if isinstance(value, dict) and "smtpHost" in value else value


def _backwards(data: Any) -> Any:
    return data[::-1]


_PAGES = "pages out of range and large sizes are not described"
_HOLDS = "what a deployment holds is not stated; listings are empty in samples"

VARIANTS: tuple[Variant, ...] = (
    may("last-page-for-one-out-of-range", _PAGES, chosen(page_out_of_range="last"), "page-range"),
    may("page-out-of-range-refused", _PAGES, chosen(page_out_of_range="refused"), "page-range"),
    may("negative-page-is-the-first", _PAGES, chosen(page_negative="first"), "negative"),
    may(
        "large-size-refused",
        "the maximum page size is not shown",
        chosen(size_above_max="refused"),
        "large-size",
    ),
    may(
        "pages-of-fifty-at-most",
        "the maximum page size is not shown",
        limited(max_page_size=50),
        "large-size",
    ),
    may(
        "pages-of-twenty-at-most",
        "the maximum page size is not shown",
        limited(max_page_size=20),
        "large-size",
    ),
    may(
        "unknown-sort-ignored",
        "how an unknown sort is answered is not stated",
        chosen(sort_unknown="ignored"),
        "sort",
    ),
    may(
        "unknown-workspace-has-no-orders",
        "how an unknown workspace is answered is not stated",
        chosen(orders_of_unknown_workspace="empty"),
    ),
    may(
        "one-empty-page",
        "how many pages an empty listing has is not stated",
        together(
            *(
                turned(operation, place, _one_empty_page)
                for operation, place in (
                    (ACCOUNTS_QUERY, ""),
                    (ORDERS, ""),
                    (HISTORY, "pagination"),
                    (TYPES_QUERY, "pagination"),
                    (CHANNELS_QUERY, "pagination"),
                )
            )
        ),
    ),
    may(
        "never-paginated",
        "what paginated says is not stated",
        together(
            *(
                reported(operation, "pagination", paginated=False)
                for operation in (HISTORY, TYPES_QUERY, CHANNELS_QUERY)
            )
        ),
    ),
    may("texts-are-matched-whole", "how the text filters match is not stated", chosen(text_filters="equals")),
    may("filters-by-number", "the form of coded filters is not stated", _filters_by(_number), "filter-form"),
    may("filters-by-code", "the form of coded filters is not stated", _filters_by(_symbol), "filter-form"),
    may(
        "statuses-repeated",
        "how a list is written in a query is not stated",
        chosen(statuses_form="repeated"),
        "statuses",
    ),
    may(
        "statuses-by-commas",
        "how a list is written in a query is not stated",
        chosen(statuses_form="comma"),
        "statuses",
    ),
    may(
        "statuses-required",
        "the parameter table marks it required",
        chosen(statuses_required=True),
        "statuses-required",
    ),
    may(
        "unknown-properties-rejected",
        "stated of initiate only, and as a cause of an error",
        chosen(unknown_properties="rejected"),
    ),
    may("roles-in-another-order", "the order of a listing is not stated", data_rewritten(_backwards, ROLES)),
    may(
        "login-results-by-other-numbers",
        "the meaning of loginResult is unspecified",
        turned(HISTORY, "items[]", _another_result),
    ),
    may("another-mask", "how a password is masked is not stated", everywhere(_another_mask)),
    may(
        "activating-takes-a-while",
        "the effect of activate on the status is not shown",
        chosen(activated_status="ACTIVATING"),
    ),
    may(
        "whitelist-keeps-nobody-out",
        "what an enabled whitelist does is not stated",
        chosen(whitelist_enforced=False),
    ),
    may("everybody-may-do-everything", "only the file read is said to need a permission", _all_may_all),
    may(
        "unfinished-orders",
        "an order that is not completed has no time of completion",
        chosen(unfinished_orders=True),
    ),
    may("empty-system", _HOLDS, chosen(empty_system=True), "records"),
    may("few-records", _HOLDS, chosen(few_records=True), "records"),
    may(
        "cautious-lists",
        _PAGES,
        chosen(
            page_out_of_range="refused",
            size_above_max="refused",
            sort_unknown="ignored",
            page_negative="first",
        ),
        "page-range large-size sort negative",
    ),
)
