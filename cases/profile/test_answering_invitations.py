"""Invitations accepted and declined (chapter "Moves that are stated").

An answer to an invitation cannot be taken back, so that the cases answer only those that the run has sent.
They try to accept one that has expired, which no portal may let anybody do.
"""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from cases.administration.inviting import (
    OF_ITS_STATE,
    Invited,
    address_of,
    asked_for_no_invitation,
    invited,
    invited_again,
    shows,
)
from cases.at_once import at_once, successes
from cases.changing import changed_beside
from cases.dating import AROUND, DATED, dated, exact_moment, moved
from cases.premises import A_WHILE, WRITTEN, authorized, code_of, form, granted, listed, settled
from cases.profile.both_ends import verify_both_ends
from cases.profile.test_invitations import closed_statuses, own_invitations
from cases.surroundings import NEW, Surroundings
from conformance.cases import (
    Account,
    Exchange,
    Json,
    Portal,
    Untestable,
    Verify,
    holds,
    is_error_of_table,
    is_refused,
    mark,
    offered,
    op,
    portal_time,
    records,
)


def received(exchange: Exchange, invitation: Invited, marker: str) -> dict[str, Json]:
    """The invitation among the invitee's own. Raises Untestable where it is not listed."""
    for record in listed(exchange):
        if shows(record, marker) or record.get("bizId") == (invitation.creation.id or marker):
            if invitation.creation.id is None and isinstance(record.get("bizId"), str):
                invitation.creation.came_to(record["bizId"])
            return record
    raise Untestable("the invitation is not among the invitee's own", "target")


def state_after_accepting(portal: Portal, caller: Account, id: Json) -> tuple[Exchange, str | None]:
    """The state of an invitation that was accepted, as it is listed; once more after a while where that does
    not show yet."""
    return settled(
        portal, lambda: _state_among_accepted(portal, caller, id), lambda reading: reading[1] == "ACCEPTED"
    )


def _state_among_accepted(portal: Portal, caller: Account, id: Json) -> tuple[Exchange, str | None]:
    listing = own_invitations(portal, caller, "ACCEPTED")
    return listing, code_of(entry_of(listing, id)[1], "invitationStatus")


def entry_of(listing: Exchange, id: Json) -> tuple[str, dict[str, Json]]:
    """The place of an invitation, and the invitation; an empty one where it is not listed."""
    entries = [(path, entry) for path, entry in records(listing) if entry.get("bizId") == id]
    return next(iter(entries), ("data", {}))


def verify_kept(
    verify: Verify, listing: Exchange, record: dict[str, Json], entry: dict[str, Json], done: Exchange
) -> None:
    """An invitation that was answered is what it was but for its state."""
    other = changed_beside("AGREE-004", record, entry, named=OF_ITS_STATE)
    was = {name: record[name] for name in other}
    verify("INVITATION-038", holds(listing, "data", not other, was, done, actual=other))


@mark.requirement(
    "INVITATION-020", "INVITATION-029", "INVITATION-034", "INVITATION-038", "INVITATION-039", "AGREE-009",
    "MODEL-013", "MODEL-014", DATED, offered(op.INVITATION_ACCEPT),
)  # fmt: skip
@mark.needs("accounts.spare")
@mark.impact("disruptive")
@mark.pauses(A_WHILE)
def test_an_open_invitation_is_accepted_once(
    portal: Portal, verify: Verify, admin: Account, spare: Account
) -> None:
    marker = portal.unique()
    with invited(portal, admin, spare.email, marker) as invitation, ExitStack() as further:
        record = received(own_invitations(portal, spare), invitation, marker)
        neighbour = invited_again(portal, admin, spare.email, further)
        if neighbour is not None and _is_superseded(portal, spare, record.get("bizId")):
            marker = neighbour.accepted.sent["message"].split()[0]
            record, invitation = received(own_invitations(portal, spare), neighbour, marker), neighbour
            neighbour = None
        if record.get("canAccept") is not True:
            raise Untestable("the invitation that was sent cannot be accepted", "target")
        body = {"invitationBizId": record.get("bizId")}

        around = Surroundings(portal, spare.token)
        portal.clock.wait(A_WHILE, "a time that an answer to an invitation sets")
        answers = at_once(2, lambda: portal.call(op.INVITATION_ACCEPT, json=body, token=spare.token))
        accepted = authorized(next(iter(successes(answers)), answers[0]))
        verify.observe("invitation-answers", accepted, form(accepted.data))
        if accepted.success:
            invitation.stays("accepted")
        after, code = state_after_accepting(portal, spare, record.get("bizId"))
        is_accepted, expected = code == "ACCEPTED", "the accepted invitation as ACCEPTED"
        verify("INVITATION-020", holds(after, "data", is_accepted, expected, accepted, actual=code))

        also_open = neighbour.creation.id if neighbour is not None else None
        if accepted.success:
            _verify_accepted(verify, after, record, accepted)
            of_the_neighbour = [(op.OWN_INVITATIONS, also_open)] if also_open else []
            around.judged(verify, "MODEL-013", accepted, *named_by(record), *of_the_neighbour)
        if accepted.success and also_open is not None:
            also, taken = _state_among_accepted(portal, spare, also_open)
            message = "another invitation was accepted along with the one that was named"
            expected = "not ACCEPTED"
            kept = holds(also, "data", taken != "ACCEPTED", expected, accepted, actual=taken, message=message)
            verify("MODEL-013", kept)
        verify_both_ends(portal, verify, admin, spare)
        _verify_accepted_by_one(verify, answers, after)
        around = Surroundings(portal, spare.token)
        repeated = authorized(portal.call(op.INVITATION_ACCEPT, json=body, token=spare.token))
        if not repeated.success:
            around.judged(verify, "MODEL-014", repeated)
        message = "an accepted invitation was accepted again"
        verify("INVITATION-029", is_refused(repeated, accepted, message=message))
        if also_open is not None and neighbour is not None:
            _verify_cancelled(portal, verify, spare, neighbour)


