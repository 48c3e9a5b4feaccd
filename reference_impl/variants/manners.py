"""What a portal takes and refuses, where the document leaves it open (several chapters)."""

from collections.abc import Callable
from typing import Any

from reference_impl.changes import Change, handled, limited, together
from reference_impl.errors import INVALID, Refusal
from reference_impl.faults.fault import first, ruled
from reference_impl.faults.operations import (
    BACKUP_CODES,
    CHANNEL_DEACTIVATE,
    CHANNEL_DELETE,
    CHANNEL_UPDATE,
    COMPLETE,
    CURRENT_WORKSPACE,
    DISABLE_WHITELIST,
    ENABLE_WHITELIST,
    INITIATE,
    INSTITUTION,
    INVITE,
    PROFILE_UPDATE,
    RESET,
    SET_WHITELIST,
    TYPE_DELETE,
    TYPE_DISABLE,
    TYPE_ENABLE,
)
from reference_impl.limits import Limits
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body, Rule, Unfit
from reference_impl.variants.variant import Variant, may

OF_LETTERS = "of which letters a text is made is not stated"


def _in_ascii(rule: Rule) -> Rule:
    def ascii_only(value: Any, limits: Limits) -> Any:
        if isinstance(value, str) and not value.isascii():
            raise Unfit
        return rule(value, limits)

    return ascii_only


def _ascii_field(operation: str, name: str) -> Change:
    """A field takes ASCII only, beside what its rule says."""

    def change(plan: Any) -> None:
        ruled(operation, name, _in_ascii(plan.rows[operation].takes.fields[name].rule))(plan)

    return Change(change, (operation,))


# Doing what is done.


def _not_again(kind: str, field: str, state: str) -> Callable[[Portal, Caller, Body], None]:
    """What is so already is refused."""

    def refusing(portal: Portal, caller: Caller, body: Body) -> None:
        if portal.records[kind].get(body["bizId"], {}).get(field) == state:
            raise Refusal("DUPLICATE")

    return refusing


def _switched_once(state: str) -> Callable[[Portal, Caller, Body], None]:
    def refusing(portal: Portal, caller: Caller, body: Body) -> None:
        if portal.security(caller.account_id)["whitelistState"] == state:
            raise Refusal("DUPLICATE")

    return refusing


def _by_its_maker(portal: Portal, caller: Caller, body: Body) -> None:
    channel = portal.records["channel"].get(body["bizId"])
    if channel is not None and channel["createdBy"] != caller.account_id:
        raise Refusal("ACCESS.PERMISSION_DENIED")


def _full(refusal: str) -> Callable[[Portal, Caller, Body], None]:
    """Whoever has as many sessions as are allowed signs in no more."""

    def refusing(portal: Portal, caller: Caller, body: Body) -> None:
        session = portal.login_sessions.get(body["sessionId"])
        if session is not None:
            most = portal.security(session.account_id)["maxSessions"]
            if len(portal.sessions_of(session.account_id)) >= most:
                raise Refusal(refusal)

    return refusing


def _once_tried(handler: Handler) -> Handler:
    """A code that was mailed is good for one try."""

    def setting(portal: Portal, caller: Caller, body: Body) -> Any:
        account = portal.account_of(body["email"])
        try:
            return handler(portal, caller, body)
        finally:
            if account is not None:
                portal.password_codes.pop(account["bizId"], None)

    return setting


# What is shown.


def _added_up(handler: Handler) -> Handler:
    """Backup codes of the sets before stay good, and count."""
    sets: dict[str, list[dict[str, Any]]] = {}

    def summing_up(portal: Portal, caller: Caller, body: Body) -> Any:
        handler(portal, caller, body)
        codes = portal.security(caller.account_id)["backupCodes"]
        own = sets.setdefault(caller.account_id, [])
        if codes and codes not in own:
            own.append(codes)
        number = sum(map(len, own))
        return {"remainingCount": number, "totalGenerated": number}

    return summing_up


