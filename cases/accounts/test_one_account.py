"""One account, read by its id (chapter "Admin accounts")."""

from __future__ import annotations

from cases.premises import asked_for_nobody, authorized, form, granted
from conformance.cases import Account, Portal, Verify, is_error_of_table, requirement
from conformance.spec.endpoints import ACCOUNT


@requirement("ACCOUNT-032", "ACCOUNT-033")
def test_an_account_is_read_by_its_id(portal: Portal, verify: Verify, admin: Account) -> None:
    exchange = granted(portal.call(ACCOUNT, token=admin.token, userBizId=portal.record("account")))
    verify.observe("account-answer", exchange, form(exchange.data))


@requirement("ACCOUNT-031")
def test_an_unknown_account_is_not_found(portal: Portal, verify: Verify, admin: Account) -> None:
    existing = portal.record("account")
    granted(portal.call(ACCOUNT, token=admin.token, userBizId=existing))

    exchange = asked_for_nobody(
        portal, existing, lambda id: authorized(portal.call(ACCOUNT, token=admin.token, userBizId=id))
    )

    verify("ACCOUNT-031", is_error_of_table(exchange, "RESOURCE.NOT_FOUND"))
