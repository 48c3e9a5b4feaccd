"""What a search finds, when it finds what was written, and what becomes of what is taken away."""

import copy
from collections.abc import Callable
from typing import Any

from reference_impl.changes import Change, chosen, handled, rewritten, together
from reference_impl.errors import Refusal
from reference_impl.faults.fault import refusing, turned
from reference_impl.faults.operations import (
    ACCOUNT_UPDATE,
    ACCOUNTS_QUERY,
    CHANNEL_DELETE,
    CHANNELS_QUERY,
    CURRENT_WORKSPACE,
    GRANTS,
    HISTORY,
    INVITE,
    MY_WORKSPACES,
    PROFILE_UPDATE,
    ROLES,
    TYPE_DELETE,
    TYPES_QUERY,
)
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal, Record
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.variants.variant import Variant, enveloped, may

INDEXED_AFTER = 3.0
"""Seconds until a search finds what was written."""

PLATFORM = "PLATFORM"


# Filters.


def _of_another(
    kind: str, name: str, others: Callable[[Portal, str], set[str]]
) -> Callable[[Handler], Handler]:
    """The filter also takes records of further institutions."""

    def around(handler: Handler) -> Handler:
        def querying(portal: Portal, caller: Caller, body: Body) -> Any:
            wanted = body.get(name)
            if not wanted:
                return handler(portal, caller, body)
            everything, taken = portal.records[kind], {wanted} | others(portal, wanted)
            portal.records[kind] = {id: one for id, one in everything.items() if one[name] in taken}
            try:
                return handler(portal, caller, body | {name: None})
            finally:
                portal.records[kind] = everything

        return querying

    return around


def _beneath(portal: Portal, id: str) -> set[str]:
    """Of the platform all institutions, of a tenant no other."""
    kind = portal.records["institution"].get(id, {}).get("institutionType")
    return set(portal.records["institution"]) if kind == PLATFORM else set()


def _above(portal: Portal, id: str) -> set[str]:
    """The platform, whose channels everybody may use."""
    institutions = portal.records["institution"].values()
    return {one["bizId"] for one in institutions if one["institutionType"] == PLATFORM}


_LETTERS = str.maketrans("админcp", "admincp")


def _by_sound(handler: Handler) -> Handler:
    """Names are looked for as they sound; one of them is written in other letters."""

    def querying(portal: Portal, caller: Caller, body: Body) -> Any:
        everybody = portal.records["account"]
        other = next((one for one in everybody.values() if one["accountName"] == "Person 07"), None)
        if other is not None:
            other["accountName"] = "Админ"
        wanted = (body.get("name") or "").casefold()
        portal.records["account"] = {
            id: one
            for id, one in everybody.items()
            if wanted in one["accountName"].casefold().translate(_LETTERS)
        }
        try:
            return handler(portal, caller, body | {"name": None})
        finally:
            portal.records["account"] = everybody

    return querying


# An index that lags.


def _indexed_later(plan: Plan) -> None:
    """The queries look at a copy of the records, which is made anew some seconds after a change."""
    for operation, kind in (
        (ACCOUNTS_QUERY, "account"),
        (TYPES_QUERY, "channel type"),
        (CHANNELS_QUERY, "channel"),
    ):
        handled(operation, _on_a_copy(kind))(plan)


def _on_a_copy(kind: str) -> Callable[[Handler], Handler]:
    def around(handler: Handler) -> Handler:
        copies: list[tuple[float, dict[str, Record]]] = []

        def querying(portal: Portal, caller: Caller, body: Body) -> Any:
            records, now = portal.records[kind], portal.now()
            if not copies or copies[-1][1] != records:
                copies.append((now, copy.deepcopy(records)))
            ripe = [one for one in copies if one[0] <= now - INDEXED_AFTER]
            del copies[: max(0, len(ripe) - 1)]
            portal.records[kind] = copies[0][1]
            try:
                return handler(portal, caller, body)
            finally:
                portal.records[kind] = records

        return querying

    return around


# What is taken away.


def _kept_as(operation: str, kind: str, **marks: Any) -> Change:
    """What is taken away stays, with a mark on it."""

    def around(handler: Handler) -> Handler:
        def removing(portal: Portal, caller: Caller, body: Body) -> Any:
            before = dict(portal.records[kind])
            data = handler(portal, caller, body)
            for id, record in before.items():
                if id == body.get("bizId"):
                    record.update(marks, updatedAt=portal.now())
            portal.records[kind] = before
            return data

        return removing

    return handled(operation, around)


def _revoked_too(handler: Handler) -> Handler:
    """Grants that were revoked are listed as such."""
    return lambda portal, caller, body: portal.views("currency grant", portal.newest("currency grant"))


