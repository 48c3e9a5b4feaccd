"""What an invitation is at this moment, and how it moves (chapter "States and transitions")."""

from reference_impl.errors import Refusal
from reference_impl.portal import Caller, Portal, Record


def current(portal: Portal, record: Record) -> Record:
    """The invitation as it stands now: one whose time is over has expired, without anyone having moved it."""
    invitee = portal.account_of(record["inviteeEmail"]) or {}
    inviter = portal.records["account"].get(record["inviterBizId"], {})
    status = _status(portal, record)
    return record | {
        "workspaceName": portal.find("workspace", record["workspaceBizId"])["workspaceName"],
        "inviterName": inviter.get("accountName"),
        "inviteeAccountBizId": invitee.get("bizId"),
        "inviteeAccountName": invitee.get("accountName"),
        "invitationStatus": status,
        "canAccept": portal.next_state("invitation", status, "accept") is not None,
    }


def is_for(caller: Caller, record: Record) -> bool:
    """Whether the caller is invited: addresses are alike in any case of their letters."""
    return bool(record["inviteeEmail"].casefold() == caller.account["accountEmail"].casefold())


def move(portal: Portal, record: Record, trigger: str) -> Record:
    """Raises Refusal where the invitation's state does not allow it."""
    moved = portal.next_state("invitation", _status(portal, record), trigger)
    if moved is None:
        raise Refusal("INVITATION_CLOSED")
    accepted = {"acceptedAt": portal.now()} if moved == "ACCEPTED" else {}
    return portal.change("invitation", record["bizId"], invitationStatus=moved, **accepted)


def _status(portal: Portal, record: Record) -> str:
    status = str(record["invitationStatus"])
    if record["expiresAt"] > portal.now():
        return status
    return portal.next_state("invitation", status, "expire") or status
