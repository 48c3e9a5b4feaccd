"""Accounts as an administrator sees and changes them (chapter "Admin accounts")."""

from typing import Any

from reference_impl.filters import Filter, equals, matching, mentions
from reference_impl.handlers.passwords import end_sessions, send_password_code, set_password
from reference_impl.paging import of_accounts
from reference_impl.portal import Caller, Portal, Record
from reference_impl.shapes import Body

FILTERS: tuple[Filter, ...] = (
    ("institutionBizId", "institutionBizId", equals()),
    ("accountPortal", "accountPortal", equals("user-portal-types")),
    ("accountStatus", "accountStatus", equals("user-account-statuses")),
    ("email", "accountEmail", mentions),
    ("name", "accountName", mentions),
)


def query(portal: Portal, caller: Caller, body: Body) -> Any:
    return of_accounts(portal, matching(portal, FILTERS, portal.newest("account"), body), body)


def account(portal: Portal, caller: Caller, body: Body) -> Any:
    return portal.view("account", portal.find("account", body["userBizId"]))


def update(portal: Portal, caller: Caller, body: Body) -> Any:
    values = {name: value for name, value in body.items() if name != "userBizId"}
    return portal.view("account", portal.change("account", body["userBizId"], **values))


def set_status(portal: Portal, caller: Caller, body: Body) -> Any:
    status = portal.symbol("user-account-statuses", body["accountStatus"])
    changed = portal.change("account", body["userBizId"], accountStatus=status)
    if status in ("SUSPENDED", "CLOSED"):
        end_sessions(portal, changed["bizId"])
    return portal.view("account", changed)


def reset_password(portal: Portal, caller: Caller, body: Body) -> Any:
    """Sets the new password; without one, mails the account a code to set its own."""
    account: Record = portal.find("account", body["userBizId"])
    if "newPassword" in body:
        set_password(portal, account["bizId"], body["newPassword"])
        end_sessions(portal, account["bizId"], but=caller.session_id)
    else:
        send_password_code(portal, account)
