"""Invitations in any order of answers: what is closed stays closed."""

from __future__ import annotations

from cases.properties.inviting import MAILS_SPARED, Inviting
from conformance.cases import Account, Portal, Search, Untestable, mark


@mark.requirement(
    "INVITE-002", "INVITE-003", "INVITATION-020", "INVITATION-021", "INVITATION-026", "INVITATION-027",
    "INVITATION-029", "INVITATION-030",
)  # fmt: skip
@mark.impact("disruptive")
def test_an_invitation_is_answered_once(portal: Portal, admin: Account, search: Search) -> None:
    """Each sends a mail, and what was answered stays in the listings."""
    if portal.budget.mails_left() <= MAILS_SPARED:
        raise Untestable("[limits] max_mails leaves no mail for invitations in any order")
    spare = portal.account("spare") if portal.has_account("spare") else None

    search.through(lambda trial: Inviting(trial, portal, admin, spare))
