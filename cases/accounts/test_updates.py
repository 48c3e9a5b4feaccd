"""Accounts changed by an administrator: update and status (chapter "Admin accounts")."""

from __future__ import annotations

import pytest

from cases.accounts.queries import (
    accounts,
    by_email,
    differing,
    matching,
    several_pages,
    shows_all,
    verify_others,
    verify_seen_by_id,
)
from cases.changing import changed_beside, put_back
from cases.dating import DATED, MOVED, verify_moved
from cases.nobody import asked_for_nobody, free_id, reads_nobody
from cases.premises import (
    A_WHILE,
    answered,
    authorized,
    change_accepted,
    code_of,
    form,
    granted,
    is_invalid,
    settled,
)
from cases.profile.values import is_shown_whole
from conformance.cases import (
    Account,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    holds,
    is_error_of_table,
    mark,
    offered,
    op,
    placeholders_in,
)


@mark.requirement("ACCOUNT-039")
@mark.impact("mutating")
def test_an_unknown_account_is_not_updated(portal: Portal, verify: Verify, admin: Account) -> None:
    existing = portal.record("account")
    is_alone = len(body_for(portal, existing)) == 1

    def ask(id: str) -> Exchange:
        return authorized(portal.call(op.ACCOUNT_UPDATE, json=body_for(portal, id), token=admin.token))

    is_free = reads_nobody(portal, admin.token, "account")
    exchange = (
        ask(free_id(portal, admin.token, "account"))
        if is_alone
        else asked_for_nobody(portal, existing, ask, is_free=is_free)
    )
    if is_alone and is_invalid(exchange):
        raise Untestable(
            f'the profile has no [operations."{op.ACCOUNT_UPDATE}"] body, and an id alone is refused'
        )
    verify("ACCOUNT-039", is_error_of_table(exchange, "RESOURCE.NOT_FOUND"))


@pytest.mark.parametrize(
    "key, rule",
    [
        pytest.param(
            op.ACCOUNT_STATUS,
            "ACCOUNT-045",
            marks=[mark.requirement("ACCOUNT-045"), mark.needs(op.ACCOUNT_STATUS)],
        ),
        pytest.param(
            op.ACCOUNT_PASSWORD_RESET,
            "ACCOUNT-046",
            marks=[mark.requirement("ACCOUNT-046"), mark.needs(op.ACCOUNT_PASSWORD_RESET)],
        ),
    ],
)
@mark.impact("disruptive")
def test_nothing_is_done_to_an_unknown_account(
    portal: Portal, verify: Verify, admin: Account, key: str, rule: str
) -> None:
    """With the body that the profile has, which is right for an account that there is. A body that names its
    account by a fixed id would change that account."""
    if "account" not in placeholders_in(portal.profile.operations[key].body):
        raise Untestable(f'[operations."{key}"] body does not name its account as "{{account}}"')

    def ask(id: str) -> Exchange:
        body = portal.operation_body(key, account=id, new_password=portal.wrong_password())
        return authorized(portal.call(key, json=body, token=admin.token))

    is_free = reads_nobody(portal, admin.token, "account")
    refused = asked_for_nobody(portal, portal.record("account"), ask, is_free=is_free)
    verify(rule, is_error_of_table(refused, "RESOURCE.NOT_FOUND"))


def body_for(portal: Portal, account: str) -> dict[str, Json]:
    """The profile's body; without one, the single field that is shown."""
    try:
        body = portal.operation_body(op.ACCOUNT_UPDATE, account=account)
    except Untestable:
        return {"userBizId": account}
    return body if isinstance(body, dict) else {"userBizId": account}


