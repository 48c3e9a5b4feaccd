"""Invitations, as who is invited and as an administrator sees them (chapters "Profile", "Invitations")."""

from functools import partial
from typing import Any

from reference_impl import invitations
from reference_impl.changes import Change, chosen, moved, together
from reference_impl.errors import INVALID
from reference_impl.faults import operations as op
from reference_impl.faults.fault import (
    Call,
    answered,
    asked,
    ignoring,
    optional,
    pretending,
    renamed,
    reported,
    ruled,
    served,
    then,
    turned,
)
from reference_impl.faults.requests import racing
from reference_impl.faults.verbs import as_another, in_ascii, named_with
from reference_impl.portal import Caller, Portal, Record
from reference_impl.shapes import Body, address


def _without_cancelled(call: Call, data: Any) -> Any:
    hidden = [] if call.body.get("statuses") else ["CANCELLED"]
    return [record for record in data if record["invitationStatus"]["code"] not in hidden]


def _the_first_alone(body: Body) -> Body:
    """Of several statuses the first one counts."""
    sent = body.get("statuses")
    return body | {"statuses": [values[:1] for values in sent[:1]]} if sent else body


def _also_once_cancelled(call: Call) -> Any:
    """Accepts a cancelled invitation as if it were pending; listings still show CANCELLED before."""
    record = call.portal.find("invitation", call.body["invitationBizId"])
    if record["invitationStatus"] == "CANCELLED":
        call.portal.change("invitation", record["bizId"], invitationStatus="PENDING")
    return call.run()


def _whenever_it_expires(call: Call) -> Any:
    """What is kept as pending is accepted, whatever its end."""
    record = call.portal.find("invitation", call.body["invitationBizId"])
    end = record["expiresAt"]
    record["expiresAt"] = max(end, call.portal.now() + 60)
    try:
        return call.run()
    finally:
        record["expiresAt"] = end


def _anybodys(call: Call) -> Any:
    """Whoever names an invitation declines it."""
    record = call.portal.find("invitation", call.body["invitationBizId"])
    if invitations.is_for(call.caller, record):
        return call.run()
    declined = invitations.move(call.portal, record, "decline")
    return call.portal.view("invitation", invitations.current(call.portal, declined))


def _reason_for_message(portal: Portal, caller: Caller, body: Body) -> None:
    portal.find("invitation", body["invitationBizId"])["message"] = body.get("reason")


def _acceptable(code: str) -> Change:
    """Invitations in this state say that they can be accepted."""

    def turn(item: Record) -> None:
        item["canAccept"] = item["canAccept"] or item["invitationStatus"]["code"] == code

    return turned(op.OWN_INVITATIONS, "[]", turn)


def _accepted_where_pending(item: Record) -> None:
    if item["invitationStatus"]["code"] == "PENDING":
        item["acceptedAt"] = item["createdAt"]


def _everybodys(call: Call) -> Any:
    """Lists everybody's invitations; ``none`` stands for the name of an invitee without an account."""
    portal, sent = call.portal, call.body.get("statuses") or []
    records = [invitations.current(portal, record) for record in portal.newest("invitation")]
    wanted = {portal.symbol("user-invitation-statuses", number) for numbers in sent for number in numbers}
    shown = [record for record in records if not wanted or record["invitationStatus"] in wanted]
    nameless = ("inviteeAccountBizId", "inviteeAccountName", "inviterName")
    named = [record | {name: record[name] or "none" for name in nameless} for record in shown]
    return portal.views("invitation", named)


