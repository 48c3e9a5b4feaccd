"""Accounts, currency grants and institutions (their chapters)."""

from typing import Any

from reference_impl.changes import together
from reference_impl.faults import operations as op
from reference_impl.faults.fault import (
    Call,
    answered,
    asked,
    first,
    forgetting,
    ignoring,
    optional,
    pretending,
    reported,
    ruled,
    served,
    then,
    turned,
)
from reference_impl.faults.verbs import (
    PAGE,
    given_up_for,
    named_with,
    not_found,
    nothing_for,
    null_for_unknown,
    one_item_twice,
    unrefused,
    updated_before,
)
from reference_impl.portal import Caller, Portal
from reference_impl.shapes import Body

_UNFILTERED = ("institutionBizId", "accountPortal", "accountStatus", "email", "name")


def _nulls_meant(call: Call, data: Any) -> Any:
    """A filter that is null gives records without a value: none."""
    is_null = any(name in call.body and call.body[name] is None for name in _UNFILTERED)
    return data | ({"accounts": [], "totalElements": 0, "totalPages": 0} if is_null else {})


def _half_an_address(body: Body) -> Body:
    """Addresses are looked for without what stands before the at sign."""
    if body.get("email") and "@" in body["email"]:
        body["email"] = "@" + body["email"].partition("@")[2].upper() + "?"
    return body


def _counting_all(call: Call, data: Any) -> Any:
    """Replaces the total and pages by the numbers of the unfiltered listing."""
    whole = call.run_with({name: value for name, value in call.body.items() if name in PAGE})
    return data | {name: whole[name] for name in ("totalElements", "totalPages")}


def _alternatives(call: Call) -> Any:
    """Of two texts to look for, one is enough."""
    if not (call.body.get("email") and call.body.get("name")):
        return call.run()
    by_name = call.run(email=None)
    return by_name if by_name["accounts"] else call.run(name=None)


def _by_address(call: Call) -> Any:
    name = call.body.get("name")
    return call.run_with(call.body | {"name": None, "email": name} if name else call.body)


def _the_first(call: Call) -> Any:
    """Whichever account is asked for, the oldest is given."""
    call.portal.find("account", call.body["userBizId"])
    return call.run(userBizId=next(iter(call.portal.records["account"])))


def _by_its_workspace(portal: Portal, caller: Caller, body: Body) -> None:
    """Accepts a workspace id in place of its institution's id."""
    workspace = portal.records["workspace"].get(body["institutionBizId"])
    if workspace is not None:
        body["institutionBizId"] = workspace["institutionBizId"]


def _in_the_far_east(value: str) -> str:
    """The time of day is UTC's, and the offset that of another zone."""
    return f"{value[:-1]}+08:00"


def _whole_seconds(value: str) -> str:
    return f"{value[:19]}Z"


def _last_account_too(portal: Portal, caller: Caller, body: Body) -> None:
    named = portal.records["account"].get(body["userBizId"], {})
    portal.newest("account")[0]["accountStatus"] = named.get("accountStatus", "ACTIVE")


