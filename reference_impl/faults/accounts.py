"""Accounts, currency grants, institutions and invitations as an administrator sees them (their chapters)."""

from typing import Any

from reference_impl.changes import handled, together
from reference_impl.errors import INVALID
from reference_impl.faults.fault import (
    asked,
    fault,
    ignoring,
    optional,
    pretending,
    renamed,
    reported,
    ruled,
    then,
)
from reference_impl.faults.operations import (
    ACCOUNT,
    ACCOUNT_PASSWORD,
    ACCOUNT_STATUS,
    ACCOUNT_UPDATE,
    ACCOUNTS_QUERY,
    CANCEL,
    GRANT,
    INSTITUTION,
    INVITE,
    REVOKE,
)
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body, address

_UNFILTERED = ("institutionBizId", "accountPortal", "accountStatus", "email", "name")


def _only_on_the_first_page(name: str) -> Any:
    """Past the first page the filter is forgotten."""

    def change(body: Body) -> Body:
        if body.get("page"):
            body.pop(name, None)
        return body

    return change


def _not_with(name: str, other: str) -> Any:
    """A filter that is dropped where another is given too."""

    def change(body: Body) -> Body:
        if body.get(other) is not None:
            body.pop(name, None)
        return body

    return change


def _nulls_meant(handler: Handler) -> Handler:
    """A filter that is null gives records without a value: none."""

    def querying(portal: Portal, caller: Caller, body: Body) -> Any:
        named = [name for name in _UNFILTERED if name in body]
        data = handler(portal, caller, body)
        if any(body[name] is None for name in named):
            data = data | {"accounts": [], "totalElements": 0, "totalPages": 0}
        return data

    return querying