def _deleted_types_too(plan: Plan) -> None:
    """A type of no known state is shown under a code of its own."""
    plan.lists["notification-channel-type-statuses"] = (
        *plan.lists["notification-channel-type-statuses"],
        plan.lists["notification-channel-type-statuses"][0]._replace(
            code="DELETED", value=80010309, label="Deleted"
        ),
    )


# Answers to updates.


def _as_it_was(operation: str, of: Callable[[Caller, Body], str]) -> Change:
    """An update is answered by the record that it found."""

    def around(handler: Handler) -> Handler:
        def updating(portal: Portal, caller: Caller, body: Body) -> Any:
            before = portal.view("account", portal.find("account", of(caller, body)))
            handler(portal, caller, body)
            return before

        return updating

    return handled(operation, around)


# Empty listings.


def _no_first_page(page: dict[str, Any]) -> None:
    """Where there is nothing there is no page."""
    if page.get("totalRecords") == 0:
        page["currentPage"] = 0


def _nothing_is_no_page(listing: str) -> Callable[[Any, Any], None]:
    """A page of nothing is refused, the first one too."""

    def rewriting(seen: Any, answer: Any) -> None:
        if answer.body["success"] and not answer.body["data"][listing]:
            answer.status = 400
            answer.body |= {
                "success": False,
                "code": "VALIDATION.INVALID_PARAMETER",
                "message": "There is no such page",
                "data": None,
            }

    return rewriting


def _refuse_without_a_workspace(portal: Portal, caller: Caller, body: Body) -> Any:
    raise Refusal("GA2031")


_FILTER = "what a filter takes is not stated"

VARIANTS: tuple[Variant, ...] = (
    may(
        "institutions-with-those-beneath",
        _FILTER,
        handled(ACCOUNTS_QUERY, _of_another("account", "institutionBizId", _beneath)),
        "account-institutions",
    ),
    may(
        "channels-are-inherited",
        _FILTER,
        handled(CHANNELS_QUERY, _of_another("channel", "institutionBizId", _above)),
        "channel-institutions",
    ),
    may("names-by-their-sound", _FILTER, handled(ACCOUNTS_QUERY, _by_sound), "account-names"),
    may("searches-lag", "when a search finds what was written is not stated", _indexed_later, "consistency"),
    may(
        "deleted-channels-are-marked",
        "N5: what a deletion does is not shown",
        _kept_as(CHANNEL_DELETE, "channel", channelStatus="DELETED"),
        "deleted-channels",
    ),
    may(
        "deleted-types-are-marked",
        "N5: what a deletion does is not shown",
        together(_deleted_types_too, _kept_as(TYPE_DELETE, "channel type", typeStatus="DELETED")),
        "deleted-types",
    ),
    may(
        "revoked-grants-are-marked",
        "the fields of a grant, and what revoking does, are not shown",
        handled(GRANTS, _revoked_too),
        "revoked-grants",
    ),
    may(
        "update-answers-the-record-before",
        "which account the answer to an update shows, and of when, is not stated",
        _as_it_was(PROFILE_UPDATE, lambda caller, body: caller.account_id),
        "update-answer",
    ),
    may(
        "administrators-update-answers-the-record-before",
        "N5: the answer to an update is not shown",
        together(
            chosen(changes_answer="resource"),
            _as_it_was(ACCOUNT_UPDATE, lambda caller, body: str(body["userBizId"])),
        ),
        "answers",
    ),
    may(
        "admin-without-a-workspace",
        "who has a workspace is not stated; GA2031 is given at workspaces/current",
        together(
            handled(CURRENT_WORKSPACE, lambda handler: _refuse_without_a_workspace),
            handled(MY_WORKSPACES, lambda handler: lambda portal, caller, body: []),
            handled(ROLES, lambda handler: lambda portal, caller, body: []),
            refusing(INVITE, "GA2031"),
        ),
        "my-workspaces",
    ),
    may(
        "no-first-page-of-nothing",
        "which page an empty listing has is not stated",
        together(
            *(turned(key, "pagination", _no_first_page) for key in (HISTORY, TYPES_QUERY, CHANNELS_QUERY))
        ),
        "empty-page",
    ),
    may(
        "nothing-is-no-page",
        "which page an empty listing has is not stated",
        together(
            *(
                rewritten(enveloped(_nothing_is_no_page(listing)), key)
                for key, listing in (
                    (ACCOUNTS_QUERY, "accounts"),
                    (CHANNELS_QUERY, "items"),
                    (TYPES_QUERY, "items"),
                )
            )
        ),
        "empty-page",
    ),
)