ROWS = {
    "ACCOUNT-020 status-filter-ignored": ignoring(op.ACCOUNTS_QUERY, "accountStatus"),
    "ACCOUNT-021 portal-filter-ignored": ignoring(op.ACCOUNTS_QUERY, "accountPortal"),
    "ACCOUNT-022 institution-filter-ignored": ignoring(op.ACCOUNTS_QUERY, "institutionBizId"),
    "ACCOUNT-023 ACCOUNT-044 email-filter-ignored": ignoring(op.ACCOUNTS_QUERY, "email"),
    "ACCOUNT-024 name-filter-ignored": ignoring(op.ACCOUNTS_QUERY, "name"),
    "ACCOUNT-025 one-filter-at-a-time": asked(
        op.ACCOUNTS_QUERY, given_up_for("accountPortal", "accountStatus")
    ),
    "ACCOUNT-026 whole-address-finds-nobody": asked(op.ACCOUNTS_QUERY, _half_an_address),
    "ACCOUNT-027 null-filter-finds-nobody": answered(op.ACCOUNTS_QUERY, _nulls_meant),
    "ACCOUNT-028 count-is-of-all-accounts": answered(
        op.ACCOUNTS_QUERY, lambda call, data: data | {"totalElements": len(call.portal.records["account"])}
    ),
    "ACCOUNT-041 page-takes-text": together(
        ruled(op.ACCOUNTS_QUERY, "page", lambda value, limits: 0),
        ruled(op.ACCOUNTS_QUERY, "size", lambda value, limits: 20),
    ),
    "ACCOUNT-031 unknown-account-is-null": null_for_unknown(op.ACCOUNT, "account", "userBizId"),
    "ACCOUNT-033 another-account-is-read": served(op.ACCOUNT, _the_first),
    "ACCOUNT-034 update-without-an-id-is-404": optional(op.ACCOUNT_UPDATE, "userBizId", "none"),
    "ACCOUNT-035 account-update-forgotten": pretending(op.ACCOUNT_UPDATE, "account"),
    "ACCOUNT-036 account-status-forgotten": pretending(op.ACCOUNT_STATUS, "account"),
    "ACCOUNT-037 password-reset-by-an-administrator-forgotten": forgetting(op.ACCOUNT_PASSWORD, "passwords"),
    "ACCOUNT-039 unknown-account-is-updated": null_for_unknown(op.ACCOUNT_UPDATE, "account", "userBizId"),
    "GRANT-001 grant-is-not-kept": pretending(op.GRANT, "currency grant"),
    "GRANT-002 revoked-grant-is-listed": pretending(op.REVOKE, "currency grant"),
    "INSTITUTION-010 unknown-institution-is-null": null_for_unknown(
        op.INSTITUTION, "institution", "institutionBizId"
    ),
    "ACCOUNT-045 the-status-of-nobody-is-changed": unrefused(op.ACCOUNT_STATUS, {}),
    "ACCOUNT-046 the-password-of-nobody-is-reset": unrefused(op.ACCOUNT_PASSWORD, {}),
    "INSTITUTION-012 an-institution-in-review-is-unknown": not_found(
        op.INSTITUTION,
        "institution",
        "institutionBizId",
        lambda portal, institution: institution["institutionStatus"] != "ACTIVE",
    ),
    "ACCOUNT-025 email-and-name-are-alternatives": served(op.ACCOUNTS_QUERY, _alternatives),
    "ACCOUNT-040 filtered-accounts-are-counted-as-all": answered(op.ACCOUNTS_QUERY, _counting_all),
    "ACCOUNT-050 nobody-has-both-a-name-and-an-institution": asked(
        op.ACCOUNTS_QUERY, nothing_for("name", "institutionBizId")
    ),
    "ACCOUNT-048 the-name-filter-looks-at-addresses": served(op.ACCOUNTS_QUERY, _by_address),
    "INSTITUTION-011 an-institution-is-read-by-its-workspace": first(op.INSTITUTION, _by_its_workspace),
    "ACCOUNT-029 an-account-twice-on-a-page": turned(op.ACCOUNTS_QUERY, "", one_item_twice("accounts")),
    "ACCOUNT-014 account-times-of-another-zone": reported(op.PROFILE, "", createdAt=_in_the_far_east),
    "ACCOUNT-043 account-times-without-a-zone": reported(op.PROFILE, "", createdAt=lambda value: value[:-1]),
    "ACCOUNT-015 account-times-in-whole-seconds": reported(
        op.PROFILE, "", createdAt=_whole_seconds, updatedAt=_whole_seconds
    ),
    "ACCOUNT-016 account-updated-before-it-was-created": turned(
        op.ACCOUNTS_QUERY, "accounts[]", updated_before
    ),
    "ACCOUNT-049 a-change-of-status-notes-itself": then(
        op.ACCOUNT_STATUS, named_with("account", "userBizId", accountRemark="status changed")
    ),
    "ACCOUNT-049 a-change-of-status-changes-the-last-account-too": then(op.ACCOUNT_STATUS, _last_account_too),
    "GRANT-004 every-grant-is-of-dollars": asked(op.GRANT, lambda body: body | {"currencyCode": "USD"}),
    "ACCOUNT-051 accounts-that-are-not-active-are-not-found": not_found(
        op.ACCOUNT, "account", "userBizId", lambda portal, account: account["accountStatus"] != "ACTIVE"
    ),
}
