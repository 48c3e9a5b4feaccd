"""Invitations that an administrator sends and cancels (chapter "Currency grants, institutions, …")."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta

import pytest

from cases.administration.inviting import (
    EXPIRES_AFTER,
    Invited,
    address_of,
    invited,
    invited_again,
    unless_used_up,
)
from cases.changing import creation
from cases.premises import authorized, form, granted, listed, settled, text, unknown_id
from cases.profile.values import is_shown_whole
from cases.surroundings import Surroundings
from conformance.cases import (
    Account,
    Json,
    Portal,
    Untestable,
    Verify,
    holds,
    impact,
    is_error,
    is_error_of_table,
    is_invalid_parameter,
    offered,
    requirement,
)
from conformance.checks.records import are_alike, moment, portal_time
from conformance.spec.endpoints import INVITATION_CANCEL, INVITATIONS, INVITE, PROFILE

INVALID = "VALIDATION.INVALID_PARAMETER"


@requirement("INVITE-006")
def test_sent_invitations_are_listed_with_some_fields(portal: Portal, verify: Verify, admin: Account) -> None:
    sent = granted(portal.call(INVITATIONS, token=admin.token))
    verify.observe("invite-answers", sent, form(sent.data))


@requirement("INVITE-001", "INVITE-004", "INVITE-007", "INVITE-008")
@impact("mutating")
@pytest.mark.parametrize(
    "requirement_id, wrong",
    [
        ("INVITE-001", {"inviteeEmail": "no-address"}),
        ("INVITE-001", {"inviteeEmail": "two@@example.test"}),
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

    with creation(
        portal, INVITE, INVITATION_CANCEL, {"invitationBizId": "{result_id}"}, by=admin, name=marker
    ) as invitation:
        refused = authorized(portal.call(INVITE, json=body, token=admin.token))
        if not refused.success:
            invitation.settled()
        unless_used_up(portal, admin, refused)
        if requirement_id != "INVITE-001":
            verify(requirement_id, is_error_of_table(refused, INVALID))
        elif verify("INVITE-001", is_invalid_parameter(refused)):
            verify("INVITE-008", is_error(refused, INVALID))


@requirement(
    "INVITE-002", "INVITE-003", "INVITE-006", "INVITE-009", "INVITE-010", "INVITE-011",
    "INVITE-012", "MODEL-016",
    offered(INVITE), offered(INVITATION_CANCEL),
)  # fmt: skip
@impact("disruptive")
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

        invited_again(portal, admin, address_of(marker), further)
        around = Surroundings(portal, admin.token, shared=True)
        cancelled = granted(invitation.creation.undo())
        verify.observe("invite-answers", cancelled, form(cancelled.data))

        after = settled(
            portal,
            lambda: granted(portal.call(INVITATIONS, token=admin.token)),
            lambda listing: invitation.record not in listed(listing),
        )
        same = invitation.record in listed(after)
        verify("INVITE-003", holds(after, "data", not same, "not the invitation as it was", cancelled))
        verify("MODEL-016", around.kept(cancelled, (INVITATIONS, invitation.creation.id)))
        for record in listed(after):
            shown = record.get("message")
            if (
                record.get("bizId") == invitation.creation.id
                and (invitation.record or {}).get("message") == marker
            ):
                kept = not isinstance(shown, str) or not is_shown_whole(shown) or are_alike(shown, marker)
                verify("INVITE-012", holds(after, "data", kept, marker, cancelled, actual=shown))


DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


def _verify_stored(portal: Portal, verify: Verify, admin: Account, invitation: Invited, marker: str) -> None:
    """What the record shows under the names that the caller's own invitations have."""
    record = invitation.record or {}
    for field, value in (("inviteeEmail", address_of(marker)), ("message", marker)):
        shown = record.get(field)
        if isinstance(shown, str) and is_shown_whole(shown):
            same = are_alike(shown, value)
            verify(
                "INVITE-010", holds(invitation.sent, "data", same, value, invitation.accepted, actual=shown)
            )
    if isinstance(inviter := record.get("inviterBizId"), str):
        own = text(granted(portal.call(PROFILE, token=admin.token)), "data.bizId")
        verify(
            "INVITE-011",
            holds(invitation.sent, "data", inviter == own, own, invitation.accepted, actual=inviter),
        )
    if (expires := moment(record.get("expiresAt"))) is not None:
        lasts = expires - portal_time(invitation.accepted)
        in_time = abs(lasts - EXPIRES_AFTER * DAY) <= DAY + HOUR
        expected = f"{EXPIRES_AFTER} days after the invitation"
        verify(
            "INVITE-009",
            holds(
                invitation.sent, "data", in_time, expected, invitation.accepted, actual=record["expiresAt"]
            ),
        )


@requirement("INVITE-005")
@impact("mutating")
def test_an_unknown_invitation_is_not_cancelled(portal: Portal, verify: Verify, admin: Account) -> None:
    existing = next(
        (
            record["bizId"]
            for record in listed(granted(portal.call(INVITATIONS, token=admin.token)))
            if "bizId" in record
        ),
        None,
    )
    unknown = unknown_id(existing if isinstance(existing, str) else portal.record("workspace"))
    exchange = authorized(
        portal.call(
            INVITATION_CANCEL, json={"invitationBizId": unknown, "reason": "unknown"}, token=admin.token
        )
    )
    verify("INVITE-005", is_error_of_table(exchange, "RESOURCE.NOT_FOUND"))
