"""The account query's filters, alone and together (chapter "Admin accounts")."""

from __future__ import annotations

from contextlib import suppress

import pytest

from cases.accounts.queries import (
    LISTING,
    accounts,
    asked,
    by_email,
    form_of_filter,
    has_email,
    matching,
    total,
)
from cases.coded import ONLY_MATCHES, asked_in_both_forms, passed_over
from cases.nobody import unknown_id
from cases.premises import answered, granted
from cases.profile.values import is_shown_whole
from cases.reading import NO_FILTER
from conformance.cases import (
    PORTAL_TYPES,
    SIGNS,
    STATES,
    Account,
    Comparison,
    Exchange,
    Portal,
    Untestable,
    Verify,
    equal,
    holds,
    mark,
    op,
)

CODED = {
    "accountStatus": ("ACCOUNT-020", STATES["Account"]),
    "accountPortal": ("ACCOUNT-021", PORTAL_TYPES),
}


BEHIND = 5
"""The size of a second page: a filter holds there too."""


@pytest.mark.parametrize(
    "field",
    [
        pytest.param(field, marks=pytest.mark.requirement(row[0], "ACCOUNT-030", "PAGE-039"))
        for field, row in CODED.items()
    ],
)
def test_a_coded_filter_takes_a_code_or_its_number(
    portal: Portal, verify: Verify, admin: Account, field: str
) -> None:
    """Without a filter before and after, so that it shows whether one narrows the listing at all."""
    rule, family = CODED[field]
    matching(portal, admin)
    answers = asked_in_both_forms(lambda wanted: asked(portal, admin, **{field: wanted}), family)
    for comparison in passed_over(answers, field, accounts, LISTING):
        verify(rule, comparison)
    form = form_of_filter(portal, admin, field)
    for code, value in family.items():
        wanted = code if form == "code" else value
        filtered = granted(asked(portal, admin, **{field: wanted}, size=BEHIND))
        if total(filtered) > BEHIND:
            behind = granted(asked(portal, admin, **{field: wanted}, page=1, size=BEHIND))
            if behind.at("data.pageSize") == BEHIND:
                verify("PAGE-039", is_behind(filtered, behind))
    matching(portal, admin)
    verify.observe("account-filter-form", filtered, "codes" if form == "code" else "numbers")
    verify.untested(rule, ONLY_MATCHES, "environment")


def is_behind(first: Exchange, second: Exchange) -> Comparison:
    """A page of what a filter gives holds nothing of the one before, and as much as is left for it."""
    there = {record.get("bizId") for record in accounts(first)}
    twice = [record["bizId"] for record in accounts(second) if record.get("bizId") in there]
    left = min(BEHIND, total(second) - BEHIND)
    is_full = total(first) != total(second) or len(accounts(second)) == left
    actual = {"twice": twice, "accounts": len(accounts(second))}
    return holds(second, LISTING, is_full and not twice, f"{left} others", first, actual=actual)


@mark.requirement("ACCOUNT-022")
def test_institutions_filter_their_own_accounts(portal: Portal, verify: Verify, admin: Account) -> None:
    everyone = accounts(matching(portal, admin))
    institutions = {
        record["institutionBizId"] for record in everyone if isinstance(record.get("institutionBizId"), str)
    }
    if not institutions:
        raise Untestable("no account shows an institution", "target")
    for institution in sorted(institutions)[:3]:
        matching(portal, admin, institutionBizId=institution)
    if len(institutions) == 1:
        # Whether a filter that all match is followed shows by institutions that nobody belongs to.
        own = institutions.pop()
        for institution in {unknown_id(own), unknown_id(own)[:-1] + own[-1:]} - {own}:
            with suppress(Untestable):
                asked(portal, admin, institutionBizId=institution)
    verify.untested("ACCOUNT-022", ONLY_MATCHES, "environment")


@mark.requirement("ACCOUNT-023", "ACCOUNT-044", "ACCOUNT-026")
def test_a_whole_address_finds_its_account(portal: Portal, verify: Verify, admin: Account) -> None:
    """And the longest part of its name, which others hardly have: a domain all may share. It is the address
    of an account that is listed: whether the caller's own is, is not stated."""
    email = listed_address(portal, admin)
    parts = [part for part in SIGNS.split(email.partition("@")[0]) if part]
    if parts:
        matching(portal, admin, email=max(parts, key=len))
    filtered = matching(portal, admin, email=email)
    there = any(has_email(record, email) for record in accounts(filtered))
    if not there and total(filtered) > len(accounts(filtered)):
        raise Untestable("an address finds more accounts than stand on a page", "target")
    verify("ACCOUNT-026", holds(filtered, LISTING, there, "the account with this address"))


