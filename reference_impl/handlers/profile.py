"""The caller's own profile, invitations and workspaces (chapter "Profile and workspaces")."""

from typing import Any

from reference_impl import invitations
from reference_impl.errors import INVALID, Refusal
from reference_impl.paging import with_pagination
from reference_impl.portal import Caller, Portal, Record
from reference_impl.shapes import Body


def profile(portal: Portal, caller: Caller, body: Body) -> Any:
    return portal.view("account", caller.account)


def update(portal: Portal, caller: Caller, body: Body) -> Any:
    return portal.view("account", portal.change("account", caller.account_id, **body))


def own_invitations(portal: Portal, caller: Caller, body: Body) -> Any:
    wanted = _statuses(portal, body.get("statuses"))
    mine = [record for record in portal.newest("invitation") if invitations.is_for(caller, record)]
    shown = (invitations.current(portal, record) for record in mine)
    return [
        portal.view("invitation", record)
        for record in shown
        if wanted is None or record["invitationStatus"] in wanted
    ]


def accept(portal: Portal, caller: Caller, body: Body) -> Any:
    record = invitations.move(portal, _own(portal, caller, body["invitationBizId"]), "accept")
    workspaces = caller.account["workspaceBizIds"]
    if record["workspaceBizId"] not in workspaces:
        portal.change("account", caller.account_id, workspaceBizIds=[*workspaces, record["workspaceBizId"]])
    return portal.view("invitation", invitations.current(portal, record))


def decline(portal: Portal, caller: Caller, body: Body) -> Any:
    record = invitations.move(portal, _own(portal, caller, body["invitationBizId"]), "decline")
    portal.change("invitation", record["bizId"], reason=body.get("reason"))
    return portal.view("invitation", invitations.current(portal, record))


def current_workspace(portal: Portal, caller: Caller, body: Body) -> Any:
    mine = caller.account["workspaceBizIds"]
    wanted = caller.workspace_id or next(iter(mine), None)
    if wanted is None or wanted not in mine:
        raise Refusal("GA2031")
    return portal.view("workspace", portal.find("workspace", wanted))


def workspaces(portal: Portal, caller: Caller, body: Body) -> Any:
    mine = [portal.find("workspace", id) for id in caller.account["workspaceBizIds"]]
    form = portal.choices.workspaces_mine
    if form == "page":
        return with_pagination(portal, "workspace", mine, {})
    shown = portal.views("workspace", mine)
    return shown if form == "array" else {form: shown}


def _own(portal: Portal, caller: Caller, id: str) -> Record:
    record = portal.find("invitation", id)
    if not invitations.is_for(caller, record):
        raise Refusal("RESOURCE.NOT_FOUND")
    return record


def _statuses(portal: Portal, sent: list[list[int]] | None) -> set[str] | None:
    """The symbols asked for; None asks for all."""
    if sent is None:
        if portal.choices.statuses_required:
            raise Refusal(INVALID)
        return None
    if portal.choices.statuses_form == "repeated" and any(len(values) > 1 for values in sent):
        raise Refusal(INVALID)
    if portal.choices.statuses_form == "comma" and len(sent) > 1:
        raise Refusal(INVALID)
    return {portal.symbol("user-invitation-statuses", value) for values in sent for value in values} or None
