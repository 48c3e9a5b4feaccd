"""One account, read by its id (chapter "Admin accounts")."""

from __future__ import annotations

from cases.accounts.queries import accounts, matching
from cases.premises import authorized, code_of, form, granted
from conformance.cases import RECORD_UNKNOWN, Account, Json, Portal, Verify, is_success, mark, op


@mark.requirement("ACCOUNT-032", "ACCOUNT-033")
def test_an_account_is_read_by_its_id(portal: Portal, verify: Verify, admin: Account) -> None:
    exchange = granted(portal.call(op.ACCOUNT, token=admin.token, userBizId=portal.record("account")))
    verify.observe("account-answer", exchange, form(exchange.data))


@mark.requirement("ACCOUNT-033", "ACCOUNT-051", "AGREE-001")
def test_accounts_of_every_kind_are_read_by_their_ids(portal: Portal, verify: Verify, admin: Account) -> None:
    """Whatever institution, portal and state they are of; that they are shown as they are listed is judged on
    the wire."""
    first = matching(portal, admin)
    for id in _of_other_kinds(accounts(first)):
        account = authorized(portal.call(op.ACCOUNT, token=admin.token, userBizId=id))
        if account.success or account.code in RECORD_UNKNOWN:
            verify("ACCOUNT-051", is_success(account, first))
    matching(portal, admin)


def _of_other_kinds(records: list[dict[str, Json]]) -> list[str]:
    """The ids of the first account with another state, institution and portal each than the first of all has;
    of that one, where none has."""
    named = [record for record in records if isinstance(record.get("bizId"), str)]
    kinds = [
        [(code_of(record, name) or record.get(name)) for record in named]
        for name in ("accountStatus", "institutionBizId", "accountPortal")
    ]
    places = {next((i for i, kind in enumerate(of) if kind != of[0]), 0) for of in kinds if of}
    return [str(named[place]["bizId"]) for place in sorted(places - {0} or places)]