def _whole_system(handler: Handler) -> Handler:
    """The counts are those of all accounts, whatever was filtered."""

    def querying(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        return data | {"totalElements": len(portal.records["account"])}

    return querying


def _never_the_last(handler: Handler) -> Handler:
    """One account of those that are active is never found by its state."""

    def querying(portal: Portal, caller: Caller, body: Body) -> Any:
        if body.get("accountStatus") is None:
            return handler(portal, caller, body)
        hidden = next(iter(portal.records["account"]))
        kept = portal.records["account"]
        portal.records["account"] = {id: record for id, record in kept.items() if id != hidden}
        data = handler(portal, caller, body)
        portal.records["account"] = kept
        return data

    return querying


def _half_an_address(body: Body) -> Body:
    """Addresses are looked for without what stands before the at sign."""
    if body.get("email") and "@" in body["email"]:
        body["email"] = "@" + body["email"].partition("@")[2].upper() + "?"
    return body


def _by_prefix(handler: Handler) -> Handler:
    """The filter looks at the first letter of the name only."""

    def querying(portal: Portal, caller: Caller, body: Body) -> Any:
        return handler(portal, caller, body | {"name": body["name"][:1]} if body.get("name") else body)

    return querying


def _anywhere(body: Body) -> Body:
    """The filter looks at the part after the at sign only."""
    if body.get("email"):
        body["email"] = "@" + body["email"].partition("@")[2]
    return body


def _first_account(handler: Handler) -> Handler:
    """Whoever is asked for, the oldest account is given."""

    def reading(portal: Portal, caller: Caller, body: Body) -> Any:
        portal.find("account", body["userBizId"])
        return handler(portal, caller, body | {"userBizId": next(iter(portal.records["account"]))})

    return reading


def _null_for_unknown(kind: str, name: str) -> Any:
    """Nothing is found, and that is a success."""

    def around(handler: Handler) -> Handler:
        def reading(portal: Portal, caller: Caller, body: Body) -> Any:
            return handler(portal, caller, body) if body[name] in portal.records[kind] else None

        return reading

    return around


def _the_one_before(portal: Portal, caller: Caller, body: Body) -> None:
    """Another account is changed too."""
    ids = list(portal.records["account"])
    other = portal.records["account"][ids[ids.index(body["userBizId"]) - 1]]
    changes = {name: value for name, value in body.items() if name != "userBizId"}
    other.update(changes)


def _of_the_caller(handler: Handler) -> Handler:
    def updating(portal: Portal, caller: Caller, body: Body) -> Any:
        return handler(portal, caller, {"userBizId": caller.account_id} | body)

    return updating


def _password_kept(handler: Handler) -> Handler:
    def resetting(portal: Portal, caller: Caller, body: Body) -> Any:
        before = dict(portal.passwords)
        data = handler(portal, caller, body)
        portal.passwords.update(before)
        return data

    return resetting


def _unknown_taken(handler: Handler) -> Handler:
    """An unknown account is changed without a word."""

    def updating(portal: Portal, caller: Caller, body: Body) -> Any:
        return handler(portal, caller, body) if body["userBizId"] in portal.records["account"] else None

    return updating


def _any_days(value: Any, limits: Any) -> int:
    return 7


def _granted_once(handler: Handler) -> Handler:
    """What was granted before is given again as it is, also where it was revoked."""

    def granting(portal: Portal, caller: Caller, body: Body) -> Any:
        for known in portal.newest("currency grant"):
            if known["currencyCode"] == body["currencyCode"]:
                return portal.view("currency grant", known)
        return handler(portal, caller, body)

    return granting


FAULTS = (
    # The filters of the query.
    fault(
        "ACCOUNT-020",
        "status-filter-ignored",
        ignoring(ACCOUNTS_QUERY, "accountStatus"),
        also="ACCOUNT-025 ACCOUNT-040",
    ),
    fault(
        "ACCOUNT-020",
        "status-filter-forgotten-past-the-first-page",
        asked(ACCOUNTS_QUERY, _only_on_the_first_page("accountStatus")),
    ),
    fault("ACCOUNT-021", "portal-filter-ignored", ignoring(ACCOUNTS_QUERY, "accountPortal")),
    fault("ACCOUNT-022", "institution-filter-ignored", ignoring(ACCOUNTS_QUERY, "institutionBizId")),
    fault("ACCOUNT-023 ACCOUNT-044", "email-filter-ignored", ignoring(ACCOUNTS_QUERY, "email")),
    fault("ACCOUNT-023 ACCOUNT-044", "email-filter-looks-at-the-domain", asked(ACCOUNTS_QUERY, _anywhere)),
    fault("ACCOUNT-024", "name-filter-ignored", ignoring(ACCOUNTS_QUERY, "name")),
    fault("ACCOUNT-024", "name-filter-looks-at-one-letter", handled(ACCOUNTS_QUERY, _by_prefix)),
    fault(
        "ACCOUNT-025",
        "one-filter-at-a-time",
        asked(ACCOUNTS_QUERY, _not_with("accountPortal", "accountStatus")),
        also="ACCOUNT-021",
    ),
    fault("ACCOUNT-026", "whole-address-finds-nobody", asked(ACCOUNTS_QUERY, _half_an_address)),
    fault("ACCOUNT-027", "null-filter-finds-nobody", handled(ACCOUNTS_QUERY, _nulls_meant)),
    fault(
        "ACCOUNT-028",
        "count-is-of-all-accounts",
        handled(ACCOUNTS_QUERY, _whole_system),
        also="PAGE-027 ACCOUNT-040 ACCOUNT-025",
    ),
    fault("ACCOUNT-040", "an-account-is-not-found-by-its-state", handled(ACCOUNTS_QUERY, _never_the_last)),
    fault(
        "ACCOUNT-041",
        "page-takes-text",
        together(
            ruled(ACCOUNTS_QUERY, "page", lambda value, limits: 0),
            ruled(ACCOUNTS_QUERY, "size", lambda value, limits: 20),
        ),
        also="PAGE-026 PAGE-028 PAGE-029 PAGE-039",
    ),
    fault(
        "ACCOUNT-041",
        "size-takes-text",
        ruled(ACCOUNTS_QUERY, "size", lambda value, limits: value if isinstance(value, int) else 20),
    ),
    # One account.
    fault(
        "ACCOUNT-031", "unknown-account-is-null", handled(ACCOUNT, _null_for_unknown("account", "userBizId"))
    ),
    fault("ACCOUNT-031", "unknown-account-is-400", renamed(ACCOUNT, "RESOURCE.NOT_FOUND", INVALID)),
    fault("ACCOUNT-033", "another-account-is-read", handled(ACCOUNT, _first_account)),
    fault("ACCOUNT-034", "update-without-an-id-is-404", optional(ACCOUNT_UPDATE, "userBizId", "none")),
    fault(
        "ACCOUNT-034",
        "update-without-an-id-changes-the-caller",
        together(optional(ACCOUNT_UPDATE, "userBizId", None), handled(ACCOUNT_UPDATE, _of_the_caller)),
    ),
    fault("ACCOUNT-035", "account-update-forgotten", pretending(ACCOUNT_UPDATE, "account")),
    fault("ACCOUNT-035", "account-update-changes-another-too", then(ACCOUNT_UPDATE, _the_one_before)),
    fault("ACCOUNT-036", "account-status-forgotten", pretending(ACCOUNT_STATUS, "account")),
    fault(
        "ACCOUNT-037",
        "password-reset-by-an-administrator-forgotten",
        handled(ACCOUNT_PASSWORD, _password_kept),
    ),
    fault("ACCOUNT-039", "unknown-account-is-updated", handled(ACCOUNT_UPDATE, _unknown_taken)),
    # Currency grants and institutions.
    fault("GRANT-001", "grant-is-not-kept", pretending(GRANT, "currency grant")),
    fault("GRANT-001", "a-revoked-grant-is-granted-no-more", handled(GRANT, _granted_once)),
    fault("GRANT-002", "revoked-grant-is-listed", pretending(REVOKE, "currency grant")),
    fault(
        "INSTITUTION-010",
        "unknown-institution-is-null",
        handled(INSTITUTION, _null_for_unknown("institution", "institutionBizId")),
        also="OP-063",
    ),
    fault(
        "INSTITUTION-010",
        "unknown-institution-has-the-code-of-a-channel",
        renamed(INSTITUTION, "RESOURCE.NOT_FOUND", "4040"),
    ),
    fault(
        "INSTITUTION-011", "another-institution-is-read", reported(INSTITUTION, "", bizId=lambda id: id[::-1])
    ),
    # Invitations.
    fault("INVITE-001", "any-text-is-invited", ruled(INVITE, "inviteeEmail", address)),
    fault(
        "INVITE-001",
        "invalid-email-is-a-duplicate",
        renamed(INVITE, INVALID, "DUPLICATE"),
        also="INVITE-004 INVITE-007",
    ),
    fault(
        "INVITE-008",
        "invalid-email-has-the-other-code",
        renamed(INVITE, INVALID, "COMMAND_INVALID"),
        also="INVITE-004 INVITE-007",
    ),
    fault("INVITE-002", "invitation-is-not-kept", pretending(INVITE, "invitation")),
    fault("INVITE-003", "cancelled-invitation-stays-pending", pretending(CANCEL, "invitation")),
    fault("INVITE-004", "nobody-is-invited", optional(INVITE, "inviteeEmail", "nobody@example.test")),
    fault(
        "INVITE-005",
        "cancelling-an-unknown-invitation-is-400",
        renamed(CANCEL, "RESOURCE.NOT_FOUND", INVALID),
    ),
    fault("INVITE-007", "expiration-days-take-text", ruled(INVITE, "expirationDays", _any_days)),
)
