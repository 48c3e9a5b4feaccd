"""What a request brings about, where the document leaves it to the portal (several chapters)."""

from typing import Any

from reference_impl.changes import handled, rewritten, together
from reference_impl.factors import new_backup_codes
from reference_impl.faults.fault import asked, objects, on_success, reported, then
from reference_impl.faults.operations import (
    ACCEPT,
    INVITATIONS,
    ORDERS,
    OTP_VERIFY,
    OWN_INVITATIONS,
    SESSION_CONFIG,
)
from reference_impl.handlers.passwords import end_sessions
from reference_impl.portal import Caller, Portal
from reference_impl.routes import Handler
from reference_impl.shapes import Body
from reference_impl.variants.variant import Variant, day_of, may
from reference_impl.wrappers import Seen


def _by_time_only(body: Body) -> Body:
    return {name: value for name, value in body.items() if name != "sort" or value.startswith("createdAt")}


def _end_of_day(value: Any) -> Any:
    return value if value is None else f"{day_of(value)}T23:59:59.999Z"


def _sent_in_part(seen: Seen, data: Any) -> None:
    """A list of what was sent shows neither message nor inviter, and the addresses masked."""
    for record in objects(data, "[]"):
        name, _, host = record["inviteeEmail"].partition("@")
        record |= {"message": None, "inviterBizId": None, "inviteeEmail": f"{name[:1]}***@{host}"}


def _failures_counted(handler: Handler) -> Handler:
    """The session config has a field of the portal's own, which refused sign-ins move."""

    def showing(portal: Portal, caller: Caller, body: Body) -> Any:
        entries = portal.history.get(caller.account_id, [])
        return handler(portal, caller, body) | {
            "failedSignIns": sum(not each["loginResult"] for each in entries)
        }

    return showing


def _other_sessions_ended(portal: Portal, caller: Caller, body: Body) -> None:
    end_sessions(portal, caller.account_id, but=caller.session_id)
    new_backup_codes(portal, portal.security(caller.account_id))


def _moved_to_it(portal: Portal, caller: Caller, body: Body) -> None:
    """The account belongs to the institution that invited it, and begins in its workspace."""
    joined = portal.find("workspace", portal.find("invitation", body["invitationBizId"])["workspaceBizId"])
    mine = [id for id in caller.account["workspaceBizIds"] if id != joined["bizId"]]
    portal.change("account", caller.account_id, workspaceBizIds=[joined["bizId"], *mine])


VARIANTS: tuple[Variant, ...] = (
    may(
        "orders-are-sorted-by-time-only",
        "by which fields orders can be sorted is not stated",
        asked(ORDERS, _by_time_only),
        "sort",
    ),
    may(
        "invitations-end-with-their-day",
        "that an invitation ends at the hour it was made is not stated",
        together(
            reported(INVITATIONS, "[]", expiresAt=_end_of_day),
            reported(OWN_INVITATIONS, "[]", expiresAt=_end_of_day),
        ),
        "expiry",
    ),
    may(
        "invitations-sent-are-shown-in-part",
        "the fields of the invitations that were sent are not shown",
        rewritten(on_success(_sent_in_part), INVITATIONS),
        "sent-invitations",
    ),
    may(
        "refused-sign-ins-are-counted",
        "fields beyond those that are shown are left open",
        handled(SESSION_CONFIG, _failures_counted),
    ),
    may(
        "a-new-authenticator-ends-other-sessions",
        "what a verified authenticator does to sessions and backup codes is not stated",
        then(OTP_VERIFY, _other_sessions_ended),
    ),
    may(
        "an-accepted-invitation-is-gone-to",
        "which workspace is the current one is not stated",
        then(ACCEPT, _moved_to_it),
    ),
)
