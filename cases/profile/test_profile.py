"""The caller's own profile, read and updated (chapter "Profile and workspaces")."""

from __future__ import annotations

import re

import pytest

from cases.accounts.queries import own, several_pages, verify_others, verify_seen_by_id
from cases.changing import changed_beside, put_back
from cases.dating import DATED, dated, grain
from cases.premises import (
    A_WHILE,
    answered,
    authorized,
    granted,
    is_invalid,
    refusal_text,
    settled,
    text,
    without,
)
from cases.profile.values import FIELDS, other_value, updatable
from cases.surroundings import Surroundings, stated
from conformance.cases import (
    CLOCKS,
    Account,
    Comparison,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    are_alike,
    are_different,
    equal,
    holds,
    is_invalid_parameter,
    is_mask,
    mark,
    meets,
    moment,
    offered,
    op,
    portal_time,
)


@mark.requirement("PROFILE-001", "PROFILE-002")
@pytest.mark.parametrize("name", ["admin", pytest.param("limited", marks=mark.needs("accounts.limited"))])
def test_the_profile_is_the_callers_own(portal: Portal, verify: Verify, name: str) -> None:
    caller = portal.account(name)
    profile = granted(portal.call(op.PROFILE, token=caller.token))
    if is_mask(str(profile.at("data.accountEmail"))):
        raise Untestable("the profile shows its email in part", "target")
    verify(
        "PROFILE-001",
        meets(profile, "data.accountEmail", lambda email: same_address(email, caller), caller.email),
    )


def same_address(email: object, caller: Account) -> bool:
    """Whether an email is the caller's, in whatever case, and with its domain in letters or in punycode."""
    return isinstance(email, str) and _in_ascii(email) == _in_ascii(caller.email)


def _in_ascii(email: str) -> str:
    name, _, domain = email.casefold().rpartition("@")
    try:
        return f"{name}@{domain.encode('idna').decode()}"
    except UnicodeError:
        return email.casefold()


@mark.requirement("PROFILE-010")
@mark.needs("accounts.limited")
def test_each_caller_reads_another_profile(
    portal: Portal, verify: Verify, admin: Account, limited: Account
) -> None:
    mine = granted(portal.call(op.PROFILE, token=admin.token))
    theirs = granted(portal.call(op.PROFILE, token=limited.token))
    different = text(mine, "data.bizId") != text(theirs, "data.bizId")
    verify(
        "PROFILE-010", holds(theirs, "data.bizId", different, f"another than {mine.at('data.bizId')}", mine)
    )


@mark.requirement("PROFILE-007", "MODEL-021")
@mark.needs("accounts.spare")
@mark.impact("mutating")
def test_other_accounts_stay_as_they_were(
    portal: Portal, verify: Verify, admin: Account, spare: Account
) -> None:
    """First of all updates: what one has written elsewhere, such as no phone, the next ones write again."""
    fields = updatable(granted(portal.call(op.PROFILE, token=spare.token)))
    _, before = several_pages(portal, admin)

    with put_back(portal, op.PROFILE_UPDATE, fields, by=spare) as change:
        name = portal.unique()
        # Another phone as well: the present one may have been written elsewhere by an update before.
        updated = change.ask({**fields, **_others(portal, spare, fields), "accountName": name})
        if is_invalid(updated):
            updated = change.ask({**fields, "accountName": name})
        granted(updated)
        id = str(own(portal, spare).get("bizId"))
        listing, after = settled(
            portal,
            lambda: several_pages(portal, admin),
            lambda pages: pages[1].get(id, {}).get("accountName") in (name, None),
        )
        verify_seen_by_id(portal, verify, admin, id, {"accountName": name}, updated)
        if id in after:
            shown = after[id].get("accountName")
            same = not are_different(shown, name)
            verify("MODEL-021", holds(listing, "data.accounts", same, name, updated, actual=shown))
        verify_others(portal, verify, "PROFILE-007", admin, before, but=id, done=updated)


