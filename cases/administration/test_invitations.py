"""Invitations that an administrator sends and cancels (chapter "Currency grants, institutions, …")."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta

import pytest

from cases.administration.inviting import (
    OF_ITS_STATE,
    Invited,
    address_of,
    asked_for_no_invitation,
    invited,
    invited_again,
    unless_used_up,
)
from cases.changing import changed_beside, creation
from cases.dating import DATED, dated
from cases.premises import authorized, form, granted, listed, settled, text
from cases.profile.values import is_shown_whole
from cases.surroundings import Surroundings
from conformance.cases import (
    INVALID_BODY,
    Account,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    are_alike,
    holds,
    is_error,
    is_error_of_table,
    is_invalid_parameter,
    mark,
    moment,
    offered,
    op,
    portal_time,
)


@mark.requirement("INVITE-006")
def test_sent_invitations_are_listed_with_some_fields(portal: Portal, verify: Verify, admin: Account) -> None:
    sent = granted(portal.call(op.INVITATIONS, token=admin.token))
    verify.observe("invite-answers", sent, form(sent.data))


@mark.requirement("INVITE-001", "INVITE-004", "INVITE-007", "INVITE-008")
@mark.impact("mutating")
@pytest.mark.parametrize(
    "requirement_id, wrong",
    [
        ("INVITE-001", {"inviteeEmail": "no-address"}),
        ("INVITE-001", {"inviteeEmail": "two@@example.test"}),
        ("INVITE-001", {"inviteeEmail": "begins@example.test well"}),
        ("INVITE-001", {"inviteeEmail": "@example.test"}),
        ("INVITE-001", {"inviteeEmail": "no-domain@"}),
        ("INVITE-004", {"inviteeEmail": ""}),
        ("INVITE-004", {"inviteeEmail": None}),
        ("INVITE-007", {"expirationDays": "soon"}),
        ("INVITE-007", {"expirationDays": {}}),
    ],
)
def test_an_invitation_that_breaks_its_rules_is_refused(
    portal: Portal, verify: Verify, admin: Account, requirement_id: str, wrong: dict[str, Json]
) -> None:
    marker = portal.unique()
    right: dict[str, Json] = {"inviteeEmail": address_of(marker), "message": marker, "expirationDays": 1}
    body = {name: value for name, value in {**right, **wrong}.items() if value is not None}
    undo = {"invitationBizId": "{result_id}"}
    with creation(portal, op.INVITE, undo, by=admin, name=marker) as invitation:
        refused = authorized(portal.call(op.INVITE, json=body, token=admin.token))
        if not refused.success:
            invitation.settled()
        unless_used_up(portal, admin, refused)
        if requirement_id != "INVITE-001":
            verify(requirement_id, is_error_of_table(refused, INVALID_BODY))
        elif verify("INVITE-001", is_invalid_parameter(refused)):
            verify("INVITE-008", is_error(refused, INVALID_BODY))


@mark.requirement(
    "INVITE-002", "INVITE-003", "INVITE-006", "INVITE-009", "INVITE-010", "INVITE-011",
    "INVITE-012", "INVITE-013", "MODEL-016", DATED,
    offered(op.INVITE), offered(op.INVITATION_CANCEL),
)  # fmt: skip
@mark.impact("disruptive")
def test_an_invitation_is_listed_until_it_is_cancelled(
    portal: Portal, verify: Verify, admin: Account
) -> None:
    """It sends a mail, and a cancelled invitation stays in the listings: that cannot be put back."""
    marker = portal.unique()
    with invited(portal, admin, address_of(marker), marker) as invitation, ExitStack() as further:
        verify.observe("invite-answers", invitation.accepted, form(invitation.accepted.data))
        there = invitation.record is not None
        expected = "an invitation that was not there before"
        verify("INVITE-002", holds(invitation.sent, "data", there, expected, invitation.accepted))
        if invitation.record is not None:
            _verify_stored(portal, verify, admin, invitation, marker)
        if invitation.creation.id is None:
            raise Untestable("the invitation that was made is not listed with its id", "target")

        neighbour = invited_again(portal, admin, address_of(marker), further)
        if neighbour is not None and neighbour.record is not None:
            sent = neighbour.accepted.sent["message"]
            verify_text(verify, "INVITE-010", neighbour, "message", sent)
            _verify_expiry(verify, neighbour)
        around = Surroundings(portal, admin.token, shared=True)
        cancelled = granted(invitation.creation.undo())
        verify.observe("invite-answers", cancelled, form(cancelled.data))

        after = settled(
            portal,
            lambda: granted(portal.call(op.INVITATIONS, token=admin.token)),
            lambda listing: invitation.record not in listed(listing),
        )
        same = invitation.record in listed(after)
        verify(
            "INVITE-003",
            holds(after, "data", not same, "the invitation gone, or shown as cancelled", cancelled),
        )
        around.judged(verify, "MODEL-016", cancelled, (op.INVITATIONS, invitation.creation.id))
        for record in listed(after):
            if record.get("bizId") == invitation.creation.id:
                _verify_kept(verify, invitation, after, record, marker, cancelled)


def _verify_kept(
    verify: Verify, invitation: Invited, after: Exchange, record: dict[str, Json], marker: str, done: Exchange
) -> None:
    """A cancelled invitation is what it was but for its state."""
    before, shown = invitation.record or {}, record.get("message")
    if before.get("message") == marker:
        kept = not isinstance(shown, str) or not is_shown_whole(shown) or are_alike(shown, marker)
        verify("INVITE-012", holds(after, "data", kept, marker, done, actual=shown))
    other = changed_beside("AGREE-004", before, record, named=(*OF_ITS_STATE, "message"))
    was = {name: before[name] for name in other}
    verify("INVITE-013", holds(after, "data", not other, was, done, actual=other))


DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
QUARTER = 15 * 60
"""Seconds: days end by them, as zones lie whole quarters of an hour from UTC."""


def _verify_stored(portal: Portal, verify: Verify, admin: Account, invitation: Invited, marker: str) -> None:
    """What the record shows under the names that the caller's own invitations have."""
    record = invitation.record or {}
    for field, value in (("inviteeEmail", address_of(marker)), ("message", marker)):
        verify_text(verify, "INVITE-010", invitation, field, value)
    for comparison in dated(invitation.sent, "data", record.get("createdAt"), invitation.accepted):
        verify(DATED, comparison)
    if isinstance(inviter := record.get("inviterBizId"), str):
        own = text(granted(portal.call(op.PROFILE, token=admin.token)), "data.bizId")
        verify(
            "INVITE-011",
            holds(invitation.sent, "data", inviter == own, own, invitation.accepted, actual=inviter),
        )
    _verify_expiry(verify, invitation)


