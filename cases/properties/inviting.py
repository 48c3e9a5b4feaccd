"""Invitations as a state machine: sent, cancelled, accepted and declined in any order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

from cases.administration.inviting import ANSWERED, Invitation, address_of, new_among, shows
from cases.changing import Creation
from cases.premises import authorized, granted, listed, settled
from cases.profile.test_answering_invitations import is_open, own_invitations, state_after_accepting
from cases.properties.signing_in import newest
from conformance.cases import (
    Account,
    Exchange,
    Machine,
    Portal,
    Trial,
    Untestable,
    holds,
    is_refused,
    listed_id,
    move,
    op,
)

AT_ONCE = 3
MAILS_SPARED = 15
"""Mails that are left to the other cases of a run."""

WHICH = st.integers(0, AT_ONCE - 1)


@dataclass
class Sent:
    """An invitation as first listed, with its present state and the exchanges since."""

    creation: Creation
    id: str
    record: Invitation
    invitee: Account | None
    state: str = "PENDING"
    steps: list[Exchange] = field(default_factory=list)


class Inviting(Machine):
    """An answer to an invitation cannot be taken back: only those that the run has sent are answered."""

    def __init__(self, trial: Trial, portal: Portal, admin: Account, spare: Account | None) -> None:
        super().__init__(trial)
        self.portal = portal
        self.admin = admin
        self.spare = spare
        self.sent: list[Sent] = []

    def clean_up(self) -> None:
        for invitation in self.sent:
            if invitation.creation.is_open:
                invitation.creation.undo()

    def may_invite(self) -> bool:
        return len(self.sent) < AT_ONCE and self.portal.budget.mails_left() > MAILS_SPARED

    @move(may_invite, spare=st.booleans())
    def invite(self, spare: bool) -> None:
        """Nobody, or the spare account where no invitation of it is still open."""
        open_one = any(
            invitation.invitee is not None and invitation.state == "PENDING" for invitation in self.sent
        )
        invitee = self.spare if spare and not open_one else None
        marker = self.portal.unique()
        email = address_of(marker) if invitee is None else invitee.email
        body = {"inviteeEmail": email, "message": marker, "expirationDays": 1}
        undo = {"invitationBizId": "{result_id}", "reason": marker}
        creation = Creation(self.portal, op.INVITE, undo, by=self.admin, name=marker)
        before = listed(granted(self.portal.call(op.INVITATIONS, token=self.admin.token)))
        answer = authorized(self.portal.call(op.INVITE, json=body, token=self.admin.token))
        if not answer.success:
            # Who is a member already, or was invited before, may not be invited again.
            creation.settled()
            return
        listing = self._sent(lambda one: bool(new_among(one, before, marker)))
        new = new_among(listing, before, marker)
        expected = "an invitation that was not there before"
        counts = f"{len(before)} before, {len(listed(listing))} after"
        self.trial.verify("INVITE-002", holds(listing, "data", bool(new), expected, answer, actual=counts))
        record = next(
            (candidate for candidate in new if shows(candidate, marker) or shows(candidate, email)),
            next(iter(new), None),
        )
        id = listed_id(self.portal, op.INVITE, answer, record)
        if record is None or id is None:
            creation.take_away()
            raise Untestable("the invitation that was made is not listed with its id", "target")
        creation.came_to(id)
        self.sent.append(Sent(creation, id, record, invitee, steps=[answer]))

    def pending(self) -> list[Sent]:
        return [invitation for invitation in self.sent if invitation.state == "PENDING"]

    @move(pending, which=WHICH)
    def cancel(self, which: int) -> None:
        invitation = newest(self.pending(), which)
        answer = invitation.creation.undo()
        invitation.steps.append(answer)
        if answer.success:
            invitation.state = "CANCELLED"
            self._is_no_longer_as_it_was(invitation)
            self._cannot_be_accepted(invitation)

    def _is_no_longer_as_it_was(self, invitation: Sent) -> None:
        listing = self._sent(lambda sent: invitation.record not in listed(sent))
        same = invitation.record in listed(listing)
        expected = "the invitation gone, or shown as cancelled"
        comparison = holds(listing, "data", not same, expected, *invitation.steps, actual=invitation.record)
        self.trial.verify("INVITE-003", comparison)

    def received(self) -> list[Sent]:
        return [invitation for invitation in self.sent if invitation.invitee is not None]

    @move(received, which=WHICH)
    def accept(self, which: int) -> None:
        invitation = newest(self.received(), which)
        open_before = invitation.state == "PENDING" and self._own(invitation).get("canAccept") is True
        answer = self._answer(invitation, op.INVITATION_ACCEPT)
        if invitation.state != "PENDING":
            id = "INVITATION-030" if invitation.state == "DECLINED" else "INVITATION-029"
            self.trial.verify(id, is_refused(answer, *invitation.steps))
        elif open_before and answer.success:
            invitation.creation.stays(ANSWERED.format("accepted"))
            invitation.state = "ACCEPTED"
            self._is_accepted(invitation, answer)

    def _is_accepted(self, invitation: Sent, answer: Exchange) -> None:
        assert invitation.invitee is not None
        after, code = state_after_accepting(self.portal, invitation.invitee, invitation.id)
        self.trial.verify(
            "INVITATION-020",
            holds(after, "data", code == "ACCEPTED", "ACCEPTED", *invitation.steps, actual=code),
        )

    @move(received, which=WHICH)
    def decline(self, which: int) -> None:
        """Whether what is closed can still be declined is not stated."""
        invitation = newest(self.received(), which)
        answer = self._answer(invitation, op.INVITATION_DECLINE)
        if answer.success and invitation.state == "PENDING":
            invitation.creation.stays(ANSWERED.format("declined"))
            invitation.state = "DECLINED"
            self._cannot_be_accepted(invitation)
        elif answer.success:
            self.trial.spoil()

    @move()
    def look(self) -> None:
        """Reads every listing, so that the judge sees them on the wire."""
        granted(self.portal.call(op.INVITATIONS, token=self.admin.token))
        for invitation in self.received():
            if invitation.state != "PENDING":
                self._cannot_be_accepted(invitation)

    # --- what the moves are made of

    def _sent(self, shows_it: Callable[[Exchange], bool]) -> Exchange:
        """The invitations that were sent; once more after a while where a change does not show yet."""
        return settled(
            self.portal, lambda: granted(self.portal.call(op.INVITATIONS, token=self.admin.token)), shows_it
        )

    def _answer(self, invitation: Sent, key: str) -> Exchange:
        assert invitation.invitee is not None
        body = {"invitationBizId": invitation.id} | (
            {"reason": "of the run"} if key == op.INVITATION_DECLINE else {}
        )
        answer = authorized(self.portal.call(key, json=body, token=invitation.invitee.token))
        invitation.steps.append(answer)
        return answer

    def _own(self, invitation: Sent) -> Invitation:
        """Finds the invitation in the invitee's listing; empty if missing."""
        assert invitation.invitee is not None
        own = listed(own_invitations(self.portal, invitation.invitee))
        return next((record for record in own if record.get("bizId") == invitation.id), {})

    def _cannot_be_accepted(self, invitation: Sent) -> None:
        if invitation.invitee is None or self.trial.is_spoiled:
            return
        invitee = invitation.invitee
        listing = settled(
            self.portal,
            lambda: own_invitations(self.portal, invitee),
            lambda own: not any(is_open(record, invitation.id) for record in listed(own)),
        )
        for record in listed(listing):
            if record.get("bizId") == invitation.id:
                can = record.get("canAccept")
                id = "INVITATION-030" if invitation.state == "DECLINED" else "INVITATION-021"
                expected = f"canAccept false: it is {invitation.state}"
                self.trial.verify(
                    id, holds(listing, "data", can is not True, expected, *invitation.steps, actual=can)
                )
