"""Effects that are others than asked for, and endpoints that are there by name only (several chapters)."""

from collections.abc import Callable
from typing import Any

from reference_impl.changes import Change, chosen, handled, rewritten, together
from reference_impl.errors import Refusal
from reference_impl.faults.fault import asked, erring, fault, ignoring, on_success, refusing, reported, then
from reference_impl.faults.operations import (
    ACCOUNT_PASSWORD,
    ACCOUNT_STATUS,
    ACCOUNT_UPDATE,
    CHANNEL_UPDATE,
    INSTITUTION,
    INVITATIONS,
    INVITE,
    LOGOUT,
    ORDERS,
    PROFILE_UPDATE,
    ROLES,
    SESSIONS,
    TYPE_UPDATE,
)
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.wrappers import Seen


def _sorted_as_text(seen: Seen, data: Any) -> None:
    field, _, direction = (seen.asked.query.get("sort") or [""])[-1].partition(",")
    if field == "amount":
        data["content"].sort(key=lambda order: str(order["amount"]), reverse=direction == "desc")


def _always_rising(body: Body) -> Body:
    return body | ({"sort": "amount,asc"} if body.get("sort", "").startswith("amount") else {})


def _unknown_is_done(handler: Handler) -> Handler:
    def acting(portal: Portal, caller: Caller, body: Body) -> Any:
        try:
            return handler(portal, caller, body)
        except Refusal:
            return {}

    return acting


def _failing(operation: str) -> Change:
    return together(erring("BROKEN", "INTERNAL_ERROR", 500), refusing(operation, "BROKEN"))


def _too(kind: str, **values: Any) -> Callable[[Portal, Caller, Body], None]:
    """Other fields of the record are changed with those that are named."""

    def changing(portal: Portal, caller: Caller, body: Body) -> None:
        portal.records[kind][body.get("userBizId") or body.get("bizId") or caller.account_id].update(values)

    return changing


def _taken_over(portal: Portal, caller: Caller, body: Body) -> None:
    portal.records["channel"][body["bizId"]]["createdBy"] = caller.account_id


_ELSEWHERE = {"institutionBizId": "institution-of-another"}
_TOO: tuple[tuple[str, str, str, str, dict[str, Any]], ...] = (
    ("PROFILE-011", "an-update-changes-the-institution-too", PROFILE_UPDATE, "account", _ELSEWHERE),
    ("ACCOUNT-047", "an-update-changes-the-country-too", ACCOUNT_UPDATE, "account", {"defaultCountry": "FR"}),
    ("CHANNEL-061", "an-update-moves-the-channel", CHANNEL_UPDATE, "channel", _ELSEWHERE),
    ("CHANNELTYPE-033", "an-update-moves-the-type", TYPE_UPDATE, "channel type", {"displayOrder": 4711}),
)

FAULTS = (
    *(fault(breaks, name, then(key, _too(kind, **values))) for breaks, name, key, kind, values in _TOO),
    fault("CHANNEL-061", "an-update-takes-over-the-channel", then(CHANNEL_UPDATE, _taken_over)),
    fault("ORDER-035", "amounts-are-sorted-as-text", rewritten(on_success(_sorted_as_text), ORDERS)),
    fault("ORDER-035", "amounts-only-rise", asked(ORDERS, _always_rising)),
    fault("ACCOUNT-045", "the-status-of-nobody-is-changed", handled(ACCOUNT_STATUS, _unknown_is_done)),
    fault("ACCOUNT-046", "the-password-of-nobody-is-reset", handled(ACCOUNT_PASSWORD, _unknown_is_done)),
    fault("INVITE-009", "expiration-days-are-ignored", ignoring(INVITE, "expirationDays")),
    fault("INVITE-010", "the-message-is-another", asked(INVITE, lambda body: body | {"message": "Welcome"})),
    fault(
        "INVITE-011", "the-inviter-is-another", reported(INVITATIONS, "[]", inviterBizId="account-of-another")
    ),
    fault("LOGOUT-006", "a-logout-counts-too-many", reported(LOGOUT, "", terminatedSessions=77)),
    fault(
        "LOGOUT-006",
        "a-logout-of-all-counts-one",
        together(chosen(logout_ends="all"), reported(LOGOUT, "", terminatedSessions=1)),
    ),
    fault("OP-084 ENV-018", "roles-always-fail", _failing(ROLES)),
    fault("OP-065 ENV-018", "institutions-always-fail", _failing(INSTITUTION)),
    fault("OP-023", "sessions-are-an-unknown-path", refusing(SESSIONS, "PATH_UNKNOWN")),
)
