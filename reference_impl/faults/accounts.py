"""Accounts, currency grants, institutions and invitations as an administrator sees them (their chapters)."""

from typing import Any

from reference_impl.changes import handled, together
from reference_impl.errors import INVALID
from reference_impl.faults.fault import (
    asked,
    ignoring,
    of,
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
    of(
        "ACCOUNT-020",
        "status-filter-ignored",
        ACCOUNTS_QUERY,
        apply=ignoring(ACCOUNTS_QUERY, "accountStatus"),
        also="ACCOUNT-025 ACCOUNT-040",
    ),
    of(
        "ACCOUNT-020",
        "status-filter-forgotten-past-the-first-page",
        ACCOUNTS_QUERY,
        apply=asked(ACCOUNTS_QUERY, _only_on_the_first_page("accountStatus")),
    ),
    of(
        "ACCOUNT-021",
        "portal-filter-ignored",
        ACCOUNTS_QUERY,
        apply=ignoring(ACCOUNTS_QUERY, "accountPortal"),
    ),
    of(
        "ACCOUNT-022",
        "institution-filter-ignored",
        ACCOUNTS_QUERY,
        apply=ignoring(ACCOUNTS_QUERY, "institutionBizId"),
    ),
    of(
        "ACCOUNT-023 ACCOUNT-044",
        "email-filter-ignored",
        ACCOUNTS_QUERY,
        apply=ignoring(ACCOUNTS_QUERY, "email"),
    ),
    of(
        "ACCOUNT-023 ACCOUNT-044",
        "email-filter-looks-at-the-domain",
        ACCOUNTS_QUERY,
        apply=asked(ACCOUNTS_QUERY, _anywhere),
    ),
    of("ACCOUNT-024", "name-filter-ignored", ACCOUNTS_QUERY, apply=ignoring(ACCOUNTS_QUERY, "name")),
    of(
        "ACCOUNT-024",
        "name-filter-looks-at-one-letter",
        ACCOUNTS_QUERY,
        apply=handled(ACCOUNTS_QUERY, _by_prefix),
    ),
    of(
        "ACCOUNT-025",
        "one-filter-at-a-time",
        ACCOUNTS_QUERY,
        apply=asked(ACCOUNTS_QUERY, _not_with("accountPortal", "accountStatus")),
        also="ACCOUNT-021",
    ),
    of(
        "ACCOUNT-026",
        "whole-address-finds-nobody",
        ACCOUNTS_QUERY,
        apply=asked(ACCOUNTS_QUERY, _half_an_address),
    ),
    of(
        "ACCOUNT-027", "null-filter-finds-nobody", ACCOUNTS_QUERY, apply=handled(ACCOUNTS_QUERY, _nulls_meant)
    ),
    of(
        "ACCOUNT-028",
        "count-is-of-all-accounts",
        ACCOUNTS_QUERY,
        apply=handled(ACCOUNTS_QUERY, _whole_system),
        also="PAGE-027 ACCOUNT-040 ACCOUNT-025",
    ),
    of(
        "ACCOUNT-040",
        "an-account-is-not-found-by-its-state",
        ACCOUNTS_QUERY,
        apply=handled(ACCOUNTS_QUERY, _never_the_last),
    ),
    of(
        "ACCOUNT-041",
        "page-takes-text",
        ACCOUNTS_QUERY,
        apply=together(
            (
                ruled(ACCOUNTS_QUERY, "page", lambda value, limits: 0),
                ruled(ACCOUNTS_QUERY, "size", lambda value, limits: 20),
            )
        ),
        also="PAGE-026 PAGE-028 PAGE-029 PAGE-039",
    ),
    of(
        "ACCOUNT-041",
        "size-takes-text",
        ACCOUNTS_QUERY,
        apply=ruled(ACCOUNTS_QUERY, "size", lambda value, limits: value if isinstance(value, int) else 20),
    ),
    # One account.
    of(
        "ACCOUNT-031",
        "unknown-account-is-null",
        ACCOUNT,
        apply=handled(ACCOUNT, _null_for_unknown("account", "userBizId")),
    ),
    of(
        "ACCOUNT-031",
        "unknown-account-is-400",
        ACCOUNT,
        apply=renamed(ACCOUNT, "RESOURCE.NOT_FOUND", INVALID),
    ),
    of("ACCOUNT-033", "another-account-is-read", ACCOUNT, apply=handled(ACCOUNT, _first_account)),
    of(
        "ACCOUNT-034",
        "update-without-an-id-is-404",
        ACCOUNT_UPDATE,
        apply=optional(ACCOUNT_UPDATE, "userBizId", "none"),
    ),
    of(
        "ACCOUNT-034",
        "update-without-an-id-changes-the-caller",
        ACCOUNT_UPDATE,
        apply=together(
            (optional(ACCOUNT_UPDATE, "userBizId", None), handled(ACCOUNT_UPDATE, _of_the_caller))
        ),
    ),
    of(
        "ACCOUNT-035",
        "account-update-forgotten",
        ACCOUNT_UPDATE,
        apply=pretending(ACCOUNT_UPDATE, "account"),
        spreads=True,
    ),
    of(
        "ACCOUNT-035",
        "account-update-changes-another-too",
        ACCOUNT_UPDATE,
        apply=then(ACCOUNT_UPDATE, _the_one_before),
        spreads=True,
    ),
    of(
        "ACCOUNT-036",
        "account-status-forgotten",
        ACCOUNT_STATUS,
        apply=pretending(ACCOUNT_STATUS, "account"),
        spreads=True,
    ),
    of(
        "ACCOUNT-037",
        "password-reset-by-an-administrator-forgotten",
        ACCOUNT_PASSWORD,
        apply=handled(ACCOUNT_PASSWORD, _password_kept),
        spreads=True,
    ),
    of(
        "ACCOUNT-039",
        "unknown-account-is-updated",
        ACCOUNT_UPDATE,
        apply=handled(ACCOUNT_UPDATE, _unknown_taken),
    ),
    # Currency grants and institutions.
    of("GRANT-001", "grant-is-not-kept", GRANT, apply=pretending(GRANT, "currency grant"), spreads=True),
    of(
        "GRANT-001",
        "a-revoked-grant-is-granted-no-more",
        GRANT,
        apply=handled(GRANT, _granted_once),
        spreads=True,
    ),
    of(
        "GRANT-002",
        "revoked-grant-is-listed",
        REVOKE,
        apply=pretending(REVOKE, "currency grant"),
        spreads=True,
    ),
    of(
        "INSTITUTION-010",
        "unknown-institution-is-null",
        INSTITUTION,
        apply=handled(INSTITUTION, _null_for_unknown("institution", "institutionBizId")),
        also="OP-063",
    ),
    of(
        "INSTITUTION-010",
        "unknown-institution-has-the-code-of-a-channel",
        INSTITUTION,
        apply=renamed(INSTITUTION, "RESOURCE.NOT_FOUND", "4040"),
    ),
    of(
        "INSTITUTION-011",
        "another-institution-is-read",
        INSTITUTION,
        apply=reported(INSTITUTION, "", bizId=lambda id: id[::-1]),
    ),
    # Invitations.
    of("INVITE-001", "any-text-is-invited", INVITE, apply=ruled(INVITE, "inviteeEmail", address)),
    of(
        "INVITE-001",
        "invalid-email-is-a-duplicate",
        INVITE,
        apply=renamed(INVITE, INVALID, "DUPLICATE"),
        also="INVITE-004 INVITE-007",
    ),
    of(
        "INVITE-008",
        "invalid-email-has-the-other-code",
        INVITE,
        apply=renamed(INVITE, INVALID, "COMMAND_INVALID"),
        also="INVITE-004 INVITE-007",
    ),
    of("INVITE-002", "invitation-is-not-kept", INVITE, apply=pretending(INVITE, "invitation"), spreads=True),
    of(
        "INVITE-003",
        "cancelled-invitation-stays-pending",
        CANCEL,
        apply=pretending(CANCEL, "invitation"),
        spreads=True,
    ),
    of(
        "INVITE-004",
        "nobody-is-invited",
        INVITE,
        apply=optional(INVITE, "inviteeEmail", "nobody@example.test"),
    ),
    of(
        "INVITE-005",
        "cancelling-an-unknown-invitation-is-400",
        CANCEL,
        apply=renamed(CANCEL, "RESOURCE.NOT_FOUND", INVALID),
    ),
    of("INVITE-007", "expiration-days-take-text", INVITE, apply=ruled(INVITE, "expirationDays", _any_days)),
)