def _others(portal: Portal, caller: Account, fields: dict[str, Json]) -> dict[str, Json]:
    """Another phone, which a request that is refused must not leave behind."""
    phone = fields.get("accountPhone")
    return (
        {"accountPhone": other_value(portal, caller, "accountPhone", phone)} if isinstance(phone, str) else {}
    )


@mark.requirement(
    "PROFILE-003",
    "PROFILE-004",
    "PROFILE-008",
    "PROFILE-011",
    "PROFILE-013",
    DATED,
    offered(op.PROFILE_UPDATE),
)
@mark.needs("accounts.spare")
@mark.impact("mutating")
def test_a_new_name_is_shown_and_read_back(portal: Portal, verify: Verify, spare: Account) -> None:
    """Everything is sent along as it is: that a part may be sent is another case."""
    before = granted(portal.call(op.PROFILE, token=spare.token))
    fields = updatable(before)
    name, early = portal.unique(), moment(before.at("data.updatedAt"))
    if early is not None and early > portal_time(before) - (unit := grain(before.at("data.updatedAt"))):
        portal.clock.wait(unit.total_seconds(), "a time of an update that is another than the last")

    with put_back(portal, op.PROFILE_UPDATE, fields, by=spare) as change:
        updated = granted(change.ask({**fields, "accountName": name}))
        after = read_back(portal, spare, name)

        is_kept = meets(after, "data.accountName", lambda read: are_alike(read, name), name, before, updated)
        verify("PROFILE-004", is_kept)
        for own in ("bizId", "accountEmail", "createdAt"):
            verify("PROFILE-008", equal(after, f"data.{own}", before.at(f"data.{own}"), before, updated))
        others = changed_beside("AGREE-001", before.data, after.data, named=("accountName",))
        kept = {name: before.at(f"data.{name}") for name in others}
        verify("PROFILE-011", holds(after, "data", not others, kept, before, updated, actual=others))
        verify("PROFILE-013", is_shown_by_the_answer(updated, before, after))
        for comparison in dated(after, "data.updatedAt", after.at("data.updatedAt"), updated):
            verify(DATED, comparison)
        late = moment(after.at("data.updatedAt"))
        if early is None or late is None:
            raise Untestable("the profile does not show when it was updated", "target")
        # Another server, whose clock is behind, may have written the later one.
        moved = late != early and late > early - CLOCKS
        verify("PROFILE-008", holds(after, "data.updatedAt", moved, f"after {early}", before, updated))


def is_shown_by_the_answer(updated: Exchange, before: Exchange, after: Exchange) -> Comparison:
    """An answer shows the profile as it is read afterwards, or as it was before: in fields that the document
    names."""
    shown = stated(updated.data) if isinstance(updated.data, dict) else {}
    other = {
        name: value
        for name, value in shown.items()
        if are_different(value, after.at(f"data.{name}")) and are_different(value, before.at(f"data.{name}"))
    }
    right = {name: after.at(f"data.{name}") for name in other}
    return holds(updated, "data", not other, right, before, after, actual=other)


def read_back(portal: Portal, caller: Account, name: str) -> Exchange:
    """The profile with its new name; once more after a while where it still has the old one."""
    return settled(
        portal,
        lambda: granted(portal.call(op.PROFILE, token=caller.token)),
        lambda profile: are_alike(text(profile, "data.accountName"), name),
    )


@mark.requirement("PROFILE-005", "PROFILE-012")
@mark.needs("accounts.spare")
@mark.impact("mutating")
@pytest.mark.parametrize("field", FIELDS)
def test_other_fields_are_read_back_too(
    portal: Portal, verify: Verify, admin: Account, spare: Account, field: str
) -> None:
    before = granted(portal.call(op.PROFILE, token=spare.token))
    fields = updatable(before)
    if field not in fields:
        raise Untestable(f"the profile shows no {field} that could be restored", "target")
    value, name = other_value(portal, admin, field, fields[field]), portal.unique()

    with put_back(portal, op.PROFILE_UPDATE, fields, by=spare) as change:
        updated = authorized(change.ask({**fields, field: value, "accountName": name}))
        if is_invalid(updated):
            raise Untestable(f"the portal does not take {value!r} as {field}", "environment")
        after = settled(
            portal,
            lambda: granted(portal.call(op.PROFILE, token=spare.token)),
            lambda profile: is_same(field, profile.at(f"data.{field}"), value),
        )
        place = f"data.{field}"
        same = is_same(field, after.at(place), value)
        verify("PROFILE-005", holds(after, place, same, value, before, granted(updated)))
        verify("PROFILE-012", is_named(after, name, updated))