def _verify_expiry(verify: Verify, invitation: Invited) -> None:
    record, days = invitation.record or {}, invitation.accepted.sent["expirationDays"]
    if (expires := moment(record.get("expiresAt"))) is not None:
        lasts = expires - portal_time(invitation.accepted)
        # To the hour, or at the end of some day, in whatever zone that is.
        is_a_days_end = round(expires.timestamp()) % QUARTER in (0, 1, QUARTER - 1)
        in_time = abs(lasts - days * DAY) <= (DAY + HOUR if is_a_days_end else HOUR)
        expected = f"{days} days after the invitation"
        verify(
            "INVITE-009",
            holds(
                invitation.sent, "data", in_time, expected, invitation.accepted, actual=record["expiresAt"]
            ),
        )


def verify_text(verify: Verify, id: str, invitation: Invited, field: str, value: str) -> None:
    shown = (invitation.record or {}).get(field)
    if isinstance(shown, str) and is_shown_whole(shown):
        same = are_alike(shown, value)
        verify(id, holds(invitation.sent, "data", same, value, invitation.accepted, actual=shown))


@mark.requirement("INVITE-005")
@mark.impact("mutating")
def test_an_unknown_invitation_is_not_cancelled(portal: Portal, verify: Verify, admin: Account) -> None:
    def ask(id: str) -> Exchange:
        body = {"invitationBizId": id, "reason": "unknown"}
        return authorized(portal.call(op.INVITATION_CANCEL, json=body, token=admin.token))

    invitations = listed(granted(portal.call(op.INVITATIONS, token=admin.token)))
    exchange = asked_for_no_invitation(portal, invitations, ask)
    verify("INVITE-005", is_error_of_table(exchange, "RESOURCE.NOT_FOUND"))