ROWS = {
    "INVITE-001 any-text-is-invited": ruled(op.INVITE, "inviteeEmail", address),
    "INVITE-008 invalid-email-has-the-other-code": renamed(op.INVITE, INVALID, "COMMAND_INVALID"),
    "INVITE-002 invitation-is-not-kept": pretending(op.INVITE, "invitation"),
    "INVITE-003 cancelled-invitation-stays-pending": pretending(op.CANCEL, "invitation"),
    "INVITE-004 nobody-is-invited": optional(op.INVITE, "inviteeEmail", "nobody@example.test"),
    "INVITE-005 cancelling-an-unknown-invitation-is-400": renamed(op.CANCEL, "RESOURCE.NOT_FOUND", INVALID),
    "INVITE-007 expiration-days-take-text": ruled(op.INVITE, "expirationDays", lambda value, limits: 7),
    "INVITE-013 a-cancelled-invitation-ends-at-once": then(
        op.CANCEL, named_with("invitation", "invitationBizId", expiresAt=lambda record: record["createdAt"])
    ),
    "INVITATION-038 an-accepted-invitation-ends-at-once": then(
        op.ACCEPT, named_with("invitation", "invitationBizId", expiresAt=lambda record: record["createdAt"])
    ),
    "INVITE-009 expiration-days-are-ignored": ignoring(op.INVITE, "expirationDays"),
    "INVITE-011 the-inviter-is-another": reported(op.INVITATIONS, "[]", inviterBizId="account-of-another"),
    "INVITATION-025 cancelled-invitations-are-left-out": answered(op.OWN_INVITATIONS, _without_cancelled),
    "INVITATION-037 of-several-statuses-the-first-counts": asked(op.OWN_INVITATIONS, _the_first_alone),
    "INVITATION-029 two-acceptances-at-once-succeed": racing(op.ACCEPT, "records"),
    "INVITATION-029 a-cancelled-invitation-is-accepted": served(op.ACCEPT, _also_once_cancelled),
    "INVITATION-029 an-expired-invitation-is-accepted": served(op.ACCEPT, _whenever_it_expires),
    "INVITATION-036 anybody-declines-an-invitation": served(op.DECLINE, _anybodys),
    "INVITATION-020 accepting-does-not-stick": pretending(op.ACCEPT, "invitation"),
    "INVITATION-021 declined-invitation-can-be-accepted": _acceptable("DECLINED"),
    "INVITATION-021 accepted-invitation-can-be-accepted": _acceptable("ACCEPTED"),
    "INVITATION-022 statuses-are-ignored": ignoring(op.OWN_INVITATIONS, "statuses"),
    "INVITATION-026 nothing-can-be-accepted": reported(op.OWN_INVITATIONS, "[]", canAccept=False),
    "INVITATION-027 pending-invitation-says-when-accepted": turned(
        op.OWN_INVITATIONS, "[]", _accepted_where_pending
    ),
    "INVITATION-027 accepted-invitation-does-not-say-when": reported(
        op.OWN_INVITATIONS, "[]", acceptedAt=None
    ),
    "INVITATION-028 invitations-never-expire": moved("invitation", "PENDING", "expire", None).at(
        op.OWN_INVITATIONS
    ),
    "INVITATION-030 declining-does-not-stick": pretending(op.DECLINE, "invitation"),
    "INVITATION-031 unknown-invitation-is-400-at-decline": renamed(op.DECLINE, "RESOURCE.NOT_FOUND", INVALID),
    "INVITATION-032 cancelled-invitations-are-anothers": together(
        chosen(statuses_required=True),
        served(op.OWN_INVITATIONS, partial(as_another, email="person01@example.test")),
    ),
    "INVITATION-032 invitations-of-everybody": served(op.OWN_INVITATIONS, _everybodys),
    "INVITATION-033 accepting-nothing-is-404": optional(op.ACCEPT, "invitationBizId", "none"),
    "INVITATION-035 the-invitee-is-named-like-the-inviter": turned(
        op.OWN_INVITATIONS, "[]", lambda item: item.update(inviteeAccountName=item["inviterName"])
    ),
    "INVITE-012 the-reason-replaces-the-message": then(op.CANCEL, _reason_for_message),
    "INVITE-010 a-message-loses-other-letters": asked(op.INVITE, in_ascii("message")),
    "INVITATION-038 a-reason-to-decline-replaces-the-message": then(op.DECLINE, _reason_for_message),
}
