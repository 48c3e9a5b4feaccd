"""Habits of portals that the document neither asks for nor rules out, one by one."""

import re
from ipaddress import ip_network
from typing import Any

from reference_impl.changes import data_rewritten, handled, limited, together
from reference_impl.errors import Refusal
from reference_impl.faults.fault import asked, first, reported, then
from reference_impl.faults.operations import (
    ACCOUNTS_QUERY,
    BACKUP_CODES,
    CHANNEL_CREATE,
    CHANNELS_QUERY,
    LOGOUT,
    ORDERS,
    PROFILE_UPDATE,
    ROLES,
    SESSION_CONFIG,
    SET_WHITELIST,
    TYPES_QUERY,
    WHITELIST,
)
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.variants.variant import Variant, may

DAY = 86400.0


# The caller's own settings.


def _as_networks(data: Any) -> Any:
    return data | {"entries": [str(ip_network(entry)) for entry in data["entries"]]}


def _adding(handler: Handler) -> Handler:
    """Addresses that are sent join those that are there."""

    def adding(portal: Portal, caller: Caller, body: Body) -> Any:
        there = portal.security(caller.account_id)["whitelist"]
        return handler(
            portal, caller, body | {"ips": [*there, *(ip for ip in body["ips"] if ip not in there)]}
        )

    return adding


def _counted_for_ever(handler: Handler) -> Handler:
    """Of all backup codes that were ever made; the accounts have made some before."""
    sets: dict[str, list[dict[str, Any]]] = {}

    def summing_up(portal: Portal, caller: Caller, body: Body) -> Any:
        data, codes = handler(portal, caller, body), portal.security(caller.account_id)["backupCodes"]
        own = sets.setdefault(caller.account_id, [])
        if codes and not any(each is codes for each in own):
            own.append(codes)
        return data | {"totalGenerated": 30 + sum(map(len, own))}

    return summing_up


def _normalised(body: Body) -> Body:
    phone = body.get("accountPhone")
    return body | {"accountPhone": re.sub(r"[\s()-]", "", phone)} if isinstance(phone, str) else body


def _noted(portal: Portal, caller: Caller, body: Body) -> None:
    """A logout stands in the history too."""
    portal.record_sign_in(caller.account_id, caller)
    portal.history[caller.account_id][-1]["loginResult"] = 2


# Listings.


def _without_the_caller(handler: Handler) -> Handler:
    def querying(portal: Portal, caller: Caller, body: Body) -> Any:
        everybody = portal.records["account"]
        portal.records["account"] = {id: one for id, one in everybody.items() if id != caller.account_id}
        try:
            return handler(portal, caller, body)
        finally:
            portal.records["account"] = everybody

    return querying


def _of_the_workspace(handler: Handler) -> Handler:
    """Roles of the workspace in which the caller acts."""

    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        mine = caller.workspace_id or next(iter(caller.account["workspaceBizIds"]), None)
        return [role for role in handler(portal, caller, body) if role["workspaceBizId"] == mine]

    return listing


def _a_month_at_most(portal: Portal, caller: Caller, body: Body) -> None:
    now = portal.now()
    if body.get("endTime", now) - body.get("startTime", now - 30 * DAY) > 31 * DAY:
        raise Refusal("4000")


def _inactive_at_first(portal: Portal, caller: Caller, body: Body) -> None:
    portal.newest("channel")[0]["channelStatus"] = "INACTIVE"


_SIZE = "the page size of these listings is not stated"

VARIANTS: tuple[Variant, ...] = (
    may(
        "whitelist-as-networks",
        "the entries of the whitelist are not shown",
        data_rewritten(_as_networks, WHITELIST),
        "whitelist",
    ),
    may(
        "whitelist-adds",
        "whether addresses replace those before is not stated",
        handled(SET_WHITELIST, _adding),
    ),
    may(
        "backup-codes-counted-for-ever",
        "what totalGenerated counts is not stated",
        handled(BACKUP_CODES, _counted_for_ever),
        "backup-codes",
    ),
    may(
        "phones-normalised",
        "the form of a phone number is not stated",
        asked(PROFILE_UPDATE, _normalised),
        "phones",
    ),
    may(
        "logouts-stand-in-the-history",
        "the values of loginResult have no stated meaning",
        first(LOGOUT, _noted),
    ),
    may(
        "ten-sessions-at-most",
        "maxSessions has no stated value",
        limited(max_sessions=10, max_sessions_settable=10),
        "max-sessions",
    ),
    may(
        "signed-in-elsewhere",
        "whether there is a single sign-on is a deployment's",
        reported(SESSION_CONFIG, "", ssoEnabled=True),
    ),
    may(
        "caller-is-not-listed",
        "whether a listing holds the caller is not stated",
        handled(ACCOUNTS_QUERY, _without_the_caller),
        "listed-accounts",
    ),
    may(
        "pages-of-fifty-by-default",
        _SIZE,
        together(
            *(asked(key, lambda body: {"pageSize": 50} | body) for key in (TYPES_QUERY, CHANNELS_QUERY))
        ),
        "default-size",
    ),
    may(
        "roles-of-the-workspace",
        "whose roles are listed is not stated",
        handled(ROLES, _of_the_workspace),
        "role-listing",
    ),
    may(
        "ranges-of-a-month-at-most",
        "how wide a range may be is not stated",
        first(ORDERS, _a_month_at_most),
        "range",
    ),
    may(
        "channels-begin-inactive",
        "the state of a new channel is not stated",
        then(CHANNEL_CREATE, _inactive_at_first),
        "new-channels",
    ),
)
