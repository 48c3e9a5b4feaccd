"""What is right where one looks first, and wrong for another workspace, state, reader or length."""

import copy
from typing import Any

from reference_impl.changes import handled, rewritten
from reference_impl.errors import Refusal
from reference_impl.faults.fault import asked, fault, first, then
from reference_impl.faults.operations import (
    ACCOUNT_STATUS,
    ACCOUNT_UPDATE,
    ACCOUNTS_QUERY,
    CHANNEL_DEACTIVATE,
    COMMAND,
    CURRENT_WORKSPACE,
    INSTITUTION,
    INVITE,
    OWN_INVITATIONS,
    SESSIONS,
    SET_WHITELIST,
    constants,
)
from reference_impl.plan import Plan
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.wrappers import Answer, Seen

MFA_METHODS, COUNTRIES = constants("user-mfa-methods"), constants("countries")
WEEK = 7


def _of_the_callers_institution(handler: Handler) -> Handler:
    def showing(portal: Portal, caller: Caller, body: Body) -> Any:
        return handler(portal, caller, body) | {"institutionBizId": caller.account["institutionBizId"]}

    return showing


def _active_only(portal: Portal, caller: Caller, body: Body) -> None:
    found = portal.records["institution"].get(body["institutionBizId"])
    if found is not None and found["institutionStatus"] != "ACTIVE":
        raise Refusal("RESOURCE.NOT_FOUND")


def _without_cancelled(handler: Handler) -> Handler:
    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        data = handler(portal, caller, body)
        if body.get("statuses"):
            return data
        return [record for record in data if record["invitationStatus"]["code"] != "CANCELLED"]

    return listing


def _a_week_at_most(body: Body) -> Body:
    return body | {"expirationDays": min(body.get("expirationDays") or WEEK, WEEK)}


def _remembers(plan: Plan) -> None:
    """Pages of the query are kept until an administrator changes some account."""
    pages: dict[str, Any] = {}

    def querying(handler: Handler) -> Handler:
        def answering(portal: Portal, caller: Caller, body: Body) -> Any:
            if str(body) not in pages:
                pages[str(body)] = handler(portal, caller, body)
            return copy.deepcopy(pages[str(body)])

        return answering

    def forget(portal: Portal, caller: Caller, body: Body) -> None:
        pages.clear()

    handled(ACCOUNTS_QUERY, querying)(plan)
    for operation in (ACCOUNT_UPDATE, ACCOUNT_STATUS):
        then(operation, forget)(plan)


def _switched_off(portal: Portal, caller: Caller, body: Body) -> None:
    portal.change("security", caller.account_id, whitelistState="DISABLED")


def _first_timestamp(seen: Seen, answer: Answer) -> None:
    if answer.body["success"]:
        answer.body["timestamp"] = seen.memory.setdefault("timestamp", answer.body["timestamp"])


def _known_while_active(portal: Portal, caller: Caller, body: Body) -> None:
    if portal.records["channel"].get(body["bizId"], {}).get("channelStatus") == "INACTIVE":
        raise Refusal("RESOURCE.NOT_FOUND")


def _of_the_caller(handler: Handler) -> Handler:
    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        factors = portal.security(caller.account_id)["factors"]
        shown = handler(portal, caller, body)
        return [item for item in shown if factors.get(item["code"], {}).get("isEnabled", True)]

    return listing


def _of_the_client(handler: Handler) -> Handler:
    def listing(portal: Portal, caller: Caller, body: Body) -> Any:
        client = {"clientIp": caller.client_ip, "userAgent": caller.user_agent}
        return [session | client for session in handler(portal, caller, body)]

    return listing


def _by_whom_it_was(handler: Handler) -> Handler:
    def deactivating(portal: Portal, caller: Caller, body: Body) -> Any:
        before = portal.records["channel"].get(body["bizId"], {}).get("updatedBy")
        data = handler(portal, caller, body)
        portal.records["channel"][body["bizId"]]["updatedBy"] = before
        return data

    return deactivating


FAULTS = (
    fault(
        "AGREE-003",
        "the-current-workspace-is-of-the-callers-institution",
        handled(CURRENT_WORKSPACE, _of_the_callers_institution),
    ),
    fault("INSTITUTION-012", "an-institution-in-review-is-unknown", first(INSTITUTION, _active_only)),
    fault(
        "INVITATION-025", "cancelled-invitations-are-left-out", handled(OWN_INVITATIONS, _without_cancelled)
    ),
    fault("INVITE-009", "expiration-days-end-with-a-week", asked(INVITE, _a_week_at_most)),
    fault("MODEL-021", "the-account-query-remembers", _remembers, ACCOUNTS_QUERY),
    fault("MODEL-010", "new-addresses-switch-the-whitelist-off", then(SET_WHITELIST, _switched_off)),
    fault("MODEL-006", "countries-are-kept-with-their-timestamp", rewritten(_first_timestamp, COUNTRIES)),
    fault(
        "CHANNEL-066", "an-inactive-channel-is-unknown-to-the-command", first(COMMAND, _known_while_active)
    ),
    fault(
        "CONSTANT-064",
        "mfa-methods-are-those-of-the-caller",
        handled(MFA_METHODS, _of_the_caller),
        also="CONSTANT-055",
    ),
    fault("SESSION-044", "every-session-is-of-the-client-that-lists-it", handled(SESSIONS, _of_the_client)),
    fault("MODEL-020", "a-deactivation-names-nobody", handled(CHANNEL_DEACTIVATE, _by_whom_it_was)),
)
