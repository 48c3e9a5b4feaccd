"""How the cases invite somebody: with a message by which the invitation is found in the listings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from cases.changing import Creation, creation
from cases.nobody import Ask, asked_for_nobody, is_surely_free
from cases.premises import authorized, granted, listed, refusal_text, settled
from conformance.cases import KNOWN_CODES, Account, Exchange, Json, Portal, Untestable, listed_id, op, own_id

Invitation = dict[str, Json]

IN_SEVERAL_SCRIPTS = "Zoë, 漢字, Привет: to whom it may concern, and to nobody else at all"
AT_LENGTH = f"{IN_SEVERAL_SCRIPTS}. " * 4
"""A text is a string, whatever letters it has, and longer than a name; or as long as people write."""

OF_ITS_STATE = ("invitationStatus", "acceptedAt")
"""What an invitation shows otherwise once it was answered or cancelled."""

EXPIRES_AFTER, EXPIRES_LATE = 3, 30
"""Days: no numbers that a portal would take by itself, and one beyond that which it may take."""


def address_of(marker: str) -> str:
    """An address at which nobody is."""
    return f"{marker}@example.test"


@dataclass(frozen=True)
class Invited:
    """``record`` is the invitation in the listing ``sent``, None where nothing is new there; ``accepted`` is
    the answer to its making; ``creation`` takes it back."""

    record: Invitation | None
    sent: Exchange
    accepted: Exchange
    creation: Creation

    def stays(self, how: str) -> None:
        """Notes how it was answered: nothing takes that back."""
        self.creation.stays(f"the run's own invitation {self.creation.id} was {how}")


@contextmanager
def invited(
    portal: Portal,
    admin: Account,
    email: str,
    marker: str,
    *,
    message: str | None = None,
    days: int = EXPIRES_AFTER,
) -> Iterator[Invited]:
    """An invitation with the message ``marker``, or one that holds it, cancelled afterwards where that is
    still due.

    Raises Untestable where it could not be made.
    """
    body = {"inviteeEmail": email, "message": message or marker, "expirationDays": days}
    undo = {"invitationBizId": "{result_id}", "reason": f"cancelled {marker}"}
    with creation(portal, op.INVITE, undo, by=admin, name=marker) as making:
        before = listed(granted(portal.call(op.INVITATIONS, token=admin.token)))
        answer = authorized(portal.call(op.INVITE, json=body, token=admin.token))
        if not answer.success:
            making.settled()
            raise Untestable(f"{op.INVITE} was refused ({refusal_text(answer)})", "environment")

        def new_in(listing: Exchange) -> Invitation | None:
            """Finds the invitation, or else a new candidate: the listing may show older ones of the run
            late."""
            new = new_among(listing, before, marker)
            own = (record for record in new if shows(record, marker) or shows(record, email))
            others = (record for record in new if not _is_of_the_run(record, portal.run_id))
            return next(own, None) or next(others, None)

        sent = settled(
            portal,
            lambda: granted(portal.call(op.INVITATIONS, token=admin.token)),
            lambda listing: new_in(listing) is not None,
        )
        record = new_in(sent)
        id = listed_id(portal, op.INVITE, answer, record)
        if id is not None and not any(id == other.get("bizId") for other in before):
            making.came_to(id)
        yield Invited(record, sent, answer, making)


def invited_again(portal: Portal, admin: Account, email: str, further: ExitStack) -> Invited | None:
    """Another invitation of an address, until ``further`` is closed, with a message in several scripts and
    for longer; None where who is invited may not be invited again, or not so."""
    for days, words in ((EXPIRES_LATE, AT_LENGTH), (EXPIRES_AFTER, IN_SEVERAL_SCRIPTS)):
        with suppress(Untestable):
            marker = portal.unique()
            message = f"{marker} {words}".strip()
            another = invited(portal, admin, email, marker, message=message, days=days)
            return further.enter_context(another)
    return None


def unless_used_up(portal: Portal, admin: Account, refused: Exchange) -> Exchange:
    """A refusal that speaks of what was sent. Raises Untestable where a proper invitation is refused too: a
    quota may be used up, and kept before anything is read."""
    if refused.success or refused.code is None or refused.code in KNOWN_CODES:
        return refused
    if portal.impact != "disruptive":
        raise Untestable(f"the refusal may be that of a quota ({refusal_text(refused)})", "environment")
    marker = portal.unique()
    with invited(portal, admin, address_of(marker), marker):
        return refused


def new_among(listing: Exchange, before: list[Invitation], marker: str) -> list[Invitation]:
    """Invitations that hold the marker, then listed invitations with a new id: other fields may change by
    themselves, and a wrong match would cancel somebody else's invitation."""
    own = [record for record in listed(listing) if shows(record, marker)]
    known = {own_id(record) for record in before} - {None}
    others = (record for record in listed(listing) if record not in own and record not in before)
    return own + [record for record in others if own_id(record) not in known]


def asked_for_no_invitation(portal: Portal, invitations: list[Invitation], ask: Ask) -> Exchange:
    """Asks for an unknown id in the form of the listed invitations' ids."""
    ids = [id for record in invitations if isinstance(id := record.get("bizId"), str)]
    existing = ids[0] if ids else portal.record("workspace")
    return asked_for_nobody(portal, existing, ask, is_free=is_surely_free(existing, *ids))


def shows(record: Invitation, marker: str) -> bool:
    """Whether a text of an invitation holds the marker, and not one that goes on with further digits."""
    wanted = re.compile(rf"{re.escape(marker)}(?![0-9])")
    return any(isinstance(value, str) and wanted.search(value) for value in record.values())


def _is_of_the_run(record: Invitation, run_id: str) -> bool:
    return any(isinstance(value, str) and f"{run_id}-" in value for value in record.values())
