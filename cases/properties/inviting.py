"""Invitations as a state machine: sent, cancelled, accepted and declined in any order."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from cases.administration.inviting import Invitation, address_of, shows
from cases.changing import Creation
from cases.premises import authorized, granted, listed, settled
from cases.profile.test_answering_invitations import is_open, own_invitations, state_after_accepting
from cases.properties.signing_in import newest
from conformance.cases import Account, Exchange, Portal, Untestable, holds, is_refused
from conformance.run.search import Machine, Trial, move
from conformance.spec.endpoints import (
    INVITATION_ACCEPT,
    INVITATION_CANCEL,
    INVITATION_DECLINE,
    INVITATIONS,
    INVITE,
)

AT_ONCE = 3
MAILS_SPARED = 15
"""Mails that are left to the other cases of a run."""

WHICH = st.integers(0, AT_ONCE - 1)


@dataclass
class Sent:
    """An invitation, as it was listed when it was new, and what has become of it."""

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
        for one in self.sent:
            if one.creation.is_open:
                one.creation.undo()

    def may_invite(self) -> bool:
        return len(self.sent) < AT_ONCE and self.portal.budget.mails_left() > MAILS_SPARED

    @move(may_invite, spare=st.booleans())
    def invite(self, spare: bool) -> None:
        """Nobody, or the spare account where no invitation of it is still open."""
        open_one = any(one.invitee is not None and one.state == "PENDING" for one in self.sent)
        invitee = self.spare if spare and not open_one else None
        marker = self.portal.unique()
        email = address_of(marker) if invitee is None else invitee.email
        body = {"inviteeEmail": email, "message": marker, "expirationDays": 1}
        undo = {"invitationBizId": "{result_id}", "reason": marker}
        number = self.portal.changes.creating(
            INVITE, INVITATION_CANCEL, undo, name=marker, account=self.admin.name
        )
        creation = Creation(self.portal, number, INVITATION_CANCEL, undo, self.admin)
        before = listed(granted(self.portal.call(INVITATIONS, token=self.admin.token)))
        answer = authorized(self.portal.call(INVITE, json=body, token=self.admin.token))
        if not answer.success:
            # Who is a member already, or was invited before, may not be invited again.
            creation.settled()
            return
        listing = granted(self.portal.call(INVITATIONS, token=self.admin.token))
        new = [one for one in listed(listing) if one not in before]
        expected = "an invitation that was not there before"
        seen = f"{len(before)} before, {len(listed(listing))} after"
        self.trial.verify("INVITE-002", holds(listing, "data", bool(new), expected, answer, actual=seen))
        record = next((one for one in new if shows(one, marker) or shows(one, email)), next(iter(new), None))
        if record is None or not isinstance(record.get("bizId"), str):
            raise Untestable("the invitation that was made is not listed with its id", "target")
        creation.came_to(record["bizId"])
        self.sent.append(Sent(creation, record["bizId"], record, invitee, steps=[answer]))

    def pending(self) -> list[Sent]:
        return [one for one in self.sent if one.state == "PENDING"]

    @move(pending, which=WHICH)
    def cancel(self, which: int) -> None:
        one = newest(self.pending(), which)
        answer = one.creation.undo()
        one.steps.append(answer)
        if answer.success:
            one.state = "CANCELLED"
            self._is_no_longer_as_it_was(one)
            self._cannot_be_accepted(one)

    def _is_no_longer_as_it_was(self, one: Sent) -> None:
        listing = granted(self.portal.call(INVITATIONS, token=self.admin.token))
        same = one.record in listed(listing)
        expected = "not the invitation as it was"
        comparison = holds(listing, "data", not same, expected, *one.steps, actual=one.record)
        self.trial.verify("INVITE-003", comparison)

    def received(self) -> list[Sent]:
        return [one for one in self.sent if one.invitee is not None]

    @move(received, which=WHICH)
    def accept(self, which: int) -> None:
        one = newest(self.received(), which)
        open_before = one.state == "PENDING" and self._own(one).get("canAccept") is True
        answer = self._answer(one, INVITATION_ACCEPT)
        if one.state != "PENDING":
            id = "INVITATION-030" if one.state == "DECLINED" else "INVITATION-029"
            self.trial.verify(id, is_refused(answer, *one.steps))
        elif open_before and answer.success:
            one.creation.settled()
            one.state = "ACCEPTED"
            self._is_accepted(one, answer)

    def _is_accepted(self, one: Sent, answer: Exchange) -> None:
        assert one.invitee is not None
        after, code = state_after_accepting(self.portal, one.invitee, one.id)
        self.trial.verify(
            "INVITATION-020", holds(after, "data", code == "ACCEPTED", "ACCEPTED", *one.steps, actual=code)
        )

    @move(received, which=WHICH)
    def decline(self, which: int) -> None:
        """Whether what is closed can still be declined is not stated."""
        one = newest(self.received(), which)
        answer = self._answer(one, INVITATION_DECLINE)
        if answer.success and one.state == "PENDING":
            one.creation.settled()
            one.state = "DECLINED"
            self._cannot_be_accepted(one)
        elif answer.success:
            self.trial.spoil()

    @move()
    def look(self) -> None:
        """Every listing, for what is judged of it on the wire."""
        granted(self.portal.call(INVITATIONS, token=self.admin.token))
        for one in self.received():
            if one.state != "PENDING":
                self._cannot_be_accepted(one)

    # --- what the moves are made of

    def _answer(self, one: Sent, key: str) -> Exchange:
        assert one.invitee is not None
        body = {"invitationBizId": one.id} | ({"reason": "of the run"} if key == INVITATION_DECLINE else {})
        answer = authorized(self.portal.call(key, json=body, token=one.invitee.token))
        one.steps.append(answer)
        return answer

    def _own(self, one: Sent) -> Invitation:
        """The invitation among the invitee's own; empty where it is not listed there."""
        assert one.invitee is not None
        own = listed(own_invitations(self.portal, one.invitee))
        return next((record for record in own if record.get("bizId") == one.id), {})

    def _cannot_be_accepted(self, one: Sent) -> None:
        if one.invitee is None or self.trial.is_spoiled:
            return
        invitee = one.invitee
        listing = settled(
            self.portal,
            lambda: own_invitations(self.portal, invitee),
            lambda own: not any(is_open(record, one.id) for record in listed(own)),
        )
        for record in listed(listing):
            if record.get("bizId") == one.id:
                can = record.get("canAccept")
                id = "INVITATION-030" if one.state == "DECLINED" else "INVITATION-021"
                expected = f"canAccept false: it is {one.state}"
                self.trial.verify(
                    id, holds(listing, "data", can is not True, expected, *one.steps, actual=can)
                )
