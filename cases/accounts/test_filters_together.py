"""The account query's filters in company, and whether the one by state gives all accounts of a state (chapter
"Admin accounts")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import pytest

from cases.accounts.queries import LISTING, accounts, entry_as, form_of_filter, matching, own, total
from cases.premises import code_of
from conformance.cases import (
    PORTAL_TYPES,
    STATES,
    Account,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    equal,
    holds,
    mark,
)

FAMILIES: dict[str, Mapping[str, int]] = {"accountStatus": STATES["Account"], "accountPortal": PORTAL_TYPES}
SHOWN_AS = {"email": "accountEmail", "name": "accountName"}
MATCHES: dict[str, Callable[[dict[str, Json], Json], bool]] = {
    "accountStatus": lambda record, wanted: has_code(record, "accountStatus", wanted),
    "accountPortal": lambda record, wanted: has_code(record, "accountPortal", wanted),
    "institutionBizId": lambda record, wanted: record.get("institutionBizId") == wanted,
    "email": lambda record, wanted: has_text(record, "accountEmail", wanted),
    "name": lambda record, wanted: has_text(record, "accountName", wanted),
}
"""Each filter with its test of a record."""


def has_code(record: dict[str, Json], field: str, wanted: Json) -> bool:
    entry = record.get(field)
    return isinstance(entry, dict) and wanted in (entry.get("code"), entry.get("value"))


def has_text(record: dict[str, Json], field: str, wanted: Json) -> bool:
    return str(wanted).casefold() in str(record.get(field)).casefold()


TOGETHER = (
    ("accountStatus", "accountPortal"),
    ("accountStatus", "institutionBizId"),
    ("accountPortal", "institutionBizId"),
    ("email", "name"),
    tuple(MATCHES),
)


@mark.requirement("ACCOUNT-025")
@pytest.mark.parametrize("names", TOGETHER, ids=lambda names: " and ".join(names))
def test_filters_together_give_what_each_of_them_gives(
    portal: Portal, verify: Verify, admin: Account, names: tuple[str, ...]
) -> None:
    mine = own(portal, admin)
    filters = {name: filter_for_own(portal, admin, name, mine) for name in names}
    alone = [matching(portal, admin, **{name: value}) for name, value in filters.items()]

    together = matching(portal, admin, **filters)

    literal = [
        name for name, answer in zip(filters, alone, strict=True) if is_literal(answer, name, filters[name])
    ]
    wrong = [
        record.get("bizId")
        for record in accounts(together)
        if not all(MATCHES[name](record, filters[name]) for name in literal)
    ]
    verify("ACCOUNT-025", holds(together, LISTING, not wrong, filters, *alone, actual={"others": wrong}))
    fewest = min(total(exchange) for exchange in alone)
    if not fewest:
        raise Untestable("a filter for the caller's own account finds nobody", "target")
    if total(together) > fewest:  # others may have made accounts between the readings
        again = [matching(portal, admin, **{name: value}) for name, value in filters.items()]
        fewest = min(max(total(one), total(other)) for one, other in zip(alone, again, strict=True))
    fits = 1 <= total(together) <= fewest
    verify("ACCOUNT-025", holds(together, "data.totalElements", fits, f"1 to {fewest}", *alone))


@mark.requirement("ACCOUNT-025")
@pytest.mark.parametrize("names", [("email", "name"), ("name", "email"), ("accountStatus", "email")])
def test_filters_of_two_accounts_find_neither_by_one_of_them(
    portal: Portal, verify: Verify, admin: Account, names: tuple[str, str]
) -> None:
    """One filter is passed by the caller's own account, the other by an account that the first leaves out."""
    first, second = names
    own_value = filter_for_own(portal, admin, first, own(portal, admin))
    alone = matching(portal, admin, **{first: own_value})
    everyone = matching(portal, admin)
    strangers = [record for record in accounts(everyone) if not MATCHES[first](record, own_value)]
    others = [text for record in strangers if (text := str(record.get(SHOWN_AS[second]) or "").strip())]
    if not others or not is_literal(alone, first, own_value):
        raise Untestable(f"no account is left out by {first}", "environment")

    filters = {first: own_value, second: others[0]}
    together = matching(portal, admin, **filters)
    wrong = [record.get("bizId") for record in accounts(together) if not MATCHES[first](record, own_value)]
    verify("ACCOUNT-025", holds(together, LISTING, not wrong, filters, alone, actual={"others": wrong}))


