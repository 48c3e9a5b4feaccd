"""How the cases invite somebody: with a message by which the invitation is found in the listings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass

from cases.changing import Creation, creation
from cases.premises import authorized, granted, listed, refusal_text, settled
from conformance.cases import Account, Exchange, Json, Portal, Untestable
from conformance.spec.endpoints import INVITATION_CANCEL, INVITATIONS, INVITE
from conformance.verdicts.comparisons import KNOWN_CODES

Invitation = dict[str, Json]

EXPIRES_AFTER = 3
"""Days: no number that a portal would take by itself."""


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


@contextmanager
def invited(portal: Portal, admin: Account, email: str, marker: str) -> Iterator[Invited]:
    """An invitation with the message ``marker``, cancelled afterwards where that is still due.

    Raises Untestable where it could not be made.
    """
    body = {"inviteeEmail": email, "message": marker, "expirationDays": EXPIRES_AFTER}
    undo = {"invitationBizId": "{result_id}", "reason": f"cancelled {marker}"}
    with creation(portal, INVITE, INVITATION_CANCEL, undo, by=admin, name=marker) as making:
        before = listed(granted(portal.call(INVITATIONS, token=admin.token)))
        answer = authorized(portal.call(INVITE, json=body, token=admin.token))
        if not answer.success:
            making.settled()
            raise Untestable(f"{INVITE} was refused ({refusal_text(answer)})", "environment")
        sent = settled(
            portal,
            lambda: granted(portal.call(INVITATIONS, token=admin.token)),
            lambda listing: any(record not in before for record in listed(listing)),
        )
        new = [record for record in listed(sent) if record not in before]
        record = next(
            (record for record in new if shows(record, marker) or shows(record, email)), next(iter(new), None)
        )
        if record is not None and isinstance(record.get("bizId"), str):
            making.came_to(record["bizId"])
        yield Invited(record, sent, answer, making)


def invited_again(portal: Portal, admin: Account, email: str, further: ExitStack) -> str | None:
    """The id of another invitation of an address, until ``further`` is closed; None where who is invited may
    not be invited again."""
    with suppress(Untestable):
        return further.enter_context(invited(portal, admin, email, portal.unique())).creation.id
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


def shows(record: Invitation, marker: str) -> bool:
    return any(isinstance(value, str) and marker in value for value in record.values())