def _of_the_old_version(portal: Portal, caller: Caller, body: Body) -> None:
    if any(":" in ip for ip in body["ips"]):
        raise Refusal(INVALID)


def _own_institution_only(portal: Portal, caller: Caller, body: Body) -> None:
    other = body["institutionBizId"] != caller.account["institutionBizId"]
    if other and body["institutionBizId"] in portal.records["institution"]:
        raise Refusal("ACCESS.PERMISSION_DENIED")


def _unknown_is_not_found(portal: Portal, caller: Caller, body: Body) -> None:
    if caller.workspace_id is not None and caller.workspace_id not in portal.records["workspace"]:
        raise Refusal("RESOURCE.NOT_FOUND")


VARIANTS: tuple[Variant, ...] = (
    may("passwords-in-ascii", OF_LETTERS, _ascii_field(INITIATE, "password"), "passwords"),
    may("names-in-ascii", OF_LETTERS, _ascii_field(PROFILE_UPDATE, "accountName"), "names"),
    may("messages-in-ascii", OF_LETTERS, _ascii_field(INVITE, "message"), "messages"),
    may(
        "what-is-so-already-is-refused",
        "whether a verb that changes nothing is refused is not stated",
        together(
            first(TYPE_DISABLE, _not_again("channel type", "typeStatus", "DISABLED")),
            first(TYPE_ENABLE, _not_again("channel type", "typeStatus", "ENABLED")),
            first(CHANNEL_DEACTIVATE, _not_again("channel", "channelStatus", "INACTIVE")),
            first(ENABLE_WHITELIST, _switched_once("ENABLED")),
            first(DISABLE_WHITELIST, _switched_once("DISABLED")),
        ),
    ),
    may(
        "whitelists-of-short-addresses",
        "which addresses a whitelist takes is not stated",
        first(SET_WHITELIST, _of_the_old_version),
    ),
    may(
        "channels-are-updated-by-their-makers",
        "who may change what of another is not stated",
        first(CHANNEL_UPDATE, _by_its_maker),
    ),
    may(
        "a-session-too-many-is-not-begun",
        "which session gives way where there are as many as are allowed is not stated",
        first(COMPLETE, _full("ACCESS.PERMISSION_DENIED")),
        "max-sessions",
    ),
    may(
        "what-is-in-use-is-not-deleted",
        "what a deletion does in which state is not stated",
        together(
            first(CHANNEL_DELETE, _not_again("channel", "channelStatus", "ACTIVE")),
            first(TYPE_DELETE, _not_again("channel type", "typeStatus", "ENABLED")),
        ),
        "deletions",
    ),
    may(
        "a-seventh-session-is-refused",
        "which session gives way where there are as many as are allowed is not stated",
        together(limited(max_sessions=6), first(COMPLETE, _full("ACCESS.PERMISSION_DENIED"))),
        "max-sessions",
    ),
    may(
        "a-seventh-session-is-a-conflict",
        "which session gives way where there are as many as are allowed is not stated",
        together(limited(max_sessions=6), first(COMPLETE, _full("DUPLICATE"))),
        "max-sessions",
    ),
    may(
        "a-mailed-code-is-tried-once",
        "what a wrong code does to one that was mailed is not stated",
        handled(RESET, _once_tried),
    ),
    may(
        "backup-codes-add-up",
        "what becomes of the codes of an earlier set is not stated",
        handled(BACKUP_CODES, _added_up),
        "backup-codes",
    ),
    may(
        "other-institutions-are-out-of-reach",
        "who may read which institution is not stated",
        first(INSTITUTION, _own_institution_only),
    ),
    may(
        "an-unknown-workspace-is-not-found",
        "how an unknown workspace is answered is not stated",
        first(CURRENT_WORKSPACE, _unknown_is_not_found),
    ),
)