def _is_superseded(portal: Portal, caller: Account, id: Json) -> bool:
    """Whether a newer invitation has taken the place of one: what becomes of the older is not stated."""
    return not is_open(entry_of(own_invitations(portal, caller), id)[1], id)


def _is_late(accepted: Exchange, listing: Exchange) -> bool:
    """Whether an acceptance was shown only when the list was read again: it may be worked off a queue."""
    return listing.time > accepted.time + WRITTEN / 2


def _verify_accepted_by_one(verify: Verify, answers: list[Exchange], listing: Exchange) -> None:
    """What was accepted twice before either acceptance showed was not accepted yet."""
    for further in [] if _is_late(answers[0], listing) else successes(answers)[1:]:
        message = "two requests at the same moment accepted one invitation"
        verify("INVITATION-029", is_refused(further, answers[0], message=message))


def _verify_cancelled(portal: Portal, verify: Verify, caller: Account, invitation: Invited) -> None:
    """An invitation that was taken back can no longer be accepted."""
    id = invitation.creation.id
    cancelled = authorized(invitation.creation.undo())
    if not cancelled.success:
        return

    def is_closed(listing: Exchange) -> bool:
        return not any(is_open(entry, id) for entry in listed(listing))

    if not is_closed(settled(portal, lambda: own_invitations(portal, caller), is_closed)):
        return
    accepted = authorized(portal.call(op.INVITATION_ACCEPT, json={"invitationBizId": id}, token=caller.token))
    message = "an invitation that was cancelled was accepted"
    verify("INVITATION-029", is_refused(accepted, cancelled, message=message))
    if accepted.success:
        portal.changes.leave(
            op.INVITATION_ACCEPT, "a cancelled invitation was accepted, which cannot be undone"
        )


def _verify_accepted(verify: Verify, listing: Exchange, record: dict[str, Json], accepted: Exchange) -> None:
    path, entry = entry_of(listing, record.get("bizId"))
    verify_kept(verify, listing, record, entry, accepted)
    if code_of(entry, "invitationStatus") == "ACCEPTED":
        is_late = _is_late(accepted, listing)
        verify.observe("acceptance-shows", listing, "later, when it was read again" if is_late else "at once")
    at, time = f"{path}.acceptedAt", entry.get("acceptedAt")
    for comparison in dated(listing, at, time, accepted):
        verify(DATED, comparison)
    for comparison in moved(listing, at, entry.get("createdAt"), time, accepted):
        verify(DATED, comparison)


@mark.requirement("INVITATION-029")
@mark.impact("disruptive")
def test_an_expired_invitation_is_not_accepted(portal: Portal, verify: Verify) -> None:
    """One that the listing shows so, as none can be made; what accepts it changes what cannot be restored."""
    caller, listing, id = _an_expired_one(portal)
    accepted = authorized(portal.call(op.INVITATION_ACCEPT, json={"invitationBizId": id}, token=caller.token))
    message = "an invitation that has expired was accepted"
    verify("INVITATION-029", is_refused(accepted, listing, message=message))
    if accepted.success:
        portal.changes.leave(
            op.INVITATION_ACCEPT, "an expired invitation was accepted, which cannot be undone"
        )


def _an_expired_one(portal: Portal) -> tuple[Account, Exchange, Json]:
    """Who was sent it, where it is listed, and its id. Raises Untestable where there is none."""
    for name in ("spare", "admin"):
        if portal.has_account(name):
            caller = portal.account(name)
            listing = own_invitations(portal, caller, "EXPIRED")
            for entry in listed(listing):
                if _is_surely_over(listing, entry):
                    return caller, listing, entry["bizId"]
    raise Untestable("no account of the profile is shown an invitation that has expired", "environment")