def listed_address(portal: Portal, admin: Account) -> str:
    """An address on the first page of accounts, the caller's own where it is there. Raises Untestable."""
    shown = [record.get("accountEmail") for record in accounts(matching(portal, admin))]
    whole = [email for email in shown if isinstance(email, str) and is_shown_whole(email)]
    own_first = sorted(whole, key=lambda email: email.casefold() != admin.email.casefold())
    if not own_first:
        raise Untestable("the first page shows no address as a whole", "target")
    return own_first[0]


@mark.requirement("ACCOUNT-024", "ACCOUNT-048")
def test_a_whole_name_finds_accounts_of_that_name(portal: Portal, verify: Verify, admin: Account) -> None:
    name = listed_name(portal, admin)
    filtered = matching(portal, admin, name=name)
    found = [str(record.get("accountName")).strip() for record in accounts(filtered)]
    if name not in found and total(filtered) > len(found):
        raise Untestable("a name finds more accounts than stand on a page", "target")
    verify(
        "ACCOUNT-048",
        holds(filtered, LISTING, name in found, f"an account named {name}", actual=found),
    )


def listed_name(portal: Portal, admin: Account) -> str:
    """The name of an account on the first page, and best one of which its address tells nothing. Raises
    Untestable."""
    shown = [
        (name.strip(), str(record.get("accountEmail")).casefold())
        for record in accounts(matching(portal, admin))
        if isinstance(name := record.get("accountName"), str) and name.strip() and is_shown_whole(name)
    ]
    if not shown:
        raise Untestable("the first page shows no name as a whole", "target")
    return min(shown, key=lambda account: account[0].casefold() in account[1])[0]


@mark.requirement("ACCOUNT-024", "ACCOUNT-042", "ACCOUNT-044")
@pytest.mark.parametrize("field, shown", [("email", "accountEmail"), ("name", "accountName")])
def test_a_part_of_a_text_is_looked_for_somehow(
    portal: Portal, verify: Verify, admin: Account, field: str, shown: str
) -> None:
    record = by_email(portal, admin, admin.email)
    whole = str(record.get(shown) or "").strip()
    parts = {"any part": whole[1:-1].strip(), "its beginning": whole[:-1].strip()}
    if len(parts["any part"]) < 3 or not total(matching(portal, admin, **{field: whole})):
        raise Untestable(f"{shown} is too short for a part, or does not find its account", "environment")

    answers = {form: answered(asked(portal, admin, **{field: part})) for form, part in parts.items()}

    taken = [form for form, exchange in answers.items() if exchange.success and total(exchange) > 0]
    verify.observe("account-filter-match", answers["any part"], taken[0] if taken else "the whole only")


@mark.requirement("ACCOUNT-027")
@pytest.mark.parametrize(
    "nulls", [[NO_FILTER], [{name: None} for name in NO_FILTER]], ids=["together", "each alone"]
)
def test_filters_that_are_null_filter_nothing(
    portal: Portal, verify: Verify, admin: Account, nulls: list[dict[str, None]]
) -> None:
    page = {"page": 0, "size": 20}

    def ask(null: dict[str, None]) -> Exchange:
        return granted(portal.call(op.ACCOUNTS_QUERY, json={**null, **page}, token=admin.token))

    left_out, answers, repeated = ask({}), [ask(null) for null in nulls], ask({})
    if total(left_out) != total(repeated):
        raise Untestable("accounts were made or removed by others meanwhile", "environment")
    for answer in answers:
        verify("ACCOUNT-027", equal(answer, "data.totalElements", total(left_out), left_out))


@mark.requirement("ACCOUNT-028")
@pytest.mark.parametrize("field", ["email", "name"])
def test_a_filter_that_nothing_matches_gives_an_empty_page(
    portal: Portal, verify: Verify, admin: Account, field: str
) -> None:
    marker = portal.unique()
    nobody = matching(portal, admin, **{field: f"{marker}@{marker}.invalid"})
    verify("ACCOUNT-028", equal(nobody, LISTING, []), equal(nobody, "data.totalElements", 0))