def is_named(profile: Exchange, name: str, updated: Exchange) -> Comparison:
    shown = profile.at("data.accountName")
    alike = isinstance(shown, str) and are_alike(shown, name)
    return holds(profile, "data.accountName", alike, name, updated)


def is_same(field: str, shown: object, value: str) -> bool:
    """Whether a value is shown as it was sent; of a phone number only the digits count."""
    if field != "accountPhone" or not isinstance(shown, str):
        return shown == value
    return re.sub(r"\D", "", shown) == re.sub(r"\D", "", value)


@mark.requirement("PROFILE-006", "PROFILE-012")
@mark.needs("accounts.spare")
@mark.impact("mutating")
@mark.pauses(A_WHILE)
def test_what_is_not_sent_stays_as_it_was(portal: Portal, verify: Verify, spare: Account) -> None:
    """A name in several scripts, where names of such letters are taken."""
    portal.clock.wait(A_WHILE, "what was kept of the profile to be read anew")
    before = granted(portal.call(op.PROFILE, token=spare.token))
    fields = updatable(before)
    name = f"{portal.unique()}-Zoë-漢字-Жук{'-and-some-more' * 5}"

    with put_back(portal, op.PROFILE_UPDATE, fields, by=spare) as change:
        updated = authorized(change.ask({"accountName": name}))
        if is_invalid(updated):
            name = portal.unique()
            updated = authorized(change.ask({"accountName": name}))
        if is_invalid(updated):
            raise Untestable(f"a name alone is refused ({refusal_text(updated)})", "target")
        after = read_back(portal, spare, name)
        verify("PROFILE-012", is_named(after, name, updated))
        for field in without(fields, "accountName"):
            verify("PROFILE-006", equal(after, f"data.{field}", fields[field], before, granted(updated)))


LOOKED_UP = ("defaultCountry", "defaultTimezone", "defaultLanguage")
"""Fields that a portal may look at when it has taken the texts."""


@mark.requirement("MODEL-014")
@mark.needs("accounts.spare")
@mark.impact("mutating")
@pytest.mark.parametrize("value", [{}, "no-such-value"], ids=["object", "text"])
def test_an_update_that_is_refused_for_one_field_changes_no_other(
    portal: Portal, verify: Verify, spare: Account, value: object
) -> None:
    fields = updatable(granted(portal.call(op.PROFILE, token=spare.token)))
    wrong = next((field for field in LOOKED_UP if field in fields), "accountPhone")
    with put_back(portal, op.PROFILE_UPDATE, fields, by=spare) as change:
        around = Surroundings(portal, spare.token)
        refused = answered(change.ask({**fields, "accountName": portal.unique(), wrong: value}))
        if refused.success:
            raise Untestable(f"{value} is accepted as {wrong}", "target")
        around.judged(verify, "MODEL-014", refused)


@mark.requirement("PROFILE-009", "MODEL-014")
@mark.needs("accounts.spare")
@mark.impact("mutating")
@pytest.mark.parametrize("name", [{}, []], ids=["object", "array"])
def test_a_name_that_is_no_text_is_refused(
    portal: Portal, verify: Verify, spare: Account, name: object
) -> None:
    fields = updatable(granted(portal.call(op.PROFILE, token=spare.token)))
    with put_back(portal, op.PROFILE_UPDATE, fields, by=spare) as change:
        around = Surroundings(portal, spare.token)
        refused = answered(change.ask({**fields, **_others(portal, spare, fields), "accountName": name}))
        if not refused.success:
            around.judged(verify, "MODEL-014", refused)
        verify("PROFILE-009", is_invalid_parameter(refused))