def _is_surely_over(listing: Exchange, entry: dict[str, Json]) -> bool:
    """Also by the portal's own time, whatever an invitation without an end may mean."""
    end = exact_moment(entry.get("expiresAt"))
    return (
        isinstance(entry.get("bizId"), str)
        and entry.get("canAccept") is False
        and code_of(entry, "invitationStatus") == "EXPIRED"
        and end is not None
        and end < portal_time(listing) - AROUND
    )


@mark.requirement(
    "INVITATION-029", "INVITATION-030", "INVITATION-034", "INVITATION-038", "MODEL-014",
    offered(op.INVITATION_DECLINE),
)  # fmt: skip
@mark.needs("accounts.spare")
@mark.impact("disruptive")
def test_a_declined_invitation_can_no_longer_be_accepted(
    portal: Portal, verify: Verify, admin: Account, spare: Account
) -> None:
    marker = portal.unique()
    with invited(portal, admin, spare.email, marker) as invitation:
        record = received(own_invitations(portal, spare), invitation, marker)
        body = {"invitationBizId": record.get("bizId")}

        refusing = {**body, "reason": f"not {marker}"}
        declined = granted(portal.call(op.INVITATION_DECLINE, json=refusing, token=spare.token))
        invitation.stays("declined")
        verify.observe("invitation-answers", declined, form(declined.data))

        listing = settled(
            portal,
            lambda: own_invitations(portal, spare),
            lambda after: not any(is_open(entry, record.get("bizId")) for entry in listed(after)),
        )
        listing = _where_it_is_now(portal, spare, listing, record.get("bizId"))
        around = Surroundings(portal, spare.token)
        accepted = authorized(portal.call(op.INVITATION_ACCEPT, json=body, token=spare.token))
        if not accepted.success:
            around.judged(verify, "MODEL-014", accepted)
        verify("INVITATION-029", is_refused(accepted, declined))
        verify("INVITATION-030", is_refused(accepted, declined, message="a declined invitation was accepted"))
        for entry in listed(listing):
            if entry.get("bizId") == record.get("bizId"):
                verify_kept(verify, listing, record, entry, declined)
                is_closed = entry.get("canAccept") is not True
                verify("INVITATION-030", holds(listing, "data", is_closed, "canAccept false", declined))


def _where_it_is_now(portal: Portal, caller: Account, listing: Exchange, id: Json) -> Exchange:
    """The listing that has an invitation which was closed: where ``statuses`` must be sent, the one in a
    state that the portal's own list has."""
    if entry_of(listing, id)[1] or not listing.request.query:
        return listing
    for value in closed_statuses(portal, caller):
        query = {"statuses": value}
        other = authorized(portal.call(op.OWN_INVITATIONS, query=query, token=caller.token))
        if other.success and entry_of(other, id)[1]:
            return other
    return listing


def named_by(record: dict[str, Json]) -> tuple[tuple[str, ...], ...]:
    """What an accepted invitation may change: itself, the profile, and which workspaces there are beside."""
    id = str(record.get("bizId"))
    return (op.OWN_INVITATIONS, id), (op.PROFILE,), (op.WORKSPACES_CURRENT,), (op.WORKSPACES_MINE, NEW)


def is_open(record: dict[str, Json], id: Json) -> bool:
    """Whether a record is the invitation of this id, and can be accepted."""
    return record.get("bizId") == id and record.get("canAccept") is True


@mark.requirement("INVITATION-031")
@mark.needs("accounts.spare")
@mark.impact("disruptive")
@pytest.mark.parametrize(
    "key, more", [(op.INVITATION_ACCEPT, {}), (op.INVITATION_DECLINE, {"reason": "unknown"})]
)
def test_an_unknown_invitation_is_not_found(
    portal: Portal, verify: Verify, spare: Account, key: str, more: dict[str, str]
) -> None:
    def ask(id: str) -> Exchange:
        return authorized(portal.call(key, json={"invitationBizId": id, **more}, token=spare.token))

    exchange = asked_for_no_invitation(portal, listed(own_invitations(portal, spare)), ask)
    verify("INVITATION-031", is_error_of_table(exchange, "RESOURCE.NOT_FOUND"))


@mark.requirement("INVITATION-036")
@mark.needs("accounts.spare")
@mark.impact("disruptive")
def test_an_invitation_to_somebody_else_is_out_of_reach(
    portal: Portal, verify: Verify, admin: Account, spare: Account
) -> None:
    marker = portal.unique()
    with invited(portal, admin, address_of(marker), marker) as invitation:
        if invitation.creation.id is None:
            raise Untestable("the invitation that was made is not listed with its id", "target")
        for key, more in ((op.INVITATION_DECLINE, {"reason": marker}), (op.INVITATION_ACCEPT, {})):
            body = {"invitationBizId": invitation.creation.id, **more}
            tried = authorized(portal.call(key, json=body, token=spare.token))
            message = "an invitation to another address was answered"
            verify("INVITATION-036", is_refused(tried, invitation.accepted, message=message))
            if tried.success:
                invitation.stays("answered by another account")
                return
