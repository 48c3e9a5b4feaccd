"""Currency grants, institutions, and invitations (chapter "Currency grants, institutions, invitations")."""

from typing import Any

from reference_impl import invitations
from reference_impl.errors import Refusal
from reference_impl.handlers.notifications import notify
from reference_impl.portal import Caller, Portal, Record
from reference_impl.shapes import Body

DAY = 86400

# Currency grants.


def currency_grants(portal: Portal, caller: Caller, body: Body) -> Any:
    live = [grant for grant in portal.newest("currency grant") if grant["grantStatus"] == "ENABLED"]
    return portal.views("currency grant", in_workspace(caller, live))


def grant(portal: Portal, caller: Caller, body: Body) -> Any:
    workspace = portal.find("workspace", body.get("workspaceBizId") or _workspace(caller))
    added = portal.add(
        "currency grant",
        {
            "institutionBizId": workspace["institutionBizId"],
            "workspaceBizId": workspace["bizId"],
            "currencyCode": body["currencyCode"],
            "grantStatus": "ENABLED",
        },
    )
    return portal.view("currency grant", added)


def revoke(portal: Portal, caller: Caller, body: Body) -> Any:
    grant = portal.find("currency grant", body["bizId"])
    moved = portal.next_state("currency grant", grant["grantStatus"], "revoke")
    if moved is None:
        raise Refusal("RESOURCE.NOT_FOUND")
    return portal.view("currency grant", portal.change("currency grant", grant["bizId"], grantStatus=moved))


# Institutions.


def institution(portal: Portal, caller: Caller, body: Body) -> Any:
    return portal.view("institution", portal.find("institution", body["institutionBizId"]))


# Invitations.


def sent_invitations(portal: Portal, caller: Caller, body: Body) -> Any:
    shown = in_workspace(caller, portal.newest("invitation"))
    return [portal.view("invitation", invitations.current(portal, record)) for record in shown]


def invite(portal: Portal, caller: Caller, body: Body) -> Any:
    now = portal.now()
    days = body.get("expirationDays") or portal.limits.invitation_days
    record = portal.add(
        "invitation",
        {
            "workspaceBizId": _workspace(caller),
            "inviterBizId": caller.account_id,
            "inviteeEmail": body["inviteeEmail"],
            "invitationStatus": "PENDING",
            "message": body.get("message"),
            "reason": None,
            "expiresAt": now + days * DAY,
            "acceptedAt": None,
        },
    )
    notify(portal, caller.account["institutionBizId"], to=body["inviteeEmail"], subject="You are invited")
    return portal.view("invitation", invitations.current(portal, record))


def cancel(portal: Portal, caller: Caller, body: Body) -> Any:
    record = invitations.move(portal, portal.find("invitation", body["invitationBizId"]), "cancel")
    portal.change("invitation", record["bizId"], reason=body.get("reason"))
    return portal.view("invitation", invitations.current(portal, record))


def in_workspace(caller: Caller, records: list[Record]) -> list[Record]:
    """All of them, or those of the workspace that the caller names in ``X-Workspace-Id``."""
    wanted = caller.workspace_id
    return [record for record in records if wanted in (None, record["workspaceBizId"])]


def _workspace(caller: Caller) -> str:
    """Where the caller acts: the workspace named, or the caller's first."""
    mine = caller.account["workspaceBizIds"]
    if caller.workspace_id in mine:
        return str(caller.workspace_id)
    if not mine:
        raise Refusal("GA2031")
    return str(mine[0])
