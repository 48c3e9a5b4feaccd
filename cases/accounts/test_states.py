"""Whether the account query's filter by state gives all accounts of that state (chapter "Admin accounts")."""

from __future__ import annotations

from collections import Counter

from cases.accounts.queries import accounts, entry_as, form_of_filter, matching, total
from cases.premises import code_of
from conformance.cases import Account, Exchange, Json, Portal, Untestable, Verify, equal, requirement

MOST_PAGES = 25


@requirement("ACCOUNT-020", "ACCOUNT-040")
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