@mark.requirement(
    "ACCOUNT-035", "ACCOUNT-038", "ACCOUNT-047", "MODEL-021", DATED, MOVED, offered(op.ACCOUNT_UPDATE)
)
@mark.needs("accounts.spare", op.ACCOUNT_UPDATE)
@mark.impact("mutating")
def test_an_update_is_read_back_and_touches_nobody_else(
    portal: Portal, verify: Verify, admin: Account, spare: Account
) -> None:
    before = by_email(portal, admin, spare.email)
    _, everyone = several_pages(portal, admin)
    body = portal.operation_body(op.ACCOUNT_UPDATE, account=before["bizId"])
    new = {name: value for name, value in body.items() if name in before and value != before["bizId"]}
    if not new:
        raise Untestable(f'[operations."{op.ACCOUNT_UPDATE}"] names no field that an account shows')
    if not all(is_shown_whole(before[name]) for name in new if isinstance(before[name], str)):
        raise Untestable("the account shows in part what would have to be restored", "target")

    granted(portal.call(op.PROFILE, token=spare.token))  # where it is kept from now on, it is kept too long
    with put_back(
        portal, op.ACCOUNT_UPDATE, {**body, **{name: before[name] for name in new}}, by=admin
    ) as change:
        updated = change_accepted(change.ask(body))
        verify.observe("account-answers", updated, form(updated.data))

        def shown(listing: Exchange) -> dict[str, Json]:
            after = account_in(listing, before["bizId"])
            return {name: after.get(name) for name in new}

        listing = settled(
            portal, lambda: matching(portal, admin, email=spare.email), lambda answer: shown(answer) == new
        )
        stored = shown(listing)
        verify("ACCOUNT-035", holds(listing, "data.accounts", stored == new, new, updated, actual=stored))

        now_shown = account_in(listing, before["bizId"])
        at = f"data.accounts[{accounts(listing).index(now_shown)}]" if now_shown else "data"
        verify_moved(verify, listing, at, before=before, after=now_shown, done=updated)
        _verify_seen_everywhere(portal, verify, admin, spare, before["bizId"], new, updated)
        if body.keys() <= before.keys() | {"userBizId"}:
            beside = changed_beside("AGREE-001", before, now_shown, named=body)
            kept = {name: before[name] for name in beside}
            verify("ACCOUNT-047", holds(listing, "data.accounts", not beside, kept, updated, actual=beside))
        else:
            verify.untested("ACCOUNT-047", "the update names fields that an account does not show")

        verify_others(portal, verify, "ACCOUNT-035", admin, everyone, but=before["bizId"], done=updated)


def _verify_seen_everywhere(
    portal: Portal,
    verify: Verify,
    admin: Account,
    spare: Account,
    id: Json,
    new: dict[str, Json],
    updated: Exchange,
) -> None:
    """By its id, and to the account itself."""
    verify_seen_by_id(portal, verify, admin, id, new, updated)
    own = settled(
        portal,
        lambda: granted(portal.call(op.PROFILE, token=spare.token)),
        lambda profile: not differing(profile, new),
    )
    verify("MODEL-021", shows_all(own, new, updated))


@mark.requirement("ACCOUNT-036", "ACCOUNT-038", "ACCOUNT-049", offered(op.ACCOUNT_STATUS))
@mark.needs("accounts.spare", op.ACCOUNT_STATUS)
@mark.impact("disruptive")
@mark.pauses(A_WHILE)
def test_a_change_of_status_is_read_back(
    portal: Portal, verify: Verify, admin: Account, spare: Account
) -> None:
    before = by_email(portal, admin, spare.email)
    body = portal.operation_body(op.ACCOUNT_STATUS, account=before["bizId"])
    field = next((name for name, value in body.items() if value != before["bizId"]), None)
    entry = before.get("accountStatus")
    if field is None or not isinstance(entry, dict) or code_of(before, "accountStatus") is None:
        raise Untestable(f'[operations."{op.ACCOUNT_STATUS}"] names no status, or the account shows none')
    known_as = "value" if isinstance(body[field], int) else "code"
    if body[field] == entry.get(known_as):
        raise Untestable(f'[operations."{op.ACCOUNT_STATUS}"] gives the status that the account has')

    portal.clock.wait(A_WHILE, "what was kept of the accounts to be read anew")
    _, everyone = several_pages(portal, admin, most=1)
    own = answered(portal.call(op.PROFILE, token=spare.token))
    with put_back(portal, op.ACCOUNT_STATUS, {**body, field: entry[known_as]}, by=admin) as change:
        changed = change_accepted(change.ask(body))
        verify.observe("account-answers", changed, form(changed.data))

        def status(listing: Exchange) -> Json:
            shown = account_in(listing, before["bizId"]).get("accountStatus")
            return shown.get(known_as) if isinstance(shown, dict) else shown

        listing = settled(
            portal,
            lambda: matching(portal, admin, email=spare.email),
            lambda answer: status(answer) == body[field],
        )
        stored = status(listing)
        verify(
            "ACCOUNT-036",
            holds(listing, "data.accounts", stored == body[field], body[field], changed, actual=stored),
        )
        verify_others(portal, verify, "ACCOUNT-049", admin, everyone, but=before["bizId"], done=changed)
        _verify_own(portal, verify, spare, own, changed)
    spare.doubt()


def _verify_own(portal: Portal, verify: Verify, spare: Account, before: Exchange, changed: Exchange) -> None:
    """The profile of the account whose status was changed, where that lets it read one: a query may be
    answered from an index that lags."""
    after = portal.call(op.PROFILE, token=spare.token)
    if before.success and after.success and isinstance(before.data, dict) and isinstance(after.data, dict):
        beside = changed_beside("AGREE-001", before.data, after.data, named=("accountStatus",))
        kept = {name: before.at(f"data.{name}") for name in beside}
        verify("ACCOUNT-049", holds(after, "data", not beside, kept, before, changed, actual=beside))


def account_in(listing: Exchange, id: Json) -> dict[str, Json]:
    return next((record for record in accounts(listing) if record.get("bizId") == id), {})