@mark.requirement("ACCOUNT-025")
@pytest.mark.parametrize("names", [("accountPortal", "name"), ("accountStatus", "name")])
def test_a_coded_filter_that_leaves_an_account_out_does_so_beside_its_name(
    portal: Portal, verify: Verify, admin: Account, names: tuple[str, str]
) -> None:
    """Each code but that of the caller's own account, which the other filter finds."""
    field, other = names
    mine = own(portal, admin)
    form = form_of_filter(portal, admin, field, mine.get(field))
    name = filter_for_own(portal, admin, other, mine)
    for code, number in FAMILIES[field].items():
        wanted = code if form == "code" else number
        if MATCHES[field](mine, wanted):
            continue
        alone = matching(portal, admin, **{field: wanted})
        if not is_literal(alone, field, wanted):
            continue
        filters = {field: wanted, other: name}
        together = matching(portal, admin, **filters)
        wrong = [record.get("bizId") for record in accounts(together) if not MATCHES[field](record, wanted)]
        verify("ACCOUNT-025", holds(together, LISTING, not wrong, filters, alone, actual={"others": wrong}))


def is_literal(answer: Exchange, name: str, value: Json) -> bool:
    """Whether a filter alone gives nothing but what shows its value; what else it takes is not stated."""
    return all(MATCHES[name](record, value) for record in accounts(answer))


def filter_for_own(portal: Portal, admin: Account, name: str, mine: dict[str, Json]) -> Json:
    """A filter that the caller's own account passes. Raises Untestable where the account shows none."""
    if name in FAMILIES:
        return entry_as(form_of_filter(portal, admin, name, mine.get(name)), mine, name)
    value = mine.get(SHOWN_AS.get(name, name))
    if not isinstance(value, str) or not value.strip():
        raise Untestable(f"the caller's account shows nothing to filter by {name}", "target")
    return value.strip()


MOST_PAGES = 25


@mark.requirement("ACCOUNT-020", "ACCOUNT-040")
def test_each_state_is_counted_as_often_as_it_is_listed(
    portal: Portal, verify: Verify, admin: Account
) -> None:
    form = form_of_filter(portal, admin, "accountStatus")
    pages = everyone(portal, admin)
    records = [record for page in pages for record in accounts(page)]
    states = Counter(code for record in records if (code := code_of(record, "accountStatus")))
    samples: dict[str, dict[str, Json]] = {
        str(code_of(record, "accountStatus")): record for record in records
    }

    filtered = {
        code: matching(portal, admin, accountStatus=entry_as(form, samples[code], "accountStatus"))
        for code in states
    }

    if total(matching(portal, admin)) != len(records):
        raise Untestable("accounts were made or removed by others meanwhile", "environment")
    for code, exchange in filtered.items():
        verify("ACCOUNT-040", equal(exchange, "data.totalElements", states[code], *pages))


def everyone(portal: Portal, admin: Account) -> list[Exchange]:
    """All pages. Raises Untestable where there are too many, or where they do not hold what they count."""
    pages = [matching(portal, admin)]
    everybody = total(pages[0])
    if everybody > MOST_PAGES * 20:
        raise Untestable(f"{everybody} accounts are too many to be counted one by one", "environment")
    while sum(len(accounts(page)) for page in pages) < everybody and accounts(pages[-1]):
        pages.append(matching(portal, admin, page=len(pages)))
    if sum(len(accounts(page)) for page in pages) != everybody:
        raise Untestable("the pages do not hold as many accounts as they count", "target")
    return pages
